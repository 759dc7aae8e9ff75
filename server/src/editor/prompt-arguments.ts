// What can follow a command that is typed in a prompt. Guarantees: the same lists that the command itself asks with, or what the
// agent says of its own commands; nothing where nobody knows; never rejects. Must not know: how a prompt is written.

import type { Offers } from '../prompt/complete.ts';
import { ranked } from '../prompt/rank.ts';
import { commandRow, itemsOf } from '../protocol/commands.ts';
import type { AgentCommand } from '../protocol/records.ts';
import type { Log } from '../session/ports.ts';
import { typedCommands } from '../session/typed.ts';

export interface ArgumentParts {
  commands: readonly AgentCommand[] | undefined;
  /** Reads at the agent. */
  read(command: string, params: object): Promise<unknown>;
  /** Whether the agent lacks a command. */
  lacks(command: string): boolean;
  log: Log;
}

const none: Offers = { offers: [], more: false };
const most = 100;

/** Completions of the argument `typed` of the command `name`. */
export async function argumentOffers(name: string, typed: string, parts: ArgumentParts): Promise<Offers> {
  try {
    const own = parts.commands?.find((command) => command.name === name);
    if (own) return await ofAgent(own, typed, parts);
    const known = typedCommands().find((command) => command.name === name);
    return known ? await ofTable(known.command, typed, parts) : none;
  } catch (error) {
    parts.log.info({ error: String(error), command: name }, 'arguments are not known');
    return none;
  }
}

async function ofAgent(own: AgentCommand, typed: string, { read, lacks }: ArgumentParts): Promise<Offers> {
  if (own.source !== 'extension' || own.hasArgumentCompletions === false) return none;
  if (lacks('get_command_completions')) return none;
  const data = (await read('get_command_completions', { commandName: own.name, argumentPrefix: typed })) as {
    completions?: { value?: unknown; label?: unknown; description?: unknown }[] | null;
  };
  const found = Array.isArray(data?.completions) ? data.completions : [];
  return {
    offers: found.slice(0, most).flatMap(({ value, label, description }) =>
      typeof value === 'string'
        ? [
            {
              kind: 'value' as const,
              label: typeof label === 'string' ? label : value,
              text: value,
              ...(typeof description === 'string' && { detail: description }),
            },
          ]
        : [],
    ),
    more: true,
  };
}

async function ofTable(command: string, typed: string, { read, lacks }: ArgumentParts): Promise<Offers> {
  const row = commandRow(command);
  const { ask, bare } = row ?? {};
  if (ask?.with !== 'pick' || lacks(ask.from)) return none;
  const items = itemsOf(ask, await read(ask.from, {}));
  const words = items.flatMap((item) => {
    const label = ask.label(item);
    // The text that stands for the item when it is typed.
    const wanted = JSON.stringify(ask.take(item));
    const text = [label, ...Object.values(ask.take(item))].find(
      (word) => typeof word === 'string' && JSON.stringify(bare?.(word)) === wanted,
    );
    return typeof text === 'string' ? [{ label, text }] : [];
  });
  const { paths, more } = ranked(
    typed,
    words.map(({ text }) => text),
    most,
  );
  return {
    offers: paths.map((text) => ({
      kind: 'value',
      label: words.find((it) => it.text === text)!.label,
      text,
    })),
    more,
  };
}
