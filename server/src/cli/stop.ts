// Ends the hub. Guarantees: says whether it has ended; a hub at work ends only when that was asked for; one that does not
// answer is ended by force alone, and only when it is sure which process it is. Must not know: how the hub ends agents.
import { AtomicError } from '../protocol/errors.ts';
import { hubProcess } from './hub-process.ts';
import { type Connection, exitCodes, line, type Terminal } from './terminal.ts';

export interface StopOptions {
  whenIdle: boolean;
  force: boolean;
}

/** Milliseconds that a hub may take to greet us, and to end its agents. */
const greeting = 5000;
const ending = 20_000;

/** Exit code 0: no hub runs any more, or (when idle) it will end by itself; 1: it goes on. */
export async function runStop(terminal: Terminal, { whenIdle, force }: StopOptions): Promise<number> {
  const { output, error } = terminal;
  const opening = terminal.open('running');
  const found = await within(terminal, greeting, opening).catch((reason: unknown) => {
    if (reason instanceof AtomicError && reason.code === 'HubUnreachable') return 'none' as const;
    throw reason;
  });
  if (found === 'none') {
    line(output, 'No hub is running.');
    return exitCodes.done;
  }
  if (found === 'late') return force ? killed(terminal) : silent(terminal);
  const connection: Connection = found;
  const closed = new Promise<'closed'>((resolve) => connection.client.onClose(() => resolve('closed')));
  const status = await within(terminal, greeting, connection.client.status());
  if (status === 'late') return force ? killed(terminal) : silent(terminal);
  const asked = await within(terminal, greeting, connection.client.stop({ whenIdle, force }));
  if (asked === 'late') return force ? killed(terminal) : silent(terminal);
  if (!asked.stopping) {
    line(error, `atomic-lsp: ${asked.reason ?? 'The hub goes on.'}`);
    await connection.end();
    return exitCodes.failed;
  }
  if (asked.reason) {
    line(output, asked.reason);
    await connection.end();
    return exitCodes.done;
  }
  const ended = closed.then(() => processEnded(status.pid));
  if ((await within(terminal, ending, ended)) === 'late') {
    if (force) return killed(terminal);
    line(error, 'atomic-lsp: The hub has not ended yet: end it with "atomic-lsp stop --force".');
    return exitCodes.failed;
  }
  line(output, 'The hub has ended.');
  return exitCodes.done;
}

function silent({ error }: Terminal): number {
  line(error, 'atomic-lsp: The hub does not answer: end it with "atomic-lsp stop --force".');
  return exitCodes.failed;
}

/** Resolves when there is no such process. */
async function processEnded(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    // The system has no event for the end of a process that is not our child.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function killed({ output, error, places, hubWords }: Terminal): Promise<number> {
  const pid = hubProcess({ address: places.address(), logFolder: places.log, words: hubWords });
  if (pid === undefined || pid === process.pid) {
    line(error, 'atomic-lsp: The hub does not answer and its process cannot be found: end it by hand.');
    return exitCodes.failed;
  }
  process.kill(pid, 'SIGKILL');
  line(
    output,
    `The hub did not answer; its process ${pid} was killed. Agents that are left end with the next hub.`,
  );
  return exitCodes.done;
}

/** The promise's value, or 'late'. */
async function within<T>(terminal: Terminal, milliseconds: number, promise: Promise<T>): Promise<T | 'late'> {
  let cancel = () => {};
  const late = new Promise<'late'>((resolve) => {
    cancel = terminal.clock.after(milliseconds, () => resolve('late'));
  });
  // The clock's timers keep no process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
    clearInterval(alive);
  }
}
