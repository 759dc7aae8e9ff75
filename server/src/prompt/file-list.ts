// The files of a folder, for completion. Guarantees: nobody waits longer than wished, whatever the size of the tree; walked in
// slices and kept for a while; bounded; links are never followed out of the folder. Must not know: what is looked for.
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Log } from '../session/ports.ts';
import { isIgnored, type Rules, ruleFiles, rulesAbove, rulesOf } from './ignored.ts';

export interface FileListing {
  /** Relative paths with `/`; those of folders end in one. */
  names: readonly string[];
  /** Everything is there; false while the walk is going on, and where there is more than fits. */
  whole: boolean;
}

export interface FileList {
  /** What is known after `wait` milliseconds at most. */
  list(wait: number): Promise<FileListing>;
  /** Files may have come or gone. */
  stale(): void;
  close(): void;
}

export interface FileListParts {
  /** Absolute. */
  folder: string;
  clock: Clock;
  log: Log;
  limit?: number;
}

/** Names that are kept; folders that are read side by side; names that are looked at in one slice. */
const most = 300_000;
const sideBySide = 16;
const slice = 500;
/** Milliseconds that a walk is good for. */
const fresh = 15_000;
/** Never of interest, and large. */
const never = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules']);

export function createFileList({ folder, clock, log, limit = most }: FileListParts): FileList {
  let known: FileListing | undefined;
  let walking: { names: string[]; done: Promise<void> } | undefined;
  let walked = 0;
  let outdated = false;
  let abort = new AbortController();

  const start = () => {
    if (walking || (known && !outdated && clock.now() - walked < fresh)) return;
    outdated = false;
    abort = new AbortController();
    const names: string[] = [];
    const done = walk(folder, names, limit, abort.signal)
      .then((whole) => {
        if (abort.signal.aborted) return;
        known = { names, whole };
        walked = clock.now();
      })
      .catch((error: unknown) => log.info({ error: String(error), folder }, 'a folder could not be listed'))
      .finally(() => {
        walking = undefined;
      });
    walking = { names, done };
  };
  return {
    async list(wait) {
      start();
      // An old list at once is better than a new one later.
      if (!known && walking) {
        let cancel = () => {};
        await Promise.race([
          walking.done,
          new Promise<void>((resolve) => {
            cancel = clock.after(wait, resolve);
          }),
        ]);
        cancel();
      }
      return known ?? { names: walking?.names.slice() ?? [], whole: false };
    },
    stale() {
      outdated = true;
    },
    close: () => abort.abort(),
  };
}

/** Adds the names below a folder, the shallow ones first; false when there are more than `limit`. */
async function walk(root: string, names: string[], limit: number, signal: AbortSignal): Promise<boolean> {
  const real = await realpath(root);
  let level: { folder: string; prefix: string; rules: Rules }[] = [
    { folder: root, prefix: '', rules: await rulesAbove(root) },
  ];
  while (level.length > 0) {
    const next: typeof level = [];
    for (let n = 0; n < level.length; n += sideBySide) {
      if (signal.aborted) return false;
      const read = await Promise.all(
        level.slice(n, n + sideBySide).map(async (at) => ({ ...at, entries: await entriesOf(at.folder) })),
      );
      for (const { folder, prefix, rules: above, entries } of read) {
        const own = ruleFiles.filter((name) =>
          entries.some((entry) => entry.name === name && entry.isFile()),
        );
        const rules = own.length > 0 ? await rulesOf(folder, own, above) : above;
        for (const [count, entry] of entries.entries()) {
          if (count % slice === slice - 1) await turn();
          if (names.length >= limit) return false;
          const kind = await kindOf(entry, folder, real);
          const file = path.join(folder, entry.name);
          if (kind === undefined || never.has(entry.name) || isIgnored(file, kind === 'folder', rules))
            continue;
          if (kind === 'folder') next.push({ folder: file, prefix: `${prefix}${entry.name}/`, rules });
          names.push(`${prefix}${entry.name}${kind === 'folder' ? '/' : ''}`);
        }
      }
      await turn();
    }
    level = next;
  }
  return true;
}

/** A link counts as the file that it leads to within the folder; one to a folder, which may lead round, is left out. */
async function kindOf(entry: Dirent, folder: string, root: string): Promise<'file' | 'folder' | undefined> {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (!entry.isSymbolicLink()) return undefined;
  try {
    const target = await realpath(path.join(folder, entry.name));
    const inside = path.relative(root, target);
    if (inside.startsWith('..') || path.isAbsolute(inside)) return undefined;
    const [found] = (await entriesOf(path.dirname(target))).filter(
      ({ name }) => name === path.basename(target),
    );
    return found?.isFile() ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

const entriesOf = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).then(
    (entries) => entries.sort((a, b) => (a.name < b.name ? -1 : 1)),
    () => [],
  );

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
