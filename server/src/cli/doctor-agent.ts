// Whether the agent works. Guarantees: finds it as a session would, asks its version and starts it once in RPC mode without
// saving anything; it has ended when this returns. Must not know: how findings are shown.
import { type Dialect, dialectShown } from '../agent/dialect.ts';
import { childEnvironment, forwardedEnvironment } from '../agent/environment.ts';
import { findAgent, identityOf } from '../agent/find.ts';
import { createStartAgent } from '../agent/index.ts';
import { silentLog } from '../hub/log.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Finding } from './doctor.ts';
import { firstLine } from './programs.ts';
import type { Terminal } from './terminal.ts';

/** Milliseconds that an agent may take to answer its first question. */
const patience = 20_000;

const installing =
  'install Atomic with "npm install -g @bastani/atomic", or set ATOMIC_LSP_AGENT to the command line of an agent';

export async function agentFindings(terminal: Terminal): Promise<Finding[]> {
  const { cwd, demo } = terminal;
  const env = forwardedEnvironment(terminal.env);
  let found: ReturnType<typeof findAgent>;
  try {
    found = findAgent({ workspace: cwd }, env, demo);
  } catch (error) {
    return [{ check: 'agent', level: 'missing', needed: true, text: (error as Error).message }];
  }
  if (found.source === 'demo')
    return [
      {
        check: 'agent',
        level: 'warn',
        text: 'neither atomic nor pi is on PATH: the built-in demo agent stands in, which has no model',
        cure: installing,
        data: { source: 'demo' },
      },
    ];
  const identity = identityOf(found);
  const [version, answer] = await Promise.all([
    firstLine(found.path, [...found.args, '--version'], { env: childEnvironment(env), cwd }),
    askedState(terminal, env),
  ]);
  const data = { source: found.source, command: identity.command, path: found.path, name: identity.name };
  const from = found.source === 'PATH' ? 'found on PATH' : `named by ${found.source}`;
  const findings: Finding[] = [
    {
      check: 'agent',
      level: 'ok',
      text: `${identity.command} (${found.path}), ${from}, ${version === undefined ? 'which tells no version' : `version ${version}`}`,
      data: { ...data, ...(version !== undefined && { version }) },
    },
  ];
  if ('problem' in answer)
    return [...findings, { check: 'agent answers', level: 'missing', needed: true, text: answer.problem }];
  const { state, dialect } = answer;
  findings.push({
    check: 'agent answers',
    level: 'ok',
    text: dialect ? `it speaks RPC, dialect ${dialect}` : 'it speaks RPC',
    data: dialect ? { dialect } : {},
  });
  findings.push(
    state.model
      ? { check: 'model', level: 'ok', text: `${state.model.provider}/${state.model.id}` }
      : {
          check: 'model',
          level: 'warn',
          text: 'the agent has no model',
          cure: 'log in with the agent in a terminal, or set an API key for it; then choose a model with atomic.setModel',
        },
  );
  return findings;
}

type Answer =
  | { state: { model?: { provider?: string; id: string } | null }; dialect?: Dialect }
  | { problem: string };

/** The agent's state, asked once. */
async function askedState(terminal: Terminal, env: Record<string, string>): Promise<Answer> {
  const { clock, cwd, demo } = terminal;
  const start = createStartAgent({ demo, clock, log: silentLog });
  let ended: () => void = () => {};
  const exited = new Promise<void>((resolve) => {
    ended = resolve;
  });
  try {
    const agent = await start(
      { workspace: cwd, env, start: { noSession: true } },
      { fact() {}, dialog() {}, dialogWithdrawn() {}, exit: () => ended() },
    );
    const timer = setTimeout(() => agent.kill(), patience);
    try {
      const response = await agent.call({ type: 'get_state' });
      if (!response.success)
        return { problem: `The agent refuses to tell its state: ${response.error ?? 'without a word'}` };
      const dialect = dialectShown({ ...response, command: 'get_state' } as never);
      return { state: (response.data ?? {}) as never, ...(dialect && { dialect }) };
    } finally {
      clearTimeout(timer);
      await agent.stop();
      await exited;
    }
  } catch (error) {
    const sentence = error instanceof AtomicError || error instanceof Error ? error.message : String(error);
    return { problem: sentence };
  }
}
