// Waits for files that another process writes. Guarantees that nothing is missed between looking and waiting, and that no clock
// is asked but the kernel's events. Must not know what is in the files.
import fs from 'node:fs';
import path from 'node:path';

/** Settles with the first value of `look` that is not undefined; looks again whenever something in the folder changes. */
export function lookedFor<T>(folder: string, look: () => T | undefined, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const watcher = fs.watch(folder, () => again());
    const end = () => {
      watcher.close();
      signal?.removeEventListener('abort', aborted);
    };
    const aborted = () => {
      end();
      reject(signal?.reason);
    };
    const again = () => {
      try {
        const found = look();
        if (found === undefined) return;
        end();
        resolve(found);
      } catch (error) {
        end();
        reject(error);
      }
    };
    watcher.on('error', () => again());
    signal?.addEventListener('abort', aborted);
    if (signal?.aborted) aborted();
    else again();
  });
}

/** The text of a file once it is there; it must have been renamed into its place, or be empty. */
export const textOf = (file: string, signal?: AbortSignal): Promise<string> =>
  lookedFor(
    path.dirname(file),
    () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined),
    signal,
  );
