// Locks that the kernel releases. Guarantees: at most one holder on this machine, also after SIGKILL of the holder, without
// process numbers and without a heartbeat; who waits is woken by an event where the system has one. Must not know: what the
// lock protects.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock } from '../session/ports.ts';
import { type HubAddress, shortHash } from './address.ts';

/** A held lock. */
export interface Lock {
  /**
   * Whoever waits knocks: `answer` is called, and when it resolves the waiting one looks again. Without an answer the
   * waiting ones sleep until the lock is free.
   */
  onKnock(answer: () => Promise<void>): void;
  release(): Promise<void>;
}

/** One lock by name; `taken` is undefined while somebody else holds it. */
export interface LockPlace {
  take(): Promise<Lock | undefined>;
  /** Resolves when it is worth looking again: the lock was released, or its holder answered a knock. */
  changed(signal: AbortSignal): Promise<void>;
}

/**
 * The lock `name` that belongs to an address. On Linux an abstract socket (it has no file and goes with its process),
 * on Windows a named pipe, on macOS and the BSDs a file that is opened with `O_EXLOCK`. The folder must exist.
 */
export function lockPlace(address: HubAddress, name: string, clock: Clock): LockPlace {
  if (address.platform === 'win32') return socketLock(`${address.socket}-${name}`);
  // The folder's own number, so that folders of one path in two containers do not share a lock.
  const { dev, ino } = fs.statSync(address.folder ?? path.dirname(address.socket));
  if (address.platform === 'linux')
    return socketLock(
      `\0atomic-lsp-${name}-${address.uid}-${shortHash(`${dev}:${ino}:${path.basename(address.socket)}`)}`,
    );
  return fileLock(`${address.socket}.${name}`, clock);
}

/** A lock that is a listening socket without a file. */
export function socketLock(name: string): LockPlace {
  return {
    take: () =>
      new Promise((resolve, reject) => {
        const knocking = new Set<net.Socket>();
        let answer: (() => Promise<void>) | undefined;
        const answered = (socket: net.Socket) => void answer?.().finally(() => socket.destroy());
        const server = net.createServer((socket) => {
          knocking.add(socket);
          // Whatever is said here does not matter; a knock that breaks off is no error.
          socket.on('error', () => {}).on('close', () => knocking.delete(socket));
          socket.resume();
          answered(socket);
        });
        server.once('error', (error: NodeJS.ErrnoException) =>
          error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
        );
        server.listen({ path: name }, () => {
          server.removeAllListeners('error').on('error', () => {});
          // The holder lives as long as it has work; holding a lock is none.
          server.unref();
          resolve({
            onKnock(given) {
              answer = given;
              for (const socket of knocking) answered(socket);
            },
            release: () =>
              new Promise((released) => {
                server.close(() => released());
                for (const socket of knocking) socket.destroy();
              }),
          });
        });
      }),
    changed: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const socket = net.connect({ path: name });
        const done = () => socket.destroy();
        signal.addEventListener('abort', done, { once: true });
        socket.on('error', () => {});
        socket.resume();
        socket.on('close', () => {
          signal.removeEventListener('abort', done);
          resolve();
        });
      }),
  };
}

/** `O_RDWR | O_NONBLOCK | O_CREAT | O_EXLOCK` of macOS and the BSDs; Node has no names for the last. */
const exclusiveFlags = 0x0002 | 0x0004 | 0x0200 | 0x0020;
/** Milliseconds between two looks at a lock file, which tells nobody that it is free. */
const lookAgain = 50;

/**
 * A lock that is a file held open with `O_EXLOCK`. The file stays: removing it would let two hold "it". There is no
 * event for its release, so waiting is looking again. `open` is given in tests.
 */
export function fileLock(
  file: string,
  clock: Clock,
  open: (file: string, flags: number, mode: number) => number = fs.openSync,
): LockPlace {
  return {
    async take() {
      let descriptor: number;
      try {
        descriptor = open(file, exclusiveFlags, 0o600);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EAGAIN' || code === 'EWOULDBLOCK') return undefined;
        throw new AtomicError(
          'SocketRefused',
          `The hub's lock file cannot be opened (${(error as Error).message}): make the folder writable for you, or set ATOMIC_LSP_SOCKET to a path in another one.`,
        );
      }
      return {
        onKnock() {},
        async release() {
          fs.closeSync(descriptor);
        },
      };
    },
    changed: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const cancel = clock.after(lookAgain, () => {
          signal.removeEventListener('abort', aborted);
          resolve();
        });
        const aborted = () => {
          cancel();
          resolve();
        };
        signal.addEventListener('abort', aborted, { once: true });
      }),
  };
}
