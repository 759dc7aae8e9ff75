// `changes.diff`: everything that the agent changed in files, for reading. Guarantees: written for the user alone, in the session's
// folder; what cannot be shown as a diff is named in it. Must not know: how changes are found.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FileChange } from '../protocol/changes.ts';
import { unwritten } from './own-files.ts';
import type { Show } from './show.ts';

export interface ChangesParts {
  /** The session's folder; attaches if need be. */
  folder(): Promise<string>;
  list(): Promise<{ files: FileChange[] }>;
  show: Show;
  /** The file is there: an editor that has it open already may show what was in it before. */
  wrote(file: string): void;
  /** Tells the person. */
  tell(sentence: string): void;
}

/** Writes and shows the diff. Rejects with what the parts reject with, and `FileFailed`. */
export async function showChanges({ folder, list, show, wrote, tell }: ChangesParts): Promise<void> {
  const { files } = await list();
  if (files.length === 0) return tell('The agent has changed no file in this session.');
  const file = path.join(await folder(), 'changes.diff');
  try {
    await writeFile(file, diffOf(files), { mode: 0o600 });
  } catch (error) {
    throw unwritten(file, error);
  }
  await show(file, 'What the agent changed');
  wrote(file);
}

/** One unified diff; lines before the first file's are none to programs that read diffs. */
function diffOf(files: readonly FileChange[]): string {
  const sum = (key: 'added' | 'removed') => files.reduce((total, file) => total + file[key], 0);
  const head = [
    `${files.length === 1 ? 'One file' : `${files.length} files`} changed by the agent, +${sum('added')} −${sum('removed')}`,
    '',
    ...files.map(
      ({ path: name, status, added, removed, note }) =>
        `  ${status}  ${name}  +${added} −${removed}${note ? `  (${note})` : ''}`,
    ),
    '',
    'atomic.revertFile takes a file back, atomic.acceptChanges accepts what is here.',
  ];
  return `${head.join('\n')}\n\n${files.map(({ diff }) => diff).join('\n')}`;
}
