// Our copy of a session: the snapshot and the newest facts. Guarantees: the numbers follow each other without a gap, or the
// caller is told; memory is bounded; a reader is a number. Must not know: the hub's connection, who reads.
import type { Fact } from '../protocol/facts.ts';
import type { Cursor, FactsBatch, Resync } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { foldedWhole } from '../session/fold.ts';
import { deltaOf, mergedFacts } from '../session/view.ts';

/** What was new: facts, or (`fresh`) everything. */
export interface Change {
  facts: readonly Fact[];
  snapshot: Snapshot;
  fresh: boolean;
}

export interface Mirror {
  readonly session: string;
  readonly epoch: string;
  /** The newest fact's number. */
  readonly seq: number;
  readonly snapshot: Snapshot;
  /** Takes a batch; false when it does not follow what is here. */
  take(batch: FactsBatch): boolean;
  /** Begins anew. */
  reset(from: Resync): void;
  /**
   * The facts after a cursor, merged, as many as one notification should have; undefined: nothing new; 'resync': they
   * are not here any more.
   */
  after(cursor: Cursor): FactsBatch | 'resync' | undefined;
  onChange(listener: (change: Change) => void): void;
}

/** UTF-16 units of facts that are kept for slow readers. */
const keptUnits = 4_000_000;
/** UTF-16 units after which a notification takes no further batch. */
const budget = 262_144;

export function createMirror(start: Resync, kept = keptUnits): Mirror {
  const listeners: ((change: Change) => void)[] = [];
  const { session } = start;
  let { epoch, seq, snapshot } = start;
  let batches: { from: number; to: number; facts: Fact[]; units: number }[] = [];
  let units = 0;

  const tell = (change: Change) => {
    for (const listener of [...listeners]) listener(change);
  };
  return {
    get session() {
      return session;
    },
    get epoch() {
      return epoch;
    },
    get seq() {
      return seq;
    },
    get snapshot() {
      return snapshot;
    },
    take(batch) {
      if (batch.epoch !== epoch || batch.from !== seq + 1) return false;
      const whole = foldedWhole(snapshot, batch.facts);
      snapshot = whole.snapshot;
      seq = batch.to;
      const size = batch.facts.reduce((sum, fact) => sum + unitsOf(fact), 0);
      batches.push({ from: batch.from, to: batch.to, facts: batch.facts, units: size });
      units += size;
      while (units > kept && batches.length > 1) units -= batches.shift()!.units;
      tell({ facts: whole.facts, snapshot, fresh: false });
      return true;
    },
    reset(from) {
      ({ epoch, seq, snapshot } = from);
      batches = [];
      units = 0;
      tell({ facts: [], snapshot, fresh: true });
    },
    after(cursor) {
      if (cursor.epoch !== epoch || cursor.seq > seq) return 'resync';
      if (cursor.seq === seq) return undefined;
      // A cursor inside a merged batch cannot be continued.
      const first = batches.findIndex(({ from }) => from === cursor.seq + 1);
      if (first < 0) return 'resync';
      let last = first;
      for (let size = batches[first]!.units; last + 1 < batches.length && size < budget; last += 1)
        size += batches[last + 1]!.units;
      const facts = mergedFacts(batches.slice(first, last + 1).flatMap((batch) => batch.facts));
      return { session, epoch, from: cursor.seq + 1, to: batches[last]!.to, facts };
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

/** About the UTF-16 units of a fact's JSON text. A delta is not written again to be counted: there are thousands of them. */
function unitsOf(fact: Fact): number {
  const delta = deltaOf(fact);
  return delta === undefined ? JSON.stringify(fact).length : delta.length + 100;
}
