// Connecting to a hub and being the one that listens. Guarantees: one hub at one address however many start at once and
// whatever was killed before; the socket is for its user alone; a socket that a cleaner removed comes back. Must not know:
// what is said on a connection, who starts hubs.
import fs from 'node:fs';
import net from 'node:net';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import { type HubAddress, secureFolder, socketPresent } from './address.ts';
import { lockPlace } from './lock.ts';

/**
 * A connection to the hub at this address, undefined when none listens there. Throws `SocketRefused` for an unsafe place
 * and `HubUnreachable` when something listens that cannot be reached.
 */
export async function connectSocket(address: HubAddress): Promise<net.Socket | undefined> {
  secureFolder(address);
  if (!socketPresent(address)) return undefined;
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: address.socket });
    socket.once('connect', () => {
      // Whoever gets it hears of errors by its end, and must not die of one that comes before it has looked.
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(undefined);
      else
        reject(
          new AtomicError(
            'HubUnreachable',
            `The hub at ${address.socket} cannot be reached (${error.message}): if it hangs, end it with "atomic-lsp stop --force" and try again.`,
          ),
        );
    });
  });
}

export interface Listener {
  /** Accepts no more and removes the socket; nobody else can begin to listen yet. */
  close(): Promise<void>;
  /** Lets the next hub begin; called when nothing of this one is left. */
  release(): Promise<void>;
}

export interface ListenOptions {
  address: HubAddress;
  clock: Clock;
  log: Log;
  onConnection(socket: net.Socket): void;
  /** Gives up waiting for another starter. */
  signal: AbortSignal;
}

/** Milliseconds between two looks whether the socket still lies where it should. */
export const socketCheck = 60_000;

/**
 * Begins to listen, or says that another hub does. Connect, else lock, connect again, then remove what is left of a dead hub
 * and listen; the lock is held for life, so nobody can take a living hub's place. Waits while another starter or a
 * stopping hub holds the lock.
 */
export async function listenAlone(options: ListenOptions): Promise<Listener | 'running'> {
  const { address, clock, log, signal } = options;
  const running = async () => {
    const socket = await connectSocket(address);
    socket?.destroy();
    return socket !== undefined;
  };
  if (await running()) return 'running';
  const place = lockPlace(address, 'hub', clock);
  let lock = await place.take();
  while (!lock) {
    await place.changed(signal);
    if (signal.aborted)
      throw new AtomicError(
        'HubUnreachable',
        `Another hub holds the lock of ${address.socket} and does not answer: end it with "atomic-lsp stop --force", or end its process, and try again.`,
      );
    if (await running()) return 'running';
    lock = await place.take();
  }
  const held = lock;
  try {
    if (await running()) {
      await held.release();
      return 'running';
    }
    let server = await bound(options);
    let identity = socketIdentity(address);
    let closing = false;
    let cancelCheck = () => {};

    // One look at a time; a cleaner may have removed the socket, or a copy of the folder put back an old one.
    let looking: Promise<void> = Promise.resolve();
    const look = () => {
      looking = looking.then(async () => {
        if (closing || (identity !== undefined && socketIdentity(address) === identity)) return;
        log.warn({ socket: address.socket }, 'the socket was removed or replaced; listening anew');
        const old = server;
        // Closing the old one removes whatever lies at the path, so that comes first.
        old.close();
        try {
          server = await bound(options);
          identity = socketIdentity(address);
        } catch (error) {
          identity = undefined;
          log.error({ error }, 'listening anew failed; it is tried again within a minute');
        }
      });
      return looking;
    };
    const repeat = () => {
      cancelCheck = clock.after(socketCheck, () => void look().then(() => closing || repeat()));
    };
    if (address.folder !== undefined) repeat();
    // While the hub is stopping, whoever waits is not told to look again: it wakes when the lock is free.
    held.onKnock(() => (closing ? new Promise(() => {}) : look()));

    return {
      async close() {
        closing = true;
        cancelCheck();
        await looking;
        server.close();
      },
      release: () => held.release(),
    };
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** Listens at the address, after removing a dead socket; only with the lock held. */
function bound({ address, log, onConnection }: ListenOptions): Promise<net.Server> {
  secureFolder(address);
  if (address.folder !== undefined && socketPresent(address)) fs.unlinkSync(address.socket);
  return new Promise((resolve, reject) => {
    const server = net.createServer(onConnection);
    server.once('error', (error) =>
      reject(
        new AtomicError(
          'SocketRefused',
          `The hub cannot listen at ${address.socket} (${error.message}): make its folder writable for you, or set ATOMIC_LSP_SOCKET to another path.`,
        ),
      ),
    );
    // Node binds inside listen(), so the mask covers the moment between binding and chmod.
    const mask = address.folder === undefined ? undefined : process.umask(0o177);
    try {
      server.listen({ path: address.socket });
    } finally {
      if (mask !== undefined) process.umask(mask);
    }
    server.once('listening', () => {
      server.removeAllListeners('error');
      server.on('error', (error) => log.error({ error }, 'the listening socket reported an error'));
      resolve(server);
    });
  });
}

const socketIdentity = (address: HubAddress): string | undefined => {
  if (address.folder === undefined) return address.socket;
  const stat = fs.lstatSync(address.socket, { throwIfNoEntry: false, bigint: true });
  // With its birth, because file systems use numbers again.
  return stat && `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`;
};
