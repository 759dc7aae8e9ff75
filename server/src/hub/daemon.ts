// The hub as a process. Guarantees: one hub at an address; whoever started it is told when it listens, or why not; a
// signal ends it with its agents; nothing is printed, uncaught errors are in the log. Must not know: argv, environment,
// which agents there are.
import fs from 'node:fs';
import { AtomicError, errorShape } from '../protocol/errors.ts';
import type { Clock } from '../session/ports.ts';
import type { HubAddress } from './address.ts';
import { systemClock } from './clock.ts';
import type { ReadyLine } from './ensure.ts';
import { createHub, type Hub, type HubOptions } from './hub.ts';
import { type Listener, listenAlone } from './listen.ts';
import { type LogFile, openLog } from './log.ts';

export interface DaemonOptions
  extends Pick<HubOptions, 'createSession' | 'startAgent' | 'folder' | 'version' | 'idleExit' | 'agentIdle'> {
  address: HubAddress;
  /** `$XDG_STATE_HOME/atomic-lsp/log`. */
  logFolder: string;
  logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** The inherited descriptor on which a {@link ReadyLine} is awaited; absent: nobody waits. */
  readyDescriptor?: number;
  clock?: Clock;
}

export interface DaemonResult {
  /** What the process should exit with. */
  exitCode: number;
  /** Another hub was there already. */
  running?: true;
  /** Why there is no hub, for whoever started it by hand. */
  error?: AtomicError;
}

/** Milliseconds that a starting hub waits for another one that holds the lock. */
const lockPatience = 20_000;

/** Runs the hub of this user until it is idle, asked to stop or signalled. The caller ends the process. */
export async function runHub(options: DaemonOptions): Promise<DaemonResult> {
  const { address, clock = systemClock } = options;
  const logFile = openLog({
    folder: options.logFolder,
    name: 'hub',
    ...(options.logLevel && { level: options.logLevel }),
  });
  const ready = readiness(options.readyDescriptor);
  const life = new AbortController();
  let hub: Hub | undefined;
  let failed = false;
  const leave = (why: string, error?: unknown) => {
    logFile.log[error === undefined ? 'info' : 'error']({ ...(error !== undefined && { error }) }, why);
    life.abort();
    hub?.stop({ force: true });
  };
  const endProcessHandlers = processHandlers({
    signal: (signal) => leave(`${signal} ends the hub`),
    exception: (error) => {
      failed = true;
      leave('an uncaught error ends the hub', error);
    },
    rejection: (error) => logFile.log.error({ error }, 'a promise was rejected and nobody looked'),
  });
  // Timers and locks do not keep a process alive; the hub lives until it says so.
  const alive = setInterval(() => {}, 2 ** 30);

  const waiting = new AbortController();
  const cancelPatience = clock.after(lockPatience, () => waiting.abort());
  let listener: Listener | undefined;
  try {
    const found = await listenAlone({
      address,
      clock,
      log: logFile.log,
      signal: AbortSignal.any([waiting.signal, life.signal]),
      onConnection: (socket) => {
        if (hub) hub.accept(socket);
        else socket.destroy();
      },
    });
    if (found === 'running') {
      ready({ ready: true, pid: process.pid, running: true });
      return { exitCode: 0, running: true };
    }
    listener = found;
    // Only the hub that listens may look at sessions and sweep what an earlier one left.
    hub = startedHub(options, clock, logFile);
    if (life.signal.aborted) hub.stop({ force: true });
    ready({ ready: true, pid: process.pid, running: false });
    logFile.log.info({ socket: address.socket, version: options.version }, 'the hub listens');
    await hub.stopping;
    await listener.close();
    await hub.closed;
    return { exitCode: failed ? 1 : 0 };
  } catch (error) {
    const { code, message, data } = errorShape(error);
    logFile.log.error({ error }, 'the hub could not start');
    ready({ ready: false, error: { code, message, data } });
    return {
      exitCode: 1,
      error: error instanceof AtomicError ? error : new AtomicError('Internal', message),
    };
  } finally {
    cancelPatience();
    await listener?.close();
    await listener?.release();
    endProcessHandlers();
    await logFile.close();
    clearInterval(alive);
  }
}

function startedHub(options: DaemonOptions, clock: Clock, { log, file }: LogFile): Hub {
  // A daemon must not keep the folder that it was started in from being unmounted.
  process.chdir('/');
  const { createSession, startAgent, folder, version, idleExit, agentIdle } = options;
  return createHub({
    createSession,
    startAgent,
    clock,
    log,
    folder,
    version,
    logFile: file,
    ...(idleExit !== undefined && { idleExit }),
    ...(agentIdle !== undefined && { agentIdle }),
  });
}

/** Says one line to whoever started us, once. */
function readiness(descriptor: number | undefined): (line: ReadyLine) => void {
  let open = descriptor !== undefined;
  return (line) => {
    if (!open) return;
    open = false;
    try {
      fs.writeSync(descriptor!, `${JSON.stringify(line)}\n`);
      fs.closeSync(descriptor!);
    } catch {
      // Whoever started us is gone; the next one finds us listening.
    }
  };
}

/** Signals and uncaught errors; returns a function that takes the handlers away. */
function processHandlers(on: {
  signal: (signal: NodeJS.Signals) => void;
  exception: (error: unknown) => void;
  rejection: (error: unknown) => void;
}): () => void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, on.signal);
  process.on('uncaughtException', on.exception);
  process.on('unhandledRejection', on.rejection);
  return () => {
    for (const signal of signals) process.off(signal, on.signal);
    process.off('uncaughtException', on.exception);
    process.off('unhandledRejection', on.rejection);
  };
}
