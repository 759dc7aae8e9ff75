// Facts as JSON lines. Guarantees: one line for each fact; its number is exact wherever it can be known, and where merged
// deltas hide it, the line says the range; the ranges follow each other without a gap. Must not know: where lines go.
import { type Fact, streamFacts } from '../protocol/facts.ts';
import type { FactsBatch } from '../protocol/hub.ts';

/** `seq` is the last number that the line stands for; `from`, where it is another, the first. */
export interface FactLine {
  epoch: string;
  from?: number;
  seq: number;
  fact: Fact;
}

/** The lines of a batch. Only neighbouring deltas are ever merged, so that facts before and after them can be counted. */
export function factLines({ epoch, from, to, facts }: FactsBatch): FactLine[] {
  const whole = to - from + 1 === facts.length;
  const first = whole ? facts.length : facts.findIndex((fact) => streamFacts.has(fact.type));
  const last = whole ? -1 : facts.findLastIndex((fact) => streamFacts.has(fact.type));
  return facts.map((fact, at) => {
    if (at < first) return { epoch, seq: from + at, fact };
    const after = facts.length - 1 - at;
    if (at > last) return { epoch, seq: to - after, fact };
    const range = { from: from + first, seq: to - (facts.length - 1 - last) };
    return range.from === range.seq ? { epoch, seq: range.seq, fact } : { epoch, ...range, fact };
  });
}
