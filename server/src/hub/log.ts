// The log: JSON lines in a file. Guarantees: bounded in size, for its user alone, secrets and what people write to the agent
// are not in it; a full disk or a folder that cannot be written costs the log and nothing else. Must not know: who logs.
import path from 'node:path';
import { pino } from 'pino';
import { createStream } from 'rotating-file-stream';
import type { Log } from '../session/ports.ts';
import { withoutSecrets } from '../session/secrets.ts';
import { makeFolder } from './folders.ts';

export interface LogFile {
  log: Log;
  /** The file's path, for people. */
  file: string;
  /** Writes what is waiting and closes the file. */
  close(): Promise<void>;
}

export interface LogOptions {
  /** `$XDG_STATE_HOME/atomic-lsp/log`. */
  folder: string;
  /** The file's name without `.log`; only one process may write to a name. */
  name: string;
  level?: 'debug' | 'info' | 'warn' | 'error';
  /** Bytes of one file. */
  size?: number;
  /** How many full files are kept besides. */
  keep?: number;
}

/** Opens a log file. Never throws: without a file nothing is logged. */
export function openLog({ folder, name, level = 'info', size = 4_000_000, keep = 3 }: LogOptions): LogFile {
  const file = path.join(folder, `${name}.log`);
  try {
    makeFolder(folder);
  } catch {
    return { log: silentLog, file, close: async () => {} };
  }
  let stream = rotating();
  let failed = false;

  function rotating() {
    const made = createStream(`${name}.log`, { path: folder, size: `${size}B`, rotate: keep, mode: 0o600 });
    // A failed stream is closed for good; the next line tries a new one.
    made.on('error', () => {
      failed = true;
    });
    made.on('warning', () => {});
    return made;
  }
  /** Bytes that may wait for the disk. */
  const patience = 1_000_000;
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redacted(fields) as object as never,
      },
    },
    {
      write(line: string) {
        if (failed || stream.destroyed) {
          failed = false;
          stream = rotating();
        }
        if (stream.writableLength < patience) stream.write(line);
      },
    },
  );
  return {
    log: logger,
    file,
    close: () =>
      new Promise((resolve) => {
        if (failed || stream.destroyed) return resolve();
        stream.once('close', resolve);
        stream.once('error', () => resolve());
        stream.end(() => resolve());
      }),
  };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Names of fields whose values are secret, and of those that hold what people and models write. */
const secretName =
  /(key|token|secret|passw|credential|authorization|cookie|^env$|^text$|prompt|content|^answer|^delta$|^value$)/i;
const textLimit = 4000;

/** The fields as they may be written. Errors become name, sentence and stack; depth and length are bounded. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    const safe = withoutSecrets(value);
    return safe.length > textLimit ? `${safe.slice(0, textLimit)}… (${safe.length})` : safe;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 6) return '…';
  if (value instanceof Error)
    return redacted({ name: value.name, message: value.message, stack: value.stack }, depth + 1);
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redacted(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secretName.test(name) && item !== null && typeof item !== 'boolean' && typeof item !== 'number'
        ? '[redacted]'
        : redacted(item, depth + 1),
    ]),
  );
}
