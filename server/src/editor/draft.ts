// Text that is put into the prompt file for the person to go on with. Guarantees: what stands there stays; nothing is sent by it;
// where the editor has the file open it is changed there, and an edit counts only when the editor tells of the change. Must
// not know: what the text is about.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { URI } from 'vscode-uri';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Documents, pathOf, rangeOf } from './documents.ts';
import { type Files, type FilesParts, plain, same } from './files.ts';
import { created, promptName, unwritten } from './own-files.ts';
import type { Show } from './show.ts';

export interface Draft {
  /** Appends to the session's prompt file. Rejects with `FileFailed`, also when the editor did not take it. */
  add(session: string, text: string, how: How): Promise<void>;
}

export interface How {
  /** Opens the file, too. */
  shown: boolean;
  /** It is a whole prompt: where nothing stands there is no line to write in above it. */
  whole?: boolean;
}

export interface DraftParts extends Pick<FilesParts, 'taken'>, Pick<Files, 'emptiedAtOpening'> {
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

export function createDraft(parts: DraftParts): Draft {
  const { client, documents, show, folder, clock, log } = parts;
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
  const edited = async (uri: string, range: ReturnType<typeof rangeOf>, newText: string) => {
    const edit = { changes: { [uri]: [{ range, newText }] } };
    const answer = await client
      .request('workspace/applyEdit', { edit }, { limit: editing })
      .catch((error: unknown) => log.info({ error: String(error) }, 'the draft was not edited'));
    return (answer as { applied?: unknown } | null | undefined)?.applied === true;
  };
  const appendedInEditor = async (uri: string, text: string, how: How) => {
    const before = documents.text(uri)!;
    const has = () => count(documents.text(uri) ?? '', text) > count(before, text);
    const { start, end } = rangeOf(before);
    const from = how.whole && blank(before) ? start : end;
    await edited(uri, { start: from, end }, separated(before, text, how));
    // An answer proves nothing: the change itself does.
    if (await until(has, telling)) return;
    throw new AtomicError(
      'FileFailed',
      'The editor did not take the text into the open prompt file: save or close that file, then try again.',
    );
  };
  const appendedOnDisk = async (file: string, text: string, how: How) => {
    try {
      const before = readFileSync(file, 'utf8');
      // What was sent may still be there after the editor died.
      const sent = !blank(before) && (await parts.taken(file, plain(before)).catch(() => false));
      if (sent || (how.whole && blank(before)))
        writeFileSync(file, separated('', text, how), { mode: 0o600 });
      else appendFileSync(file, separated(before, text, how), { mode: 0o600 });
    } catch (error) {
      throw unwritten(file, error);
    }
  };

  return {
    async add(session, text, how) {
      const { shown } = how;
      const file = path.join(await folder(session), promptName);
      created(file, '');
      const open = openAs(file);
      if (open !== undefined) {
        await appendedInEditor(open, text, how);
        if (shown) await show(file, 'The prompt file');
        return;
      }
      if (shown && client.traits.showsDocuments && client.traits.editsForOthers) {
        // Another server of this editor may look after the file, and its buffer may hold more than the disk.
        await show(file, 'The prompt file');
        if (await until(() => openAs(file) !== undefined, opening)) {
          const uri = openAs(file)!;
          if (await parts.emptiedAtOpening(uri)) await until(() => blank(documents.text(uri) ?? ''), telling);
          return appendedInEditor(uri, text, how);
        }
        const end = { line: beyond, character: 0 };
        const added = separated(readFileSync(file, 'utf8'), text, how);
        if (await edited(URI.file(file).toString(), { start: end, end }, added)) return;
      }
      await appendedOnDisk(file, text, how);
      if (shown) await show(file, 'The prompt file');
    },
  };
}

const blank = (text: string): boolean => text.trim() === '';

/** Below what stands there; where nothing does, after a line to write in. */
function separated(before: string, text: string, { whole = false }: How): string {
  if (whole && blank(before)) return `${text}\n`;
  const gap = /\n\s*\n$/.test(before) ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return `${gap}${text}\n`;
}

function count(whole: string, part: string): number {
  return whole.replace(/\r\n?/g, '\n').split(part).length - 1;
}
