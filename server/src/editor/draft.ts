// Text that is put into the prompt file for the person to go on with. Guarantees: what stands there stays; nothing is sent by it;
// where the editor has the file open it is changed there, and an edit counts only when the editor tells of the change. Must
// not know: what the text is about.
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { URI } from 'vscode-uri';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Documents, pathOf, rangeOf } from './documents.ts';
import { created, same } from './files.ts';
import type { Show } from './show.ts';

export interface Draft {
  /** Appends to the session's prompt file; `shown`: and opens it. Rejects with `FileFailed`, also when the editor did not take it. */
  add(session: string, text: string, how: { shown: boolean }): Promise<void>;
}

export interface DraftParts {
  client: Client;
  documents: Documents;
  show: Show;
  /** The session's folder; attaches if need be. */
  folder(session: string): Promise<string>;
  clock: Clock;
  log: Log;
}

/** Milliseconds that an editor has to make an edit, to tell of it, and to say that a shown file is open. */
const editing = 5000;
const telling = 2000;
const opening = 500;
/** A line that no prompt has; editors that take any place beyond the end take it as the end. */
const beyond = 1_000_000;

export function createDraft({ client, documents, show, folder, clock, log }: DraftParts): Draft {
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  documents.onOpen(wake);
  documents.onChange(wake);
  /** Whether it holds before the time is over; looked at whenever a document was opened or changed. */
  const until = (holds: () => boolean, limit: number): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (held: boolean) => {
        cancel();
        waiting = waiting.filter((it) => it !== look);
        resolve(held);
      };
      const cancel = clock.after(limit, () => end(false));
      const look = () => holds() && end(true);
      waiting.push(look);
      look();
    });
  const openAs = (file: string): string | undefined =>
    documents.all().find(({ uri }) => {
      const other = pathOf(uri);
      return other !== undefined && same(other, file);
    })?.uri;
  const edited = async (uri: string, at: { line: number; character: number }, newText: string) => {
    const edit = { changes: { [uri]: [{ range: { start: at, end: at }, newText }] } };
    const answer = await client
      .request('workspace/applyEdit', { edit }, { limit: editing })
      .catch((error: unknown) => log.info({ error: String(error) }, 'the draft was not edited'));
    return (answer as { applied?: unknown } | null | undefined)?.applied === true;
  };
  const appendedInEditor = async (uri: string, text: string) => {
    const before = documents.text(uri)!;
    const has = () => count(documents.text(uri) ?? '', text) > count(before, text);
    await edited(uri, rangeOf(before).end, separated(before, text));
    // An answer proves nothing: the change itself does.
    if (await until(has, telling)) return;
    throw new AtomicError(
      'FileFailed',
      'The editor did not take the text into the open prompt file: save or close that file, then try again.',
    );
  };
  const appendedOnDisk = (file: string, text: string) => {
    try {
      appendFileSync(file, separated(readFileSync(file, 'utf8'), text), { mode: 0o600 });
    } catch (error) {
      throw new AtomicError(
        'FileFailed',
        `${file} could not be written (${(error as Error).message}): see to its folder and its disk, then try again.`,
      );
    }
  };

  return {
    async add(session, text, { shown }) {
      const file = path.join(await folder(session), 'prompt.md');
      created(file, '');
      const open = openAs(file);
      if (open !== undefined) {
        await appendedInEditor(open, text);
        if (shown) await show(file, 'The prompt file');
        return;
      }
      if (shown && client.traits.showsDocuments && client.traits.editsForOthers) {
        // Another server of this editor may look after the file, and its buffer may hold more than the disk.
        await show(file, 'The prompt file');
        if (await until(() => openAs(file) !== undefined, opening))
          return appendedInEditor(openAs(file)!, text);
        const end = { line: beyond, character: 0 };
        if (await edited(URI.file(file).toString(), end, separated(readFileSync(file, 'utf8'), text))) return;
      }
      appendedOnDisk(file, text);
      if (shown) await show(file, 'The prompt file');
    },
  };
}

/** Below what stands there, after a line to write in where nothing does. */
function separated(before: string, text: string): string {
  const gap = /\n\s*\n$/.test(before) ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return `${gap}${text}\n`;
}

function count(whole: string, part: string): number {
  return whole.replace(/\r\n?/g, '\n').split(part).length - 1;
}
