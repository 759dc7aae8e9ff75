// What each file was before the agent's tools wrote it, as calls come and go. Guarantees: files are looked at only where a tool call
// names them; what others change between calls is not taken for the agent's. An agent does not wait for us: where it has
// written before we look, an earlier look or its own account of the call says what was there, else that is said to be unknown.
// Must not know: who asks for changes.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fact } from '../protocol/facts.ts';
import type { ToolResult } from '../protocol/records.ts';
import { isResult, onlyReads, undone, writtenPath } from '../session/files.ts';
import type { Log } from '../session/ports.ts';
import { withoutAgent } from '../session/three-way.ts';
import { type Book, keyOf, mostFiles, type Written } from './changes-book.ts';
import { createEarlyLooks } from './early-looks.ts';
import { type Content, type Look, type Originals, sameContent } from './originals.ts';
import { commonEncoding, textOf } from './texts.ts';

export interface Tracking {
  take(fact: Fact): void;
  /** Whether a tool call that writes this file is going on. */
  inFlight(key: string): boolean;
}

type Args = Record<string, unknown>;
interface Flight {
  key: string;
  args: Args;
  /** What was seen of the file before and at the beginning of the call, the newest first. */
  looks: Look[];
  /** As an earlier call left it; undefined for the first. */
  left: Look | undefined;
  /** No other call was writing it. */
  alone: boolean;
}

export function createTracking(parts: {
  book: Book;
  originals: Originals;
  /** From the path in a call to the file. */
  resolve(path: string): string;
  log: Log;
}): Tracking {
  const { book, originals, resolve, log } = parts;
  const early = createEarlyLooks(originals.look, (named) => keyOf(resolve(named)));
  const flights = new Map<string, Flight>();
  /** For calls that name no file: files that stood as the agent left them when the call began. */
  const unnamed = new Map<string, string[]>();
  const marks = new Map<string, string>();
  const inFlight = (key: string) => [...flights.values()].some((flight) => flight.key === key);

  const leftAs = (key: string, entry: Written, { content, bytes }: Look) => {
    entry.written = originals.keep(content, bytes);
    marks.set(key, markOf(key));
    early.written(key);
    if (inFlight(key)) return;
    entry.open = undefined;
    if (sameContent(entry.original, entry.written)) book.files.delete(key);
  };
  const asLeft = (key: string, { written }: Written): boolean => {
    const mark = markOf(key);
    if (marks.get(key) === mark) return true;
    const same = sameContent(originals.look(key).content, written);
    if (same) marks.set(key, mark);
    return same;
  };

  /** Since the agent's last call somebody else has changed the file: that is no change of the agent. */
  const othersTaken = (entry: Written, before: Look) => {
    if (sameContent(entry.written, before.content)) return;
    // Whoever took the file away: what it was can still be put back.
    if (before.content.kind !== 'absent') {
      const bytes = [originals.bytes(entry.original), originals.bytes(entry.written), before.bytes] as const;
      const known = entry.original.kind !== 'unkept' && entry.written.kind !== 'unkept' && before.bytes;
      const encoding = known && commonEncoding(bytes);
      if (!encoding) entry.original = originals.keep(before.content, before.bytes);
      else {
        const [original, written, current] = bytes.map((it) => textOf(it, encoding)) as [
          string,
          string,
          string,
        ];
        const { base } = withoutAgent(original, written, current, { keepMixed: true });
        if (entry.original.kind !== 'absent' || base !== '')
          entry.original = kept(Buffer.from(base, encoding), before.content);
      }
    }
    entry.written = originals.keep(before.content, before.bytes);
  };
  const known = (content: Content): Look => ({ content, bytes: originals.bytes(content) });
  const kept = (bytes: Buffer, like: Content) => originals.keep(originals.made(bytes, like), bytes);
  /** What was there before a call by its own account of itself. */
  const toldBefore = (args: Args, result: ToolResult, after: Look): Look | undefined => {
    const bytes = reconstructed(args, result, after);
    return bytes && { content: originals.made(bytes, after.content), bytes };
  };

  const begin = (id: string, toolName: string, args: Args) => {
    const named = writtenPath(toolName, args);
    if (named === undefined) {
      if (onlyReads(toolName)) return;
      unnamed.set(
        id,
        [...book.files].filter(([key, entry]) => asLeft(key, entry)).map(([key]) => key),
      );
      return;
    }
    const file = resolve(named);
    const key = keyOf(file);
    const now = originals.look(key);
    const entry = book.files.get(key);
    const looks = [now, ...early.before(id, key)];
    if (!entry && book.files.size >= mostFiles) {
      log.warn({ most: mostFiles }, 'too many files have been changed to keep track of one more');
      return;
    }
    const left = entry && known(entry.written);
    const alone = !inFlight(key);
    // For the next hub, should this one not see the end.
    const { content, bytes } = lookBefore(args, looks, left) ?? left ?? now;
    const seen = originals.keep(content, bytes);
    if (!entry) book.files.set(key, { path: file, original: seen, written: seen, open: seen });
    else if (alone) entry.open = seen;
    flights.set(id, { key, args, looks, left, alone });
    book.save();
  };

  const end = (id: string, result: ToolResult | undefined) => {
    unnamedEnded(id);
    const flight = flights.get(id);
    flights.delete(id);
    const entry = flight && book.files.get(flight.key);
    if (!flight || !entry) return;
    const now = originals.look(flight.key);
    const { args, looks, left, alone } = flight;
    if (alone && entry.open) {
      const before = result
        ? (lookBefore(args, looks, left, now) ?? toldBefore(args, result, now) ?? left ?? unseen)
        : known(entry.open);
      if (!left) entry.original = entry.written = originals.keep(before.content, before.bytes);
      else othersTaken(entry, before);
    }
    leftAs(flight.key, entry, now);
    book.save();
  };
  /** What changed while a call without a path ran is taken for its work, in files that stood as the agent left them. */
  const unnamedEnded = (id: string) => {
    const keys = unnamed.get(id) ?? [];
    unnamed.delete(id);
    const touched = keys.filter((key) => {
      const entry = book.files.get(key);
      if (!entry || inFlight(key) || asLeft(key, entry)) return false;
      leftAs(key, entry, originals.look(key));
      return true;
    });
    if (touched.length > 0) book.save();
  };

  // The hub before died in the middle of a call: what stands there now is taken for the call's work.
  for (const [key, entry] of [...book.files]) {
    if (!entry.open) continue;
    othersTaken(entry, known(entry.open));
    leftAs(key, entry, originals.look(key));
  }

  return {
    inFlight,
    take(fact) {
      early.take(fact);
      switch (fact.type) {
        case 'tool_execution_start':
          return begin(fact.toolCallId, fact.toolName, fact.args);
        case 'tool_execution_end':
          return end(fact.toolCallId, fact.isError ? undefined : fact.result);
        case 'agent_settled':
        case 'agent_exited':
          for (const id of [...flights.keys(), ...unnamed.keys()]) end(id, undefined);
          early.clear();
          return;
      }
    },
  };
}

const unseen: Look = {
  content: { kind: 'unkept', why: 'the agent had written it before it could be read' },
};

/**
 * The newest of the looks (newest first) that is what was there before the call, and not its work or a half of that. `left` is
 * what the call before it left, `after` what it left itself when it has ended.
 */
function lookBefore(args: Args, looks: readonly Look[], left?: Look, after?: Look): Look | undefined {
  const content = typeof args.content === 'string' ? Buffer.from(args.content) : undefined;
  return looks.find(({ content: seen, bytes, age }, index) => {
    if (!bytes || age === undefined || age > lag || (left && sameContent(seen, left.content))) return true;
    if ((after && sameContent(seen, after.content)) || content?.equals(bytes)) return false;
    if (age < pause && isHalf(bytes, content ?? after?.bytes)) return false;
    const earlier = [...looks.slice(index + 1), ...(left ? [left] : [])];
    return !earlier.some((older) => isOutcome(args, older, looks[index]!));
  });
}

/** Milliseconds: a hub has heard by then what an agent did, be the machine ever so busy. */
const lag = 10_000;
/** Milliseconds: nobody stops as long as that in the middle of a write. */
const pause = 2000;
/** A file that is being written has nothing in it yet, or the first pages of what will be in it. */
const isHalf = (bytes: Buffer, whole: Buffer | undefined): boolean =>
  bytes.length === 0 ||
  (whole !== undefined &&
    bytes.length % page === 0 &&
    bytes.length < whole.length &&
    whole.subarray(0, bytes.length).equals(bytes));
const page = 4096;

const isOutcome = (args: Args, before: Look, after: Look): boolean => {
  const encoding = commonEncoding([before.bytes, after.bytes]);
  return (
    encoding !== undefined &&
    after.bytes !== undefined &&
    !sameContent(before.content, after.content) &&
    isResult(args, before.bytes && textOf(before.bytes, encoding), textOf(after.bytes, encoding))
  );
};

function reconstructed(args: Args, result: ToolResult, { bytes }: Look): Buffer | undefined {
  const encoding = commonEncoding([bytes]);
  const text = bytes && encoding && undone(args, result, textOf(bytes, encoding));
  return text === undefined || encoding === undefined ? undefined : Buffer.from(text, encoding);
}

/** What tells without reading that a file has changed. */
function markOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : '';
}

/** The file that an agent means by a path: its spelling of home, mentions and spaces, else below the workspace. */
export function fileOf(workspace: string, home: string, named: string): string {
  const plain = named.replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ').replace(/^@/, '');
  if (plain === '~' || plain.startsWith('~/')) return path.join(home, plain.slice(1));
  if (plain.startsWith('file://')) {
    try {
      return fileURLToPath(plain);
    } catch {
      // No such address: a name like any other.
    }
  }
  return path.resolve(workspace, plain);
}
