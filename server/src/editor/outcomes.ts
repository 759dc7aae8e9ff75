// What became of the intents of this editor. Guarantees: whoever waits hears it once, even when the hub was lost in between.
// Must not know: who waits, and what for.
import type { Fact } from '../protocol/facts.ts';
import type { IntentOutcome, Snapshot } from '../protocol/snapshot.ts';

export type Outcome = Exclude<IntentOutcome['outcome'], 'pending'>;

export interface Outcomes {
  /** Facts came; with `fresh` the snapshot has what they would have said. */
  take(change: { facts: readonly Fact[]; snapshot: Snapshot; fresh: boolean }): void;
  /** Resolves when the intent is settled. To be called before it is sent. */
  of(intent: string): Promise<Outcome>;
}

export function createOutcomes(): Outcomes {
  const waiting = new Map<string, (outcome: Outcome) => void>();
  const settle = (intent: string, outcome: Outcome) => {
    waiting.get(intent)?.(outcome);
    waiting.delete(intent);
  };
  return {
    take({ facts, snapshot, fresh }) {
      for (const fact of facts) if (fact.type === 'intent_settled') settle(fact.intent, fact.outcome);
      if (!fresh) return;
      for (const { intent, outcome } of snapshot.intents) if (outcome !== 'pending') settle(intent, outcome);
    },
    of: (intent) => new Promise((resolve) => waiting.set(intent, resolve)),
  };
}
