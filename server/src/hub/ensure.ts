// A connection to the one hub, which is started when there is none. Guarantees: many callers at once start one process;
// readiness is a line on an inherited pipe and never a guess; when the hub cannot start, the error says its own last words.
// Must not know: what the hub does, what is said to it.
import { type ChildProcess, spawn } from 'node:child_process';
import type net from 'node:net';
import type { Readable } from 'node:stream';
import { AtomicError, errorFromShape } from '../protocol/errors.ts';
import type { Clock } from '../session/ports.ts';
import type { HubAddress } from './address.ts';
import { connectSocket } from './listen.ts';
import { lockPlace } from './lock.ts';

/** How to start a hub. It must write one {@link ReadyLine} to descriptor 3 and close it. */
export interface HubProgram {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
}

/** What a starting hub says on descriptor 3, as one JSON line. */
export type ReadyLine =
  | { ready: true; pid: number; running: boolean }
  | { ready: false; error: { code: number; message: string; data?: unknown } };

export interface EnsureOptions {
  address: HubAddress;
  /** Absent: connect only. */
  program?: HubProgram;
  clock: Clock;
  signal?: AbortSignal;
  /** Milliseconds until a start that makes no progress is an error. */
  patience?: number;
}

/** How often everything is tried anew because a hub died in between. */
const attempts = 5;
/** UTF-16 units of the hub's stderr that an error may show. */
const lastWords = 2000;

/**
 * A connected socket to the hub, started if need be as a detached process. Throws `HubUnreachable` or `SocketRefused`
 * with cause and cure.
 */
export async function ensureHub(options: EnsureOptions): Promise<net.Socket> {
  const { address, program, clock, signal, patience = 30_000 } = options;
  const limit = new AbortController();
  const cancelLimit = clock.after(patience, () => limit.abort());
  const stop = AbortSignal.any(signal ? [signal, limit.signal] : [limit.signal]);
  // Timers of the clock do not keep a process alive, and a caller may have nothing else.
  const alive = setInterval(() => {}, 2 ** 30);
  let last = 'it ended right after its start';
  try {
    for (let attempt = 0; attempt < attempts; ) {
      const socket = await connectSocket(address);
      if (socket) return socket;
      if (!program)
        throw unreachable('No hub is running: it starts with the first editor or with "atomic-lsp prompt".');
      if (stop.aborted) break;
      const place = lockPlace(address, 'start', clock);
      const lock = await place.take();
      if (!lock) {
        // Another one is starting the hub; it lets go when the hub listens, or when it failed or was killed.
        await place.changed(stop);
        if (stop.aborted) last = 'another program has been starting it for too long';
        continue;
      }
      try {
        // A hub that became ready just before we got the lock.
        const again = await connectSocket(address);
        if (again) return again;
        attempt += 1;
        await started(program, stop);
        const fresh = await connectSocket(address);
        if (fresh) return fresh;
      } finally {
        await lock.release();
      }
    }
  } finally {
    cancelLimit();
    clearInterval(alive);
  }
  signal?.throwIfAborted();
  throw unreachable(`The hub could not be started: ${last}. See its log with "atomic-lsp logs".`);
}

/** Starts the program and waits for its line, or for its death by a signal. Throws what it said when it failed. */
async function started(program: HubProgram, stop: AbortSignal): Promise<void> {
  const child = spawn(program.command, [...program.args], {
    cwd: '/',
    env: program.env,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const words = tailOf(child.stderr!);
  try {
    const line = await readyLine(child, stop);
    if (line?.ready) return;
    if (line) throw errorFromShape(line.error);
    // Somebody ended it, which says nothing against starting another.
    if (child.signalCode !== null) return;
    const said = words().trim();
    throw unreachable(
      `The hub ended before it was ready${said ? `, with the words: ${said}` : ''}. Try "atomic-lsp doctor".`,
    );
  } finally {
    // It goes on without us: nothing here may hold it or be held by it.
    child.stderr!.destroy();
    (child.stdio[3] as Readable).destroy();
    child.unref();
  }
}

/** The child's line, or undefined when it ended without one. */
function readyLine(child: ChildProcess, stop: AbortSignal): Promise<ReadyLine | undefined> {
  return new Promise((resolve, reject) => {
    const pipe = child.stdio[3] as Readable;
    let text = '';
    pipe.setEncoding('utf8');
    pipe.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0) return;
      try {
        resolve(JSON.parse(text.slice(0, end)) as ReadyLine);
      } catch {
        reject(unreachable(`The hub's first words cannot be read: ${text.slice(0, end)}`));
      }
    });
    pipe.on('error', () => {});
    child.on('error', (error) =>
      reject(unreachable(`The hub's program cannot be started (${error.message}): install atomic-lsp anew.`)),
    );
    // After `close` all of its output was read.
    child.on('close', () => resolve(undefined));
    stop.addEventListener(
      'abort',
      () => {
        child.kill('SIGKILL');
        reject(unreachable('The hub took too long to start: try again, or see "atomic-lsp doctor".'));
      },
      { once: true },
    );
  });
}

function tailOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(-lastWords);
  });
  stream.on('error', () => {});
  return () => text;
}

const unreachable = (sentence: string): AtomicError => new AtomicError('HubUnreachable', sentence);
