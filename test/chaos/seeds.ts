// Which seeds are played. Guarantees: those that failed once are always among them. Must not know: what a seed stands for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Kind = 'herds' | 'histories' | 'pi';

/** What `run.mjs` asks for, in the variable ATOMIC_CHAOS. */
interface Asked {
  count: number;
  from: number;
}

/** The saved seeds of a kind and `bounded` others, or what was asked for by hand. */
export function seedsOf(kind: Kind, bounded: number): number[] {
  const asked =
    process.env.ATOMIC_CHAOS && (JSON.parse(process.env.ATOMIC_CHAOS) as Partial<Record<Kind, Asked>>);
  const { count, from } = asked ? (asked[kind] ?? { count: 0, from: 1 }) : { count: bounded, from: 1 };
  const saved = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as Record<
    Kind,
    number[]
  >;
  const others = Array.from({ length: count }, (_, index) => from + index);
  return asked ? others : [...new Set([...saved[kind], ...others])];
}
