// What a reading command answered, for a person to read: a Markdown file that is opened. Guarantees: for the user alone, bounded in
// size; one file for each command, so that what is shown is the newest. Must not know: who asked, and why nobody else shows it.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fenced } from '../prompt/reference.ts';
import type { CommandRow } from '../protocol/commands.ts';
import { unwritten } from './own-files.ts';
import type { Show } from './show.ts';

export interface ResultParts {
  /** The session's folder; attaches if need be. */
  folder(): Promise<string>;
  show: Show;
  /** The file is there: an editor that has it open already may show what was in it before. */
  wrote(file: string): void;
}

/** UTF-16 units of one answer. */
const most = 1_000_000;

/** Writes and shows what a command answered. Rejects with what the parts reject with, and `FileFailed`. */
export async function showResult(
  row: Pick<CommandRow, 'id' | 'name' | 'title'>,
  data: unknown,
  { folder, show, wrote }: ResultParts,
): Promise<void> {
  const place = path.join(await folder(), 'results');
  const file = path.join(place, `${row.name.replaceAll('_', '-')}.md`);
  try {
    await mkdir(place, { recursive: true, mode: 0o700 });
    await writeFile(file, resultText(row, data), { mode: 0o600 });
  } catch (error) {
    throw unwritten(file, error);
  }
  await show(file, row.title);
  wrote(file);
}

/** A text as it is, anything else as JSON. */
function resultText({ id, title }: Pick<CommandRow, 'id' | 'title'>, data: unknown): string {
  const values = Object.values((data ?? {}) as object);
  const only = values.length === 1 && typeof values[0] === 'string' ? values[0] : undefined;
  const whole = only ?? JSON.stringify(data ?? null, null, 2);
  const cut = whole.slice(0, most);
  const left = whole.length - cut.length;
  const body = only === undefined ? fenced(cut, 'json') : cut;
  return `# ${title} (${id})\n\n${body}\n${left > 0 ? `\n${left} more characters are left out.\n` : ''}`;
}
