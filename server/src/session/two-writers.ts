// A session file that somebody else writes to as well. Guarantees: whoever is about to write to it is told, once for each file; a
// prompt is never held back for long, and never refused. Must not know: how other writers are found.
import { type Fact, streamFacts } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Agent, Clock, SessionWriters } from './ports.ts';

export interface TwoWriters {
  /** Something came from our own agent, which may have written. */
  saw(fact: Fact): void;
  /** Looks before our agent writes. Never rejects. */
  look(agent: Agent): Promise<void>;
}

/** Milliseconds that a prompt waits for the look, and for which a look that found nothing holds. */
const patience = 500;
const enough = 30_000;

export function createTwoWriters(parts: {
  writers: SessionWriters | undefined;
  clock: Clock;
  snapshot: () => Snapshot;
  tell: (sentence: string) => void;
}): TwoWriters {
  const { writers, clock, snapshot } = parts;
  const told = new Set<string>();
  /** How far the file went when our own agent was the last that was heard. */
  let known: { path: string; size: number | undefined } | undefined;
  let measuring: Promise<void> | undefined;
  let again = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const measured = async () => {
    do {
      again = false;
      const path = snapshot().state.sessionFile;
      known = path === undefined ? undefined : { path, size: await writers!.size(path) };
    } while (again);
  };
  const found = async (path: string, agent: Agent) => {
    await measuring;
    const size = known?.path === path ? known.size : undefined;
    if (clock.now() - lookedAt < enough && (await writers!.size(path)) === size) return;
    lookedAt = clock.now();
    const who = await writers!.other(path, {
      ...(size !== undefined && { known: size }),
      ...(agent.pid !== undefined && { own: agent.pid }),
    });
    if (who === undefined || told.has(path)) return;
    told.add(path);
    parts.tell(
      `Somebody else writes to the session file ${path} (${who}), and two agents that write to one file lose parts of the conversation: end the other one and read the file again with atomic.restartAgent, or go on in a copy with atomic.clone.`,
    );
  };
  return {
    saw(fact) {
      if (!writers || streamFacts.has(fact.type)) return;
      again = true;
      measuring ??= measured().finally(() => {
        measuring = undefined;
      });
    },
    async look(agent) {
      const { run, state } = snapshot();
      const path = state.sessionFile;
      if (!writers || run || path === undefined || told.has(path)) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(patience, resolve);
        found(path, agent)
          .catch(() => {})
          .finally(() => {
            cancel();
            resolve();
          });
      });
    },
  };
}
