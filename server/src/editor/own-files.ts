// Files of the server's own in a session's folder. Guarantees: for the user alone; one that cannot be written is told with its cause
// and its cure. Must not know: what stands in them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { AtomicError } from '../protocol/errors.ts';

/** The file in which a person writes a prompt. */
export const promptName = 'prompt.md';

export const isPromptFile = (file: string): boolean => path.basename(file) === promptName;

/** The error of a file that could not be written. */
export const unwritten = (file: string, error: unknown): AtomicError =>
  new AtomicError(
    'FileFailed',
    `${file} could not be written (${(error as Error).message}): see to its folder and its disk, then try again.`,
  );

/** Creates a file; one that is there stays as it is. Throws `FileFailed`. */
export function created(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritten(file, error);
  }
}
