// What became of the intents of this editor. Guarantees: whoever waits hears it once, even when the hub was lost in between.
// Must not know: who waits, and what for.
import type { Fact } from '../protocol/facts.ts';
import type { IntentOutcome, Snapshot } from '../protocol/snapshot.ts';

/** `lost`: the hub that had accepted it is gone, and the next one does not know it. */
export type Outcome = Exclude<IntentOutcome['outcome'], 'pending'> | 'lost';

export interface Outcomes {
  /** Facts came; with `fresh` the snapshot has what they would have said. */
  take(change: { facts: readonly Fact[]; snapshot: Snapshot; fresh: boolean }): void;
  /**
   * Sends the intent and resolves when it is settled; rejects when it could not be sent. `epoch` is the one that its session
   * has now.
   */
  of(intent: string, epoch: () => string | undefined, send: () => Promise<void>): Promise<Outcome>;
}

interface Waiting {
  settle(outcome: Outcome): void;
  /** Whether the hub has accepted it, and is another one since. */
  gone(): boolean;
}

export function createOutcomes(): Outcomes {
  const waiting = new Map<string, Waiting>();
  const settle = (intent: string, outcome: Outcome) => {
    waiting.get(intent)?.settle(outcome);
    waiting.delete(intent);
  };
  return {
    take({ facts, snapshot, fresh }) {
      for (const fact of facts) if (fact.type === 'intent_settled') settle(fact.intent, fact.outcome);
      if (!fresh) return;
      for (const { intent, outcome } of snapshot.intents) if (outcome !== 'pending') settle(intent, outcome);
      for (const [intent, { gone }] of [...waiting]) if (gone()) settle(intent, 'lost');
    },
    async of(intent, epoch, send) {
      let accepted: string | undefined;
      const outcome = new Promise<Outcome>((resolve) => {
        waiting.set(intent, {
          settle: resolve,
          gone: () => accepted !== undefined && epoch() !== undefined && epoch() !== accepted,
        });
      });
      try {
        await send();
      } catch (error) {
        waiting.delete(intent);
        throw error;
      }
      accepted = epoch();
      return outcome;
    },
  };
}
