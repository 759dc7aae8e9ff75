// The files of views on disk. Guarantees: for the user alone; those of editors that are gone go. Must not know: what a view shows.
import fs from 'node:fs';
import path from 'node:path';
import { unwritten } from './own-files.ts';

/** Writes a view whole. Throws `FileFailed`. */
export function put(file: string, text: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw unwritten(file, error);
  }
}

/** Removes the views of servers that do not live: a view's name ends with the id of its process. */
export function swept(folder: string, own: { pid: number; isAlive(pid: number): boolean }): void {
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const pid = Number(/-(\d+)\.md$/.exec(name)?.[1]);
    if (pid > 0 && pid !== own.pid && !own.isAlive(pid)) fs.rmSync(path.join(folder, name), { force: true });
  }
}

/** The real path of a folder; the path itself where there is none. */
export function real(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}
