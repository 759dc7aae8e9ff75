// The agent's own commands for somebody who writes a prompt. Guarantees: read once for each agent and again when they may be others;
// whoever asks waits as long as wished and no longer; asking starts an agent, for the person is about to need it. Must not
// know: what they are for.
import type { Fact } from '../protocol/facts.ts';
import type { AgentCommand } from '../protocol/records.ts';
import type { Clock, Log } from '../session/ports.ts';

export interface PromptCommands {
  /** Undefined when they are not known after `limit` milliseconds. Never rejects. */
  list(limit: number): Promise<readonly AgentCommand[] | undefined>;
  /** Facts came; true when the commands may be others now. */
  take(facts: readonly Fact[]): boolean;
}

export function createPromptCommands(parts: {
  /** `get_commands` at the agent. */
  read(): Promise<unknown>;
  clock: Clock;
  log: Log;
}): PromptCommands {
  const { read, clock, log } = parts;
  let known: readonly AgentCommand[] | undefined;
  let reading: Promise<void> | undefined;

  const refreshed = async () => {
    const data = (await read()) as { commands?: unknown } | null | undefined;
    if (Array.isArray(data?.commands)) known = data.commands;
  };
  return {
    async list(limit) {
      if (known) return known;
      reading ??= refreshed()
        .catch((error: unknown) => log.info({ error: String(error) }, 'the agent’s commands are not known'))
        .finally(() => {
          reading = undefined;
        });
      await settledWithin(clock, limit, reading);
      return known;
    },
    take(facts) {
      const others = facts.some(changes);
      if (others) known = undefined;
      return others;
    },
  };
}

const changes = (fact: Fact): boolean =>
  fact.type === 'agent_started' ||
  fact.type === 'session_replaced' ||
  (fact.type === 'intent_settled' && fact.command === 'reload');

/** Resolves when the promise is settled, or the time is over. */
function settledWithin(clock: Clock, milliseconds: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(milliseconds, resolve);
    void promise.finally(() => {
      cancel();
      resolve();
    });
  });
}
