// The changes that the agent made in files: listed, taken back, accepted. Guarantees: a file is written only where exactly the
// agent's change goes and everything else stays; what cannot be told apart is refused and named; answers are bounded. Must
// not know: editors, how a call is noticed (tracking.ts).
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FileChange } from '../protocol/changes.ts';
import { AtomicError } from '../protocol/errors.ts';
import { type Difference, difference, unified, withoutHunk } from '../session/hunks.ts';
import type { Journal } from '../session/journal.ts';
import type { FileChanges, Log } from '../session/ports.ts';
import { type WithoutAgent, withoutAgent } from '../session/three-way.ts';
import { keyOf, openBook, type Written } from './changes-book.ts';
import { createOriginals, type OriginalsLimits, originalsLimits, sameContent } from './originals.ts';
import { commonEncoding, type Encoding, textOf } from './texts.ts';
import { createTracking, fileOf } from './tracking.ts';

export interface Changes extends FileChanges {
  /** Notices from now on what tools write. */
  follow(journal: Journal): void;
}

export interface ChangesParts {
  /** The session's folder. */
  folder: string;
  workspace: string;
  /** What `~` means to the agent. */
  home?: string | undefined;
  log: Log;
  limits?: OriginalsLimits;
}

/** UTF-16 units of diffs in an answer: of one file in a list, of a file that was asked for, of all. */
export const shownUnits = { listed: 200_000, asked: 2_000_000, all: 4_000_000 };

/** What a file is and was; undefined: nothing of the agent is in it any more. */
interface View {
  status: FileChange['status'];
  /** Both as texts, where all that has to be compared is text. */
  text?: { base: string; current: string; encoding: Encoding; mixed: WithoutAgent['mixed'] };
  /** Why there are no texts. */
  note?: string;
  /** Why the file cannot be put back. */
  stuck?: string;
}

export function createChanges({
  folder,
  workspace,
  home,
  log,
  limits = originalsLimits,
}: ChangesParts): Changes {
  const originals = createOriginals(folder, limits);
  const book = openBook(folder, originals, log);
  const resolve = (named: string) => fileOf(workspace, home ?? os.homedir(), named);
  const tracking = createTracking({ book, originals, resolve, log });

  const viewOf = (key: string, { original, written }: Written): View | undefined => {
    const { content: now, bytes: current } = originals.look(key);
    if (original.kind !== 'unkept' && sameContent(original, now)) return undefined;
    const status = now.kind === 'absent' ? 'deleted' : original.kind === 'absent' ? 'added' : 'modified';
    if (original.kind === 'unkept')
      return {
        status,
        note: `What it was is not kept: ${original.why}.`,
        stuck: `what it was is not kept: ${original.why}`,
      };
    if (now.kind === 'unkept') return { status, note: `It cannot be compared: ${now.why}.`, stuck: now.why };
    const before = originals.bytes(original);
    if (original.kind === 'bytes' && !before)
      return { status, note: 'What it was is lost.', stuck: 'the copy of what it was is gone' };
    // Where it was taken away, whoever did it, there is nothing of others to keep.
    const left = now.kind === 'absent' || sameContent(written, now) ? current : originals.bytes(written);
    const unknown = written.kind === 'unkept' || (written.kind === 'bytes' && !left && current !== undefined);
    const encoding = commonEncoding([before, left, current]);
    if (encoding === undefined || (unknown && !sameContent(written, now)))
      return {
        status,
        note: encoding === undefined ? 'It is not text.' : 'What the agent left is not kept.',
        ...(now.kind !== 'absent' &&
          !sameContent(written, now) && { stuck: 'somebody else has changed it after the agent' }),
      };
    const texts = [before, left, current].map((bytes) => textOf(bytes, encoding)) as [string, string, string];
    const { base, mixed } = withoutAgent(...texts);
    // An empty file that the agent made is a change without a line.
    if (base === texts[2] && now.kind !== 'absent' && (original.kind !== 'absent' || base !== ''))
      return undefined;
    return { status, text: { base, current: texts[2], encoding, mixed } };
  };

  const found = (named: string): [key: string, entry: Written, view: View] => {
    const key = keyOf(resolve(named));
    const entry = book.files.get(key);
    const view = entry && viewOf(key, entry);
    if (!entry || !view)
      throw new AtomicError(
        'RevertRefused',
        `The agent has changed nothing in ${named} that is still there: atomic.listChanges says which files it changed.`,
        { path: named },
      );
    if (tracking.inFlight(key))
      throw refused(entry.path, 'the agent is writing it just now', 'try again when it has finished');
    return [key, entry, view];
  };

  const shown = ({ path: file }: Written, { status, text, note }: View, most: number): FileChange => {
    const { hunks, added, removed }: Difference = text
      ? difference(text.base, text.current, text.mixed)
      : { hunks: [], added: 0, removed: 0 };
    const name = relative(workspace, file);
    const diff = unified(
      status === 'added' ? undefined : name,
      status === 'deleted' ? undefined : name,
      hunks,
    );
    const fits = diff.length <= most;
    const why = fits ? note : `Its diff is too long to be shown here (${diff.length} characters).`;
    return {
      path: file,
      status,
      added,
      removed,
      diff: fits ? diff : '',
      hunks: fits ? hunks : [],
      ...(why !== undefined && { note: why }),
    };
  };

  const written = (entry: Written, key: string, bytes: Buffer | undefined, mode?: number) => {
    try {
      if (bytes === undefined) return fs.rmSync(key, { force: true });
      fs.mkdirSync(path.dirname(key), { recursive: true });
      // In place: links, owner and rights stay as they are.
      fs.writeFileSync(key, bytes, { ...(mode !== undefined && { mode }) });
    } catch (error) {
      throw new AtomicError(
        'FileFailed',
        `${entry.path} could not be put back (${(error as Error).message}): make it writable and try again.`,
        { path: entry.path },
      );
    }
  };

  const wholeFile = (key: string, entry: Written, { text, stuck, status }: View) => {
    if (stuck !== undefined)
      throw refused(entry.path, stuck, 'put it back by hand, or accept it with atomic.acceptChanges');
    if (text && text.mixed.length > 0)
      throw refused(
        entry.path,
        `somebody else has changed the same lines after the agent (${linesIn(text.mixed)})`,
        'take the other hunks back one by one, and those lines by hand',
      );
    const { original } = entry;
    const mode = original.kind === 'bytes' ? original.mode : undefined;
    if (status === 'deleted' || !text) written(entry, key, originals.bytes(original), mode);
    else {
      const gone = original.kind === 'absent' && text.base === '';
      written(entry, key, gone ? undefined : Buffer.from(text.base, text.encoding));
    }
    book.files.delete(key);
  };

  const oneHunk = (key: string, entry: Written, view: View, index: number, header: string | undefined) => {
    if (!view.text)
      throw refused(
        entry.path,
        view.stuck ?? 'it has no hunks',
        'take the whole file back, or put it back by hand',
      );
    const { base, current, encoding, mixed } = view.text;
    const { hunks } = difference(base, current, mixed);
    const hunk = hunks[index];
    if (!hunk || (header !== undefined && header !== hunk.header))
      throw refused(
        entry.path,
        `it has no ${hunk ? `hunk ${header}` : `hunk ${index}`} now`,
        `it has ${hunks.length}, counted from 0: list the changes again`,
      );
    if (hunk.mixed)
      throw refused(
        entry.path,
        'somebody else has changed the same lines after the agent',
        'take them back by hand',
      );
    const next = withoutHunk(base, current, hunk);
    const gone = entry.original.kind === 'absent' && next === '';
    const left = textOf(originals.bytes(entry.written), encoding);
    written(entry, key, gone ? undefined : Buffer.from(next, encoding), modeOf(entry));
    if (next === base || gone) {
      book.files.delete(key);
      return;
    }
    // As if the agent had never made this change, so that what others changed is still told apart.
    const without = withoutAgent(next, current, left);
    if (without.mixed.length === 0) entry.written = kept(Buffer.from(without.base, encoding), entry);
    else {
      entry.original = kept(Buffer.from(base, encoding), entry);
      entry.written = kept(Buffer.from(next, encoding), entry);
    }
  };
  const kept = (bytes: Buffer, { original, written: left }: Written) =>
    originals.keep(originals.made(bytes, original.kind === 'bytes' ? original : left), bytes);

  return {
    follow(journal) {
      journal.onAppend((fact) => {
        try {
          tracking.take(fact);
        } catch (error) {
          log.error({ error, type: fact.type }, 'what a tool changes could not be kept track of');
        }
      });
    },
    async list(named) {
      const wanted = named === undefined ? undefined : keyOf(resolve(named));
      let left = shownUnits.all;
      const files: FileChange[] = [];
      for (const [key, entry] of [...book.files]) {
        if (wanted !== undefined && key !== wanted) continue;
        // There may be thousands, and others wait for the hub.
        await new Promise(setImmediate);
        const view = viewOf(key, entry);
        if (!view) continue;
        const most = Math.min(left, named === undefined ? shownUnits.listed : shownUnits.asked);
        const change = shown(entry, view, most);
        left -= change.diff.length;
        files.push(change);
      }
      return { files };
    },
    async revert({ path: named, hunk, header }) {
      const [key, entry, view] = found(named);
      if (hunk === undefined) wholeFile(key, entry, view);
      else oneHunk(key, entry, view, hunk, header);
      book.save();
      return { path: entry.path };
    },
    async accept(named) {
      // What the agent is writing just now stays on the list.
      const chosen =
        named === undefined
          ? [...book.files].filter(([key]) => !tracking.inFlight(key))
          : [found(named).slice(0, 2) as [string, Written]];
      for (const [key] of chosen) book.files.delete(key);
      book.save();
      return { paths: chosen.map(([, { path }]) => path) };
    },
  };
}

const modeOf = ({ original }: Written): number | undefined =>
  original.kind === 'bytes' ? original.mode : undefined;

const refused = (file: string, why: string, cure: string): AtomicError =>
  new AtomicError('RevertRefused', `${file} was left as it is, because ${why}: ${cure}.`, { path: file });

const linesIn = (ranges: WithoutAgent['mixed']): string => {
  const [start, end] = ranges[0]!;
  const more = ranges.length > 1 ? ` and ${ranges.length - 1} more places` : '';
  return end - start > 1 ? `lines ${start + 1} to ${end}${more}` : `line ${start + 1}${more}`;
};

/** How a diff names a file: below the workspace where it lies in it. */
function relative(workspace: string, file: string): string {
  const inside = path.relative(workspace, file);
  return inside === '' || inside.startsWith('..') || path.isAbsolute(inside)
    ? file
    : inside.replaceAll(path.sep, '/');
}
