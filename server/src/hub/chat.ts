// chat.md of a session. Guarantees: appended in order and only at its end, in the same turn of the event loop but for the text of
// an answer, which is written a few times a second; for its user alone; the next hub goes on under a rule with what is new; a full
// file is put aside whole; a file that cannot be written costs one notice, is tried again, and nothing else. Must not know:
// Markdown, agents, connections.
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { Fact } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Journal } from '../session/journal.ts';
import type { Clock, Log } from '../session/ports.ts';
import { createTranscript, type TranscriptPosition } from '../session/transcript.ts';
import { closingOf, mark, remark } from '../session/transcript-text.ts';
import { makeFolder } from './folders.ts';

export const chatFile = 'chat.md';
/** What the transcript has come to, beside it. */
export const chatPositionFile = 'chat.json';

export interface ChatLimits {
  /** Bytes after which the file is put aside as `chat.1.md`, `chat.2.md` and so on, the highest number the newest. */
  size: number;
  /** Bytes that wait for a file that cannot be written; beyond them the oldest are given up. */
  waiting: number;
  /** Milliseconds until a failed write is tried again. */
  retry: number;
  /** Milliseconds for which the text of an answer may wait for more of it: whoever watches a session gets it from the journal. */
  patience: number;
}
const chatLimits: ChatLimits = { size: 8_000_000, waiting: 32_000_000, retry: 5_000, patience: 200 };

export interface Chat {
  /** Resolves when everything until now is written, or a write has failed. */
  flush(): Promise<void>;
  /** Writes what is left, once, and ends. */
  close(): Promise<void>;
}

export interface ChatParts {
  session: {
    readonly journal: Journal;
    snapshot(): Snapshot;
    notice(level: 'warning', message: string): void;
  };
  /** The session's folder. */
  folder: string;
  clock: Clock;
  log: Log;
  limits?: ChatLimits;
}

const positionShape = z.object({ session: z.string().optional(), last: z.string().optional() });

/** Writes the transcript of a session from its next fact on. Never throws, never rejects. */
export function startChat({ session, folder, clock, log, limits = chatLimits }: ChatParts): Chat {
  const { journal } = session;
  const file = path.join(folder, chatFile);
  const before = endOf(file);
  const transcript = createTranscript(before === undefined ? undefined : positionIn(folder));
  const waiting: { bytes: Buffer; position: TranscriptPosition }[] = [];
  let units: string[] = [];
  /** What must come before the first text. */
  let prefix = before ?? '';
  let size = sizeOf(file);
  let known = '';
  let lost = 0;
  let partly = false;
  let scheduled = false;
  let writing: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let cancelPatience: (() => void) | undefined;
  let failing = false;
  let broken = false;

  /** The text of this turn becomes bytes: pieces of a stream are joined first. */
  const collected = () => {
    if (units.length === 0) return;
    waiting.push({ bytes: Buffer.from(units.join('')), position: transcript.position });
    units = [];
    let total = waiting.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // The first may be half written.
    while (total > limits.waiting && waiting.length > 2) {
      const [oldest] = waiting.splice(1, 1);
      total -= oldest!.bytes.length;
      lost += oldest!.bytes.length;
    }
  };

  const putAside = async () => {
    const numbers = (await fs.promises.readdir(folder)).flatMap((name) => {
      const [, number] = /^chat\.(\d+)\.md$/.exec(name) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
    const aside = `chat.${Math.max(0, ...numbers) + 1}.md`;
    size = 0;
    // Somebody may have taken it away.
    if (!fs.existsSync(file)) return;
    await fs.promises.rename(file, path.join(folder, aside));
    transcript.newFile();
    waiting.unshift({ bytes: Buffer.from(`${remark(`Before this: ${aside}`)}\n\n`), position: {} });
  };

  const writeAll = async () => {
    collected();
    if (waiting.length === 0) return;
    if (size >= limits.size && transcript.atRest && !partly) await putAside();
    if (lost > 0) {
      const text = `\n\n${remark(`${lost} bytes were given up here because the file could not be written.`)}\n\n`;
      waiting.splice(1, 0, { bytes: Buffer.from(text), position: {} });
      lost = 0;
    }
    makeFolder(folder);
    const handle = await fs.promises.open(file, 'a', 0o600);
    try {
      while (waiting.length > 0) {
        const next = waiting[0]!;
        const { bytesWritten } = await handle.write(next.bytes);
        size += bytesWritten;
        // A full disk may take a part.
        next.bytes = next.bytes.subarray(bytesWritten);
        partly = next.bytes.length > 0;
        if (partly) continue;
        waiting.shift();
        if (next.position.session !== undefined || next.position.last !== undefined)
          known = remember(next.position, known);
      }
    } finally {
      await handle.close();
    }
  };

  /** Small, and written whole; when a crash comes first, messages stand in the transcript twice rather than not at all. */
  const remember = (position: TranscriptPosition, last: string): string => {
    const text = JSON.stringify(position);
    if (text === last) return last;
    const fresh = path.join(folder, `${chatPositionFile}.${process.pid}.new`);
    fs.writeFileSync(fresh, text, { mode: 0o600 });
    fs.renameSync(fresh, path.join(folder, chatPositionFile));
    return text;
  };

  const failed = (error: unknown) => {
    cancelRetry ??= clock.after(limits.retry, () => {
      cancelRetry = undefined;
      void flush();
    });
    if (failing) return;
    failing = true;
    const why = error instanceof Error ? error.message : String(error);
    log.warn({ error: why, file }, 'the transcript could not be written; it is tried again');
    session.notice(
      'warning',
      `The transcript ${file} cannot be written (${why}): free some space or make the file writable; it is tried again every few seconds, and what is said meanwhile is kept.`,
    );
  };

  const flush = async (): Promise<void> => {
    collected();
    if (waiting.length === 0) return writing;
    writing ??= (async () => {
      try {
        // Whoever flushes meanwhile counts on this loop.
        while (waiting.length > 0) await writeAll();
        failing = false;
      } catch (error) {
        failed(error);
      } finally {
        writing = undefined;
      }
    })();
    return writing;
  };

  const told = (fact: Fact) => {
    try {
      const text = transcript.appended(fact, session.snapshot());
      if (!text) return;
      units.push(prefix + text);
      prefix = '';
    } catch (error) {
      // One fact that cannot be shown must not end the session that it tells of.
      if (!broken) log.error({ error, type: fact.type }, 'a fact could not be written to the transcript');
      broken = true;
      return;
    }
    if (scheduled) return;
    if (fact.type === 'message_update') {
      cancelPatience ??= clock.after(limits.patience, written);
      return;
    }
    scheduled = true;
    setImmediate(written);
  };
  const written = () => {
    scheduled = false;
    cancelPatience?.();
    cancelPatience = undefined;
    // While it fails, only the clock tries again: facts may come by the thousand.
    if (cancelRetry) collected();
    else void flush();
  };
  const stop = journal.onAppend(told);

  return {
    flush,
    async close() {
      stop();
      await writing;
      await flush();
      cancelRetry?.();
      cancelRetry = undefined;
      cancelPatience?.();
      cancelPatience = undefined;
    },
  };
}

/** What must stand between an earlier hub's text and ours; undefined when there is no text. */
function endOf(file: string): string | undefined {
  try {
    const tail = tailOf(file, 1_000_000);
    if (tail === '') return undefined;
    // No line of the transcript itself stands in a code fence.
    const closing = closingOf(tail.slice(tail.lastIndexOf(mark) + 1));
    return `${tail.endsWith('\n') ? '' : '\n'}${closing === undefined ? '' : `${closing}\n`}\n`;
  } catch {
    return undefined;
  }
}

function tailOf(file: string, most: number): string {
  const handle = fs.openSync(file, 'r');
  try {
    const { size } = fs.fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, most));
    fs.readSync(handle, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString();
  } finally {
    fs.closeSync(handle);
  }
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function positionIn(folder: string): TranscriptPosition {
  try {
    const text = fs.readFileSync(path.join(folder, chatPositionFile), 'utf8');
    const { session, last } = positionShape.parse(JSON.parse(text));
    return { ...(session !== undefined && { session }), ...(last !== undefined && { last }) };
  } catch {
    return {};
  }
}
