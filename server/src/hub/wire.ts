// JSON-RPC over a stream, with a writer that batches. Guarantees: what is sent in one turn of the event loop goes out in one
// write, in order; a prepared frame is sent as it is; `full` tells when a reader is slow, so that nobody queues for it;
// a closed stream settles every pending request. Must not know: methods, sessions.
import type { Duplex } from 'node:stream';
import {
  createMessageConnection,
  Emitter,
  type Logger,
  type Message,
  type MessageConnection,
  type MessageWriter,
} from 'vscode-jsonrpc/node';
import type { Log } from '../session/ports.ts';
import { createFrameReader, frame } from './frames.ts';

export interface Wire {
  /** For requests and their handlers; `listen()` is called by whoever registered the handlers. */
  readonly connection: MessageConnection;
  /** Sends a prepared frame after everything that was sent before. */
  send(frame: Buffer): void;
  /** Bytes given to the stream and not yet taken by the other side. */
  readonly backlog: number;
  /** The other side is slow: send nothing that can wait. */
  readonly full: boolean;
  /** Called when `full` may have ended. */
  onRoom(listener: () => void): void;
  readonly closed: boolean;
  /** Called once, when the stream is gone and pending requests were settled. */
  onClose(listener: () => void): void;
  /** Sends what was given and says that this is all; the stream is gone once the other side has answered that. */
  close(): void;
  /** Gone at once. */
  destroy(): void;
}

/** Bytes that may wait for a slow reader. */
export const backlogLimit = 262_144;
/** Bytes after which a reader that asks on and on and takes no answer is let go. */
const backlogEnd = 512 * 1024 * 1024;

/** `direct` takes notifications at once: see {@link createFrameReader}. */
export function createWire(stream: Duplex, log?: Log, direct?: (message: Message) => boolean): Wire {
  const roomListeners: (() => void)[] = [];
  const closeListeners: (() => void)[] = [];
  let corked = false;
  let closed = false;
  let ending = false;

  const send = (bytes: Buffer) => {
    if (closed || ending || stream.destroyed) return;
    if (!corked) {
      corked = true;
      stream.cork();
      process.nextTick(() => {
        corked = false;
        stream.uncork();
      });
    }
    stream.write(bytes);
    if (stream.writableLength > backlogEnd) {
      log?.warn({ backlog: stream.writableLength }, 'a peer takes no answers; its connection is closed');
      stream.destroy();
    }
  };

  const reader = createFrameReader(stream, direct);
  const connection = createMessageConnection(
    reader,
    writerOf((message) => send(frame(JSON.stringify(message)))),
    loggerOf(log),
  );
  const gone = () => {
    if (closed) return;
    closed = true;
    // Rejects what is pending; closing alone does not.
    connection.dispose();
    stream.destroy();
    for (const listener of closeListeners) listener();
  };
  /** After the last words of the other side were looked at: an answer that has arrived is an answer. */
  const ended = () => {
    if (reader.waiting > 0) setImmediate(ended);
    else gone();
  };
  connection.onError(([error]) => {
    // After a frame that cannot be read nothing that follows can be trusted.
    log?.warn({ error: error.message }, 'a connection broke');
    gone();
  });
  connection.onUnhandledNotification(() => {});
  stream.on('error', (error) => {
    log?.debug({ error: error.message }, 'a stream failed');
    ended();
  });
  stream.once('end', () => stream.end());
  stream.once('close', ended);
  stream.on('drain', () => {
    for (const listener of roomListeners) listener();
  });

  return {
    connection,
    send,
    get backlog() {
      return stream.writableLength;
    },
    get full() {
      return (
        closed || stream.destroyed || (stream.writableNeedDrain && stream.writableLength >= backlogLimit)
      );
    },
    onRoom: (listener) => void roomListeners.push(listener),
    get closed() {
      return closed;
    },
    onClose(listener) {
      if (closed) listener();
      else closeListeners.push(listener);
    },
    close() {
      if (closed || ending) return;
      ending = true;
      // Destroying it here could throw away what the other side has not read yet.
      stream.end();
    },
    destroy: () => void stream.destroy(),
  };
}

/** vscode-jsonrpc's writer interface over a function; it never waits, so it never hides a queue. */
function writerOf(write: (message: Message) => void): MessageWriter {
  const errors = new Emitter<[Error, Message | undefined, number | undefined]>();
  const closes = new Emitter<void>();
  return {
    onError: errors.event,
    onClose: closes.event,
    async write(message) {
      write(message);
    },
    end() {},
    dispose() {
      errors.dispose();
      closes.dispose();
    },
  };
}

const loggerOf = (log: Log | undefined): Logger => ({
  error: (message) => log?.warn({}, message),
  warn: (message) => log?.warn({}, message),
  info: (message) => log?.debug({}, message),
  log: (message) => log?.debug({}, message),
});
