// The bytes between an editor and us. Guarantees: what is sent in one turn goes out in one write and in order; a slow editor
// is seen (`full`), never queued for; the end of the editor's stream, a broken frame and a closed output all end in one
// call. Must not know: methods, sessions.
import type { Readable, Writable } from 'node:stream';
import { createMessageConnection, type MessageConnection } from 'vscode-jsonrpc/node';
import { createFrameReader, frame } from '../hub/frames.ts';
import type { Log } from '../session/ports.ts';

export interface Transport {
  /** `listen()` is called by whoever registered the handlers. */
  readonly connection: MessageConnection;
  /** The editor reads more slowly than we write: send nothing that can wait. */
  readonly full: boolean;
  /** Called when `full` may have ended. */
  onRoom(listener: () => void): void;
  /** Called once, when nothing can be read or written any more. */
  onEnd(listener: () => void): void;
  /** Resolves when what was sent has been handed to the system, or can never be. */
  flushed(): Promise<void>;
  dispose(): void;
}

/** Bytes that may wait for an editor before facts wait as a number instead. */
const patientBytes = 262_144;

/**
 * JSON text without the escape of half a surrogate pair, which breaks the decoders of some editors: the whole message would be
 * lost. Such a half stands where an agent cut a text; the end of its message brings the whole.
 */
const readable = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (unit) => (unit.length === 6 ? '\ufffd' : unit))
    : json;

/** JSON-RPC with Content-Length frames (LSP, "Base Protocol") over an editor's two streams. */
export function createTransport(input: Readable, output: Writable, log: Log): Transport {
  const roomListeners: (() => void)[] = [];
  const endListeners: (() => void)[] = [];
  let corked = false;
  let ended = false;

  const end = () => {
    if (ended) return;
    ended = true;
    for (const listener of endListeners) listener();
  };
  const reader = createFrameReader(input);
  /** After the editor's last words were looked at. */
  const finished = () => {
    if (reader.waiting > 0) setImmediate(finished);
    else end();
  };
  const never = () => ({ dispose() {} });
  const connection = createMessageConnection(
    reader,
    {
      onError: never,
      onClose: never,
      async write(message) {
        if (ended || output.destroyed || output.writableEnded) return;
        if (!corked) {
          corked = true;
          output.cork();
          process.nextTick(() => {
            corked = false;
            output.uncork();
          });
        }
        output.write(frame(readable(JSON.stringify(message))));
      },
      end() {},
      dispose() {},
    },
    {
      error: (message) => log.warn({}, message),
      warn: (message) => log.warn({}, message),
      info: (message) => log.debug({}, message),
      log: (message) => log.debug({}, message),
    },
  );
  connection.onError(([error]) => {
    log.error({ error }, 'the editor sent what is no message');
    end();
  });
  connection.onUnhandledNotification(() => {});
  input.once('end', finished);
  input.once('close', finished);
  input.on('error', finished);
  // The editor may be gone before its last answer: that is no fault.
  output.on('error', end);
  output.once('close', end);
  output.on('drain', () => {
    for (const listener of roomListeners) listener();
  });

  return {
    connection,
    get full() {
      return ended || (output.writableNeedDrain && output.writableLength >= patientBytes);
    },
    onRoom: (listener) => void roomListeners.push(listener),
    onEnd(listener) {
      if (ended) listener();
      else endListeners.push(listener);
    },
    flushed: () =>
      new Promise((resolve) => {
        if (output.destroyed || output.writableEnded) return resolve();
        output.once('close', () => resolve());
        output.once('error', () => resolve());
        output.write('', () => resolve());
      }),
    dispose() {
      ended = true;
      connection.dispose();
    },
  };
}
