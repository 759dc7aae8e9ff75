// What each file was before the agent's tools wrote it, as calls come and go. Guarantees: files are looked at only where a tool call
// names them; what others change between calls is not taken for the agent's. An agent does not wait for us: where it has
// written before we look, an earlier look or its own account of the call says what was there, else that is said to be unknown.
// Must not know: who asks for changes.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fact } from '../protocol/facts.ts';
import { onlyReads, writtenPath } from '../session/files.ts';
import type { Log } from '../session/ports.ts';
import { withoutAgent } from '../session/three-way.ts';
import { beforeCalls, type Call, lookBefore, toldBefore, unseen } from './before-calls.ts';
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
/** The calls of a file since it was certain how it stood: an agent that is faster than we are may have written what it tells later. */
interface Story {
  /** How it stood; undefined: the agent had not written it. */
  base: { original: Look; written: Look } | undefined;
  /** Those that have ended. */
  calls: Call[];
  /** What was seen when the last of them had ended. */
  last?: Look;
  /** What was made of it the last time; when something else is in the book, the story is over. Absent: nothing yet. */
  told?: Written;
}
const most = {
  calls: 32,
  /** Bytes of the file, times calls: each end goes through all of them, and each has its own looks. */
  work: 10_000_000,
  /** The same, of all stories. */
  all: 30_000_000,
  /** Calls without a path that are coming. */
  announced: 16,
};

export function createTracking(parts: {
  book: Book;
  originals: Originals;
  /** From the path in a call to the file. */
  resolve(path: string): string;
  log: Log;
}): Tracking {
  const { book, originals, resolve, log } = parts;
  const early = createEarlyLooks(originals.look, (named) => keyOf(resolve(named)));
  const flights = new Map<string, { key: string; call: Call }>();
  const stories = new Map<string, Story>();
  /** For calls that name no file: files that stood as the agent left them when the call began. */
  const unnamed = new Map<string, Set<string>>();
  const marks = new Map<string, string>();
  const inFlight = (key: string) => [...flights.values()].some((flight) => flight.key === key);

  const leftAs = (key: string, entry: Written, { content, bytes }: Look) => {
    entry.written = originals.keep(content, bytes);
    marks.set(key, markOf(key));
    early.written(key);
    entry.open = inFlight(key) ? entry.written : undefined;
    if (entry.open) return;
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
  const keep = ({ content, bytes }: Look) => originals.keep(content, bytes);

  const storyOf = (key: string, entry: Written | undefined): Story => {
    const going = stories.get(key);
    const { original, written } = going?.told ?? {};
    if (going && entry && entry.original === original && entry.written === written) return going;
    const base = entry && { original: known(entry.original), written: known(entry.written) };
    const begun: Story = { base, calls: [], ...(entry && { told: entry }) };
    stories.delete(key);
    stories.set(key, begun);
    return begun;
  };
  /** Judges all of it anew, since what a call tells may have been there before it was told. */
  const judge = (story: Story, entry: Written, now: Look): { inStep: boolean } => {
    const { base, calls } = story;
    const { before, inStep } = beforeCalls(calls, now, base?.written, originals.made);
    if (!base) entry.original = entry.written = keep(before ?? unseen);
    else {
      entry.original = keep(base.original);
      entry.written = keep(base.written);
      othersTaken(entry, before ?? base.written);
    }
    return { inStep };
  };
  const ended = (key: string, story: Story, inStep: boolean) => {
    const weight = ({ calls, last }: Story) => calls.length * Math.max(last?.bytes?.length ?? 0, 10_000);
    const tooMuch = story.calls.length >= most.calls || weight(story) > most.work;
    if (!inFlight(key) && (inStep || tooMuch || !book.files.has(key))) stories.delete(key);
    let all = [...stories.values()].reduce((sum, it) => sum + weight(it), 0);
    for (const [oldest, it] of stories) {
      if (all <= most.all) return;
      if (inFlight(oldest)) continue;
      stories.delete(oldest);
      all -= weight(it);
    }
  };

  /** A call without a path is coming, or begins: it may change whatever stands as the agent left it. */
  const announced = (id: string) => {
    const stand = [...book.files].filter(([key, entry]) => asLeft(key, entry) || isYoung(key));
    unnamed.set(id, new Set([...(unnamed.get(id) ?? []), ...stand.map(([key]) => key)]));
  };
  const begin = (id: string, toolName: string, args: Args) => {
    const named = writtenPath(toolName, args);
    if (named === undefined) {
      if (onlyReads(toolName)) return;
      announced(id);
      return;
    }
    const file = resolve(named);
    const key = keyOf(file);
    const now = originals.look(key);
    const entry = book.files.get(key);
    const earlier = early.before(id, key);
    if (!entry && book.files.size >= mostFiles) {
      log.warn({ most: mostFiles }, 'too many files have been changed to keep track of one more');
      return;
    }
    const alone = !inFlight(key);
    const story = storyOf(key, entry);
    // For the next hub, should this one not see the end.
    const left = entry && known(entry.written);
    const looks = [now, ...earlier, ...(story.last ? [story.last] : [])];
    const call = { args, looks, alone };
    const seen = keep(toldBefore(call, now, originals.made) ?? lookBefore(call, left) ?? left ?? now);
    if (!entry) book.files.set(key, { path: file, original: seen, written: seen, open: seen });
    else if (alone) entry.open = seen;
    story.told = { ...book.files.get(key)! };
    flights.set(id, { key, call });
    book.save();
  };

  const end = (id: string, { result, failed = false }: Pick<Call, 'result' | 'failed'> = {}) => {
    unnamedEnded(id);
    const flight = flights.get(id);
    flights.delete(id);
    const entry = flight && book.files.get(flight.key);
    if (!flight || !entry) return;
    const { key, call } = flight;
    const now = originals.look(key);
    const story = storyOf(key, entry);
    story.calls.push({ ...call, result, failed });
    const { inStep } = judge(story, entry, now);
    leftAs(key, entry, now);
    story.told = { ...entry };
    story.last = now;
    ended(key, story, inStep);
    book.save();
  };
  /** What changed while a call without a path ran is taken for its work, in files that stood as the agent left them. */
  const unnamedEnded = (id: string) => {
    const keys = unnamed.get(id) ?? [];
    unnamed.delete(id);
    const touched = [...keys].filter((key) => {
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
        case 'message_update': {
          const { assistantMessageEvent: event } = fact;
          if (event.type !== 'toolcall_end' || unnamed.size >= most.announced) return;
          const { id, name, arguments: args } = event.toolCall;
          if (typeof id === 'string' && writtenPath(name, args) === undefined && !onlyReads(name))
            announced(id);
          return;
        }
        case 'tool_execution_start':
          return begin(fact.toolCallId, fact.toolName, fact.args);
        case 'tool_execution_end':
          return end(fact.toolCallId, fact.isError ? { failed: true } : fact);
        case 'agent_settled':
        case 'agent_exited':
          for (const id of [...flights.keys(), ...unnamed.keys()]) end(id);
          early.clear();
          stories.clear();
          return;
      }
    },
  };
}

/** Whether a file has only just been changed: by whom we hear now, who is ahead of what we hear. */
function isYoung(file: string): boolean {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < 300;
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
