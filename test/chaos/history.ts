// A history: what people do and what goes wrong, in an order that is drawn from a seed. Guarantees: pure; the same seed is the same
// history. Must not know: how anything is done.
import { type Random, randomOf } from './random.ts';

/** Editors have the numbers 0, 1, 2. */
export type Step =
  | { do: 'come'; editor: number }
  /** An orderly end, a killed editor, or one whose server is told nothing and finds its input closed. */
  | { do: 'leave'; editor: number; how: 'shutdown' | 'drop' }
  | { do: 'prompt'; editor: number; say: number; ask: boolean }
  /** Both answer what each takes for the oldest question. */
  | { do: 'answer'; editors: number[] }
  | { do: 'abort'; editor: number }
  /** The editor does not read, until it reads again. */
  | { do: 'stall'; editor: number }
  | { do: 'read'; editor: number }
  | { do: 'kill' | 'stop' | 'continue'; whom: 'agent' | 'hub' }
  | { do: 'kill' | 'stop' | 'continue'; whom: 'server'; editor: number }
  | { do: 'unlink' }
  /** The disk of the logs. */
  | { do: 'fill' | 'free' };

/**
 * What comes before a step: so many facts in some editor, but no more than so many milliseconds; `ready`: first whoever acts has
 * joined, and what is to be answered was asked, if that is to be had.
 */
export type Planned = Step & { facts: number; most: number; ready: boolean };

const editors = 3;

export function historyOf(seed: number): Planned[] {
  const random = randomOf(seed);
  const here = new Set([0]);
  const steps: Step[] = [{ do: 'come', editor: 0 }];
  const length = 10 + random.below(14);
  while (steps.length < length) {
    const step = drawn(random, here);
    if (step.do === 'come') here.add(step.editor);
    if (step.do === 'leave') here.delete(step.editor);
    steps.push(step);
    // Most goes wrong in the middle of something.
    if (step.do === 'prompt' && random.chance(0.3)) steps.push({ do: 'kill', ...victim(random, here) });
  }
  return steps.map((step) => ({
    ...step,
    facts: 1 + random.below(30),
    most: random.pick([0, 5, 50, 400]),
    ready: random.chance(0.8),
  }));
}

type Victim = { whom: 'agent' | 'hub' } | { whom: 'server'; editor: number };
function victim(random: Random, here: ReadonlySet<number>): Victim {
  const whom = random.pick(['agent', 'hub', 'server'] as const);
  return whom === 'server' ? { whom, editor: random.pick([...here]) } : { whom };
}

function drawn(random: Random, here: ReadonlySet<number>): Step {
  const someone = () => random.pick([...here]);
  const draw = random.below(30);
  if (draw < 9) return { do: 'prompt', editor: someone(), say: random.below(120), ask: random.chance(0.4) };
  if (draw < 13) return { do: 'answer', editors: [someone(), ...(random.chance(0.5) ? [someone()] : [])] };
  if (draw < 14) return { do: 'abort', editor: someone() };
  if (draw < 17 && here.size < editors) {
    const absent = [0, 1, 2].filter((editor) => !here.has(editor));
    return { do: 'come', editor: random.pick(absent) };
  }
  if (draw < 18 && here.size > 1)
    return { do: 'leave', editor: someone(), how: random.pick(['shutdown', 'drop']) };
  if (draw < 20) return { do: random.chance(0.6) ? 'stall' : 'read', editor: someone() };
  if (draw < 24) return { do: 'kill', ...victim(random, here) };
  if (draw < 27) return { do: random.chance(0.6) ? 'stop' : 'continue', ...victim(random, here) };
  if (draw < 28) return { do: 'unlink' };
  return { do: random.chance(0.6) ? 'fill' : 'free' };
}
