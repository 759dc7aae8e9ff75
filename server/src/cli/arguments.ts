// The command line as data. Guarantees: every verb has one table of options, a wrong verb, option or value is one sentence
// with its cure; nothing is done. Must not know: the process that the words come from, how a verb does its work.
import { parseArgs } from 'node:util';
import type { StartOptions } from '../protocol/hub.ts';

/** A command line that cannot be followed; exit code 2. */
export class UsageError extends Error {}

/** Where a language server finds its editor: its own streams, a named pipe or socket file, a port on this machine. */
export type EditorStream =
  | { kind: 'stdio' }
  | { kind: 'pipe'; path: string }
  | { kind: 'socket'; port: number };

/** The session that a verb is about. */
export interface SessionChoice {
  session?: string;
  /** As it was given; relative to the current folder. */
  workspace?: string;
}

export type Command =
  | { verb: 'server'; stream: EditorStream; noHub: boolean }
  | { verb: 'hub'; readyDescriptor?: number }
  | { verb: 'status'; json: boolean }
  | { verb: 'stop'; whenIdle: boolean; force: boolean }
  | { verb: 'logs'; follow: boolean; json: boolean; lines: number }
  | { verb: 'doctor'; json: boolean }
  /** `text` "-" stands for standard input. */
  | ({ verb: 'prompt'; text: string; json: boolean; noHub: boolean; start: StartOptions } & SessionChoice)
  | ({ verb: 'attach'; json: boolean; messages: number } & SessionChoice)
  | { verb: 'demo-agent'; argv: string[] }
  | { verb: 'help' }
  | { verb: 'version' };

export const usage = `atomic-lsp: the Atomic coding agent in any editor that speaks LSP

  atomic-lsp [--stdio | --pipe=PATH | --socket=PORT] [--no-hub]
                            the language server, started by an editor
  atomic-lsp prompt TEXT    sends one prompt and streams the answer; "-" reads the text from standard input
      --session NAME --workspace FOLDER --no-hub --json
      --provider NAME --model NAME --name NAME --no-session   (for an agent that is not running yet)
  atomic-lsp attach         follows a session   [--session NAME] [--workspace FOLDER] [--messages COUNT] [--json]
  atomic-lsp status         what is running     [--json]
  atomic-lsp stop           ends the hub and its agents   [--when-idle] [--force]
  atomic-lsp logs           shows the hub's log [--follow] [--lines COUNT] [--json]
  atomic-lsp doctor         looks for what is missing     [--json]
  atomic-lsp hub            the shared process, started when it is needed
  atomic-lsp --version, --help

The agent is ATOMIC_LSP_AGENT (a command line), else atomic on PATH, else pi on PATH, else a built-in demo.
Exit codes of prompt: 0 the run is done, 1 it failed, 3 no agent could be started, 130 it was stopped.
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const place = { session: text, workspace: text };
const help = { help: { ...flag, short: 'h' } };

const options = {
  server: {
    stdio: flag,
    pipe: text,
    socket: text,
    'no-hub': flag,
    // Given by some editors besides `processId` of initialize.
    clientProcessId: text,
    version: { ...flag, short: 'v' },
    ...help,
  },
  hub: { 'ready-descriptor': text, ...help },
  status: { json: flag, ...help },
  stop: { 'when-idle': flag, force: flag, ...help },
  logs: { follow: { ...flag, short: 'f' }, lines: { ...text, short: 'n' }, json: flag, ...help },
  doctor: { json: flag, ...help },
  prompt: {
    ...place,
    json: flag,
    'no-hub': flag,
    provider: text,
    model: text,
    name: text,
    'no-session': flag,
    ...help,
  },
  attach: { ...place, messages: text, json: flag, ...help },
} as const;
type Verb = keyof typeof options;
const verbs = Object.keys(options).filter((verb) => verb !== 'server');

/** The command that the words (without the program's own name) stand for. Throws {@link UsageError}. */
export function parsedCommand(words: readonly string[]): Command {
  const [first, ...rest] = words;
  if (first === 'demo-agent') return { verb: 'demo-agent', argv: rest };
  if (first === 'help') return { verb: 'help' };
  if (first === 'version') return { verb: 'version' };
  if (first === undefined || first.startsWith('-')) return serverCommand(words);
  if (first === 'server' || !Object.hasOwn(options, first))
    throw new UsageError(
      `There is no verb "${first}": use one of ${verbs.join(', ')}, or none for the server.`,
    );
  return verbCommand(first as Exclude<Verb, 'server'>, rest);
}

function serverCommand(words: readonly string[]): Command {
  const { values } = parsed('server', words, 0);
  if (values.help) return { verb: 'help' };
  if (values.version) return { verb: 'version' };
  const given = (['stdio', 'pipe', 'socket'] as const).filter((name) => values[name] !== undefined);
  if (given.length > 1)
    throw new UsageError(
      `--${given[0]} and --${given[1]} exclude each other: give the one that the editor uses.`,
    );
  const stream: EditorStream =
    values.pipe !== undefined
      ? { kind: 'pipe', path: values.pipe }
      : values.socket !== undefined
        ? { kind: 'socket', port: counted('--socket', values.socket, 1, 65_535) }
        : { kind: 'stdio' };
  return { verb: 'server', stream, noHub: values['no-hub'] ?? false };
}

function verbCommand(verb: Exclude<Verb, 'server'>, words: readonly string[]): Command {
  const { values, positionals } = parsed(verb, words, verb === 'prompt' ? Number.POSITIVE_INFINITY : 0);
  if (values.help) return { verb: 'help' };
  const json = values.json ?? false;
  const where: SessionChoice = {
    ...(values.session !== undefined && { session: values.session }),
    ...(values.workspace !== undefined && { workspace: values.workspace }),
  };
  switch (verb) {
    case 'hub': {
      const descriptor = values['ready-descriptor'];
      return descriptor === undefined
        ? { verb }
        : { verb, readyDescriptor: counted('--ready-descriptor', descriptor, 3, 1023) };
    }
    case 'status':
    case 'doctor':
      return { verb, json };
    case 'stop':
      return { verb, whenIdle: values['when-idle'] ?? false, force: values.force ?? false };
    case 'logs':
      return {
        verb,
        json,
        follow: values.follow ?? false,
        lines: counted('--lines', values.lines ?? '200', 0, 1_000_000),
      };
    case 'attach':
      return { verb, json, messages: counted('--messages', values.messages ?? '10', 0, 400), ...where };
    case 'prompt': {
      if (positionals.length === 0)
        throw new UsageError(
          'prompt needs the text: atomic-lsp prompt "What does this project do?", or "-" to read it from standard input.',
        );
      return {
        verb,
        json,
        // As echo does, so that forgotten quotes do no harm.
        text: positionals.join(' '),
        noHub: values['no-hub'] ?? false,
        start: {
          ...(values.provider !== undefined && { provider: values.provider }),
          ...(values.model !== undefined && { model: values.model }),
          ...(values.name !== undefined && { name: values.name }),
          ...(values['no-session'] && { noSession: true }),
        },
        ...where,
      };
    }
  }
}

interface Values {
  [name: string]: string | boolean | undefined;
  help?: boolean;
  version?: boolean;
  json?: boolean;
  stdio?: boolean;
  'no-hub'?: boolean;
  'no-session'?: boolean;
  'when-idle'?: boolean;
  force?: boolean;
  follow?: boolean;
  pipe?: string;
  socket?: string;
  session?: string;
  workspace?: string;
  lines?: string;
  messages?: string;
  provider?: string;
  model?: string;
  name?: string;
  'ready-descriptor'?: string;
}

function parsed(
  verb: Verb,
  words: readonly string[],
  most: number,
): { values: Values; positionals: string[] } {
  const name = verb === 'server' ? 'atomic-lsp' : `atomic-lsp ${verb}`;
  let result: { values: object; positionals: string[] };
  try {
    result = parseArgs({ args: [...words], options: options[verb], allowPositionals: true, strict: true });
  } catch (error) {
    // Node's first sentence names the option; what follows is advice about its own rules.
    const said = (error as Error).message.split(/\.\s|\n/)[0]!.replace(/\.$/, '');
    throw new UsageError(`${said}: see "atomic-lsp --help".`);
  }
  const surplus = result.positionals[most];
  if (surplus !== undefined) throw new UsageError(`${name} takes no "${surplus}": see "atomic-lsp --help".`);
  return result as { values: Values; positionals: string[] };
}

function counted(option: string, given: string, least: number, most: number): number {
  const count = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw new UsageError(`${option} needs a number from ${least} to ${most}, and not "${given}".`);
}
