// Content-Length frames. Guarantees: linear time however the bytes are cut; a message is handed on in the same turn as its
// last byte; what is no frame is an error at once; it is known how many messages a connection still has to look at. Must
// not know: methods, who sends.
import type { Readable } from 'node:stream';
import { type DataCallback, Emitter, type Message, type MessageReader } from 'vscode-jsonrpc/node';

/** Bytes that a frame's header may have. */
const headerLimit = 8192;
const headerEnd = Buffer.from('\r\n\r\n');

/** A frame around JSON text. */
export function frame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = `Content-Length: ${length}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(header.length + length);
  bytes.write(header, 0, 'latin1');
  bytes.write(text, header.length, 'utf8');
  return bytes;
}

/** A frame ready to send: a notification whose parameters are JSON text already. */
export function notificationFrame(method: string, params: string): Buffer {
  return frame(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`);
}

/** A function that takes bytes as they come and calls back with the text of each whole frame. Throws for what is no frame. */
export function frameSplitter(onText: (text: string) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  /** Bytes that are needed before anything can be done; 0 while a header is read. */
  let body = 0;

  const joined = (): Buffer => {
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts, held);
    parts = [all];
    return all;
  };
  const cut = (bytes: Buffer, at: number) => {
    const rest = bytes.subarray(at);
    parts = rest.length ? [rest] : [];
    held = rest.length;
  };
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    while (held > 0 && held >= body) {
      if (body > 0) {
        const bytes = joined();
        const text = bytes.toString('utf8', 0, body);
        cut(bytes, body);
        body = 0;
        onText(text);
        continue;
      }
      const bytes = joined();
      const end = bytes.subarray(0, headerLimit).indexOf(headerEnd);
      if (end < 0) {
        if (held >= headerLimit) throw new Error('no end of a frame header');
        return;
      }
      body = contentLength(bytes.toString('latin1', 0, end));
      cut(bytes, end + headerEnd.length);
    }
  };
}

function contentLength(header: string): number {
  const length = /^content-length:[ \t]*([1-9]\d{0,14})[ \t]*$/im.exec(header)?.[1];
  if (length === undefined) throw new Error('a frame header without Content-Length');
  return Number(length);
}

/** An object, and where it cancels a request, one that says which. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { method, params } = value as { method?: unknown; params?: unknown };
  if (method !== '$/cancelRequest' || 'id' in value) return true;
  const id = (params as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || typeof id === 'number';
}

/** A reader for vscode-jsonrpc, which looks at one message in each turn of the event loop. */
export interface FrameReader extends MessageReader {
  /** Messages that were handed on and not looked at yet. */
  readonly waiting: number;
}

/**
 * Messages of a stream. `direct` may take a message at once, without the turn of the event loop that a connection needs for each;
 * it is asked only while nothing before is waiting, so that the order stays, and returns whether it took it.
 */
export function createFrameReader(
  stream: Readable,
  direct: (message: Message) => boolean = () => false,
): FrameReader {
  const errors = new Emitter<Error>();
  const closes = new Emitter<void>();
  const partial = new Emitter<never>();
  let waiting = 0;
  const looked = () => {
    waiting -= 1;
    if (waiting > 0) setImmediate(looked);
  };
  return {
    get waiting() {
      return waiting;
    },
    onError: errors.event,
    onClose: closes.event,
    onPartialMessage: partial.event,
    listen(callback: DataCallback) {
      const split = frameSplitter((text) => {
        const message = JSON.parse(text) as Message;
        // The library would break off at these; nobody waits for an answer to them.
        if (!isMessage(message)) return;
        if (waiting === 0 && direct(message)) return;
        callback(message);
        waiting += 1;
        // In step with the connection, which has just planned its own turn.
        if (waiting === 1) setImmediate(looked);
      });
      const take = (chunk: Buffer) => {
        try {
          split(chunk);
        } catch (error) {
          stream.off('data', take);
          errors.fire(error as Error);
        }
      };
      stream.on('data', take);
      return { dispose: () => void stream.off('data', take) };
    },
    dispose() {
      errors.dispose();
      closes.dispose();
      partial.dispose();
    },
  };
}
