// What an editor has of a session: a snapshot, and what it was told since. Guarantees: made of what it was told and nothing else; a gap in
// that and a question that is settled twice are problems. Must not know: who tells it.
import type { EditorAttachResult } from '../../server/src/protocol/editor.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { FactsBatch, Resync } from '../../server/src/protocol/hub.ts';
import type { Snapshot } from '../../server/src/protocol/snapshot.ts';
import { folded } from '../../server/src/session/fold.ts';

export interface Copy {
  epoch: string;
  seq: number;
  snapshot: Snapshot;
}

export interface CopyParts {
  /** For sentences: `editor 1`. */
  whose: string;
  problem(sentence: string): void;
  heard(fact: Fact): void;
}

export function createCopy({ whose, problem, heard }: CopyParts) {
  let now: Copy | undefined;
  const settled = new Set<string>();
  return {
    get now() {
      return now;
    },
    told({ epoch, from, to, facts }: FactsBatch) {
      if (!now || epoch !== now.epoch || from !== now.seq + 1)
        problem(`${whose} stood at ${now?.epoch}/${now?.seq} and was told ${epoch}/${from}…${to}`);
      let snapshot = now!.snapshot;
      for (const fact of facts) {
        snapshot = folded(snapshot, fact);
        if (fact.type === 'dialog_settled') {
          if (settled.has(fact.id)) problem(`${whose} was told twice that ${fact.id} is settled`);
          settled.add(fact.id);
        }
        heard(fact);
      }
      now = { epoch, seq: to, snapshot };
    },
    anew({ epoch, seq, snapshot }: Resync) {
      now = { epoch, seq, snapshot };
    },
    /** It has joined, and stood at `before` when it asked. */
    joined({ epoch, seq, snapshot }: EditorAttachResult, before: Copy | undefined) {
      if (snapshot) now = { epoch, seq, snapshot };
      else if (before?.epoch !== epoch || before.seq !== seq)
        problem(
          `${whose} came back with ${before?.epoch}/${before?.seq} and was continued at ${epoch}/${seq}`,
        );
    },
  };
}
