// Intents: what editors want. Guarantees: the same id twice is the same intent; each is settled exactly once, with an
// outcome that says whether the agent did it, refused it, never got it, or whether nobody knows; no secret is in a fact.
// Must not know: how a command is carried out.
import { type CommandRow, commandRow, type Params } from '../protocol/commands.ts';
import { promptCommands, shellCommands } from '../protocol/commands-prompting.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Fact, FactOf, Origin } from '../protocol/facts.ts';
import type { ResponseRecord } from '../protocol/records.ts';
import type { Request } from './conduct.ts';
import type { Log } from './ports.ts';

/** How many ids are remembered. */
const remembered = 10_000;

export interface Intents {
  known(id: string): boolean;
  /** Accepts and begins. Throws `EmptyPrompt`, and for answers `NoSuchDialog` and `BadArguments`. */
  accept(id: string, row: CommandRow, params: Params, origin: Origin | undefined): void;
  readonly pending: number;
}

export function createIntents(parts: {
  append: (fact: Fact) => void;
  log: Log;
  conduct: (request: Request) => Promise<ResponseRecord>;
}): Intents {
  const seen = new Set<string>();
  let pending = 0;

  const remember = (id: string) => {
    seen.add(id);
    if (seen.size > remembered)
      for (const oldest of seen) {
        seen.delete(oldest);
        break;
      }
  };

  const outcomeOf = async (request: Request): Promise<Omit<Settled, 'type' | 'intent' | 'command'>> => {
    try {
      const response = await parts.conduct(request);
      if (!response.success)
        return { outcome: 'refused', error: response.error ?? `The agent refused ${request.row.name}.` };
      const command = request.row.name === 'rpc' ? request.params.command?.type : request.row.name;
      const tellable = response.data !== undefined && command !== 'save_provider_credential';
      return { outcome: 'done', ...(tellable && { data: response.data }) };
    } catch (error) {
      const known = error instanceof AtomicError;
      if (!known)
        parts.log.error(
          { command: request.row.name, error: String((error as Error)?.stack) },
          'command failed',
        );
      const outcome = !known
        ? 'failed'
        : refusals.has(error.code)
          ? 'refused'
          : error.code === 'AgentGone'
            ? 'unknown'
            : 'failed';
      return { outcome, error: error instanceof Error ? error.message : String(error) };
    }
  };

  return {
    known: (id) => seen.has(id),
    accept(id, called, given, origin) {
      const row = called.alias ? commandRow(called.alias.of)! : called;
      const params = { ...given, ...called.alias?.params };
      if (promptCommands.has(row.name) && String(params.message).trim() === '' && !params.images?.length)
        throw new AtomicError(
          'EmptyPrompt',
          `${row.id} needs text: give it as {"message": "…"} or as one string.`,
          { command: row.id },
        );
      remember(id);
      const text = promptCommands.has(row.name)
        ? (params.written ?? params.message)
        : shellCommands.has(row.name)
          ? params.command
          : undefined;
      parts.append({
        type: 'intent_accepted',
        intent: id,
        command: row.name,
        ...(origin && { origin }),
        ...(text !== undefined && { text }),
      });
      pending += 1;
      void outcomeOf({ id, row, params, ...(origin && { origin }) }).then((settled) => {
        pending -= 1;
        parts.append({ type: 'intent_settled', intent: id, command: row.name, ...settled });
      });
    },
    get pending() {
      return pending;
    },
  };
}

type Settled = FactOf<'intent_settled'>;
const refusals = new Set([
  'AgentRefused',
  'CommandUnavailable',
  'NoSuchDialog',
  'BadArguments',
  'RevertRefused',
]);
