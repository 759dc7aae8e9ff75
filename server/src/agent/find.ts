// Which agent program to run. Guarantees: the order editor's choice, ATOMIC_LSP_AGENT, `atomic`, `pi`, built-in demo; a choice
// that was made and cannot be followed is an error and never replaced by another program; nothing is run and no shell is
// asked. Must not know: how the program is started.
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import parseArgsStringToArgv from 'string-argv';
import { AtomicError } from '../protocol/errors.ts';
import type { AgentIdentity } from '../protocol/facts.ts';
import type { AgentSpec } from '../session/ports.ts';

export type AgentSource = 'setting' | 'ATOMIC_LSP_AGENT' | 'PATH' | 'demo';

export interface FoundAgent {
  /** Who decided. */
  source: AgentSource;
  /** As it was written, for people. */
  command: string;
  /** The arguments that belong to the command, before those of the bridge. */
  args: string[];
  /** Absolute path of the program. */
  path: string;
}

/** How the built-in demo agent is run. */
export interface Demo {
  command: string;
  args: string[];
}

/**
 * The agent for a session. Searches the PATH of `env` (the editor's), never the hub's. Throws `AgentNotFound` when the
 * chosen program is not there, cannot be run, or could not be understood; without a choice there is always the demo.
 */
export function findAgent(
  spec: Pick<AgentSpec, 'choice' | 'refused' | 'workspace'>,
  env: Readonly<Record<string, string | undefined>>,
  demo: Demo,
): FoundAgent {
  if (spec.refused !== undefined) throw new AtomicError('AgentNotFound', spec.refused, { source: 'setting' });
  if (spec.choice) return chosen('setting', spec.choice.command, spec.choice.args ?? [], spec.workspace, env);
  const line = env.ATOMIC_LSP_AGENT?.trim();
  if (line) {
    const [command, ...args] = parseArgsStringToArgv(line);
    if (command) return chosen('ATOMIC_LSP_AGENT', command, args, spec.workspace, env);
  }
  for (const command of ['atomic', 'pi']) {
    const { path } = searched(command, spec.workspace, env);
    if (path) return { source: 'PATH', command, args: [], path };
  }
  return { source: 'demo', command: demo.command, args: demo.args, path: demo.command };
}

function chosen(
  source: 'setting' | 'ATOMIC_LSP_AGENT',
  command: string,
  args: string[],
  workspace: string,
  env: Readonly<Record<string, string | undefined>>,
): FoundAgent {
  const { path, problem } = searched(command, workspace, env);
  if (path) return { source, command, args, path };
  const place = source === 'setting' ? 'initializationOptions.agent.command' : source;
  throw new AtomicError(
    'AgentNotFound',
    `The agent "${command}", named by ${place}, ${problem}: install it, or set ${place} to the full path of an agent program (without that setting, atomic and then pi are looked for on PATH).`,
    { command, source, searched: env.PATH ?? '' },
  );
}

function searched(
  command: string,
  workspace: string,
  env: Readonly<Record<string, string | undefined>>,
): { path?: string; problem?: string } {
  const home = env.HOME;
  const expanded = home && command.startsWith('~/') ? join(home, command.slice(2)) : command;
  if (expanded.includes('/')) {
    const path = resolve(workspace, expanded);
    const problem = problemWith(path);
    return problem ? { problem } : { path };
  }
  let problem: string | undefined;
  // A relative or empty place on PATH would let the opened folder decide which program runs.
  for (const folder of (env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, expanded);
    const here = problemWith(path);
    if (!here) return { path };
    if (here !== 'does not exist') problem ??= `was found at ${path}, but ${here}`;
  }
  return { problem: problem ?? 'is not on PATH' };
}

function problemWith(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'is not a file';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'may not be run' : 'does not exist';
  }
}

const launchers = /^(?:node|nodejs|bun|deno|npx|bunx|pnpm|yarn|env|sh|bash)$/;

/** What the bridge calls the agent, from its command line; a script that a launcher runs is named by the script. */
export function identityOf(found: FoundAgent): AgentIdentity {
  const demo = found.source === 'demo';
  const own = programName(found.command);
  const script = launchers.test(own) ? found.args.find((arg) => /^[^-\s]\S*$/.test(arg)) : undefined;
  const words = [found.command, ...found.args]
    .map((word, at, all) => (/(?:key|token|secret)$/i.test(all[at - 1] ?? '') ? '…' : word))
    .map((word) => (word.length > 200 ? `${word.slice(0, 200)}…` : word))
    .map((word) => (/[\s"']/.test(word) ? JSON.stringify(word) : word));
  return {
    command: words.join(' '),
    name: demo ? 'demo' : script ? scriptName(script) : own,
    demo,
  };
}

const programName = (path: string): string => basename(path).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/i, '');

const scriptName = (script: string): string =>
  /(?:^|[/@])pi-coding-agent(?:[/@]|$)/.test(script)
    ? 'pi'
    : /bastani\/atomic|(?:^|\/)atomic(?:\/|$)/.test(script)
      ? 'atomic'
      : programName(script);
