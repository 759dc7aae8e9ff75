// The journal: the numbered facts of one session. Guarantees: numbers rise by one without a gap within an epoch; each fact
// is encoded once, for all readers; memory is bounded (the oldest facts fall off, a reader that still wanted them is told
// so by `first`). Must not know: what facts mean, who reads.
import type { Fact } from '../protocol/facts.ts';

export interface JournalLimits {
  facts: number;
  /** UTF-16 units of encoded facts. */
  units: number;
}

const journalLimits: JournalLimits = { facts: 50_000, units: 4_000_000 };

export interface Journal {
  /** Numbers of another epoch cannot be compared with ours. */
  readonly epoch: string;
  /** The newest fact's number; 0 before the first. */
  readonly last: number;
  /** The oldest fact's number that can still be read; `last + 1` when none can. */
  readonly first: number;
  /** UTF-16 units held. */
  readonly units: number;
  /** Appends a fact and tells the listeners, in order; readers get `told` in its place. Returns its number. */
  append(fact: Fact, told?: Fact): number;
  /** JSON texts of the facts `from`…`to`, both included and both readable. */
  texts(from: number, to: number): string[];
  facts(from: number, to: number): Fact[];
  /** Calls back after each append; returns a function that ends this. */
  onAppend(listener: (fact: Fact, seq: number) => void): () => void;
}

/** An empty journal. `start` is the number before the first fact (a mirror begins where its snapshot stands). */
export function createJournal(epoch: string, limits: JournalLimits = journalLimits, start = 0): Journal {
  const listeners = new Set<(fact: Fact, seq: number) => void>();
  // A queue in an array: `head` moves forward, and the dead part is cut off when it outgrows the living one.
  let held: string[] = [];
  let head = 0;
  let last = start;
  let units = 0;

  const trimmed = () => {
    while (held.length - head > 1 && (held.length - head > limits.facts || units > limits.units)) {
      units -= held[head]!.length;
      held[head] = '';
      head += 1;
    }
    if (head > 1024 && head > held.length / 2) {
      held = held.slice(head);
      head = 0;
    }
  };
  const texts = (from: number, to: number): string[] => {
    const offset = head - (last - (held.length - head)) - 1;
    return held.slice(from + offset, to + offset + 1);
  };

  return {
    epoch,
    get last() {
      return last;
    },
    get first() {
      return last - (held.length - head) + 1;
    },
    get units() {
      return units;
    },
    append(fact, told = fact) {
      const text = JSON.stringify(told);
      held.push(text);
      units += text.length;
      last += 1;
      trimmed();
      const seq = last;
      for (const listener of [...listeners]) listener(fact, seq);
      return seq;
    },
    texts,
    facts: (from, to) => texts(from, to).map((text) => JSON.parse(text) as Fact),
    onAppend(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
