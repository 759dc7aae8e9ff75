// Open documents whose file changed on disk while the agent worked. Guarantees: no text of the editor is ever touched: an edit by us
// would leave it unsaved over a newer file, which editors then refuse or ask to save; a clean document is left to an editor
// that reads it again itself, else the person is told how, once; one with unsaved changes is named, once. Must not know: what
// changed it.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Fact } from '../protocol/facts.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Document, type Documents, pathOf } from './documents.ts';

export interface Reload {
  /** Facts of a workspace came: after a tool call the documents are looked at. */
  take(facts: readonly Fact[], workspace: string): void;
  /** We have written a file (absolute) that may be open. */
  wrote(file: string): void;
  /** `textDocument/didSave`. */
  saved(uri: string, text: string | undefined): void;
  /** Whether the editor has unsaved changes of the file (absolute, or below the workspace). */
  unsaved(file: string, workspace: string): boolean;
}

export interface ReloadParts {
  client: Client;
  documents: Documents;
  clock: Clock;
  log: Log;
  /** The folders in which agents work for this editor. */
  workspaces(): readonly string[];
  /** The client looks after its own documents. */
  rich(): boolean;
}

/** Milliseconds after a tool call, in which further calls may end and an editor may read a file by itself. */
const settling = 500;
/** Documents that are looked at, and bytes of one. */
const most = { documents: 200, bytes: 5_000_000 };
/** Names in one message. */
const named = 3;

export function createReload({ client, documents, clock, log, workspaces, rich }: ReloadParts): Reload {
  /** By address: the text that the document and its file had in common last. */
  const common = new Map<string, string>();
  /** By address: the text on disk that the person was told of. */
  const told = new Map<string, string>();
  const touched = new Set<string>();
  let planned = false;

  documents.onOpen(({ uri, text }) => {
    const file = pathOf(uri);
    if (file === undefined) return;
    // An editor may open a document with changes that it kept from before. Read at once: later the agent may have written.
    const mark = markOf(text);
    if (onDiskNow(file) === mark) common.set(uri, mark);
  });
  documents.onClose((uri) => {
    common.delete(uri);
    told.delete(uri);
  });

  /** Shows the text of its file, maybe an earlier one; it may have been read again since the person was told. */
  const isClean = (uri: string, shown: string): boolean =>
    shown === common.get(uri) || shown === told.get(uri);
  const concerned = ({ uri }: Document): boolean => {
    const file = pathOf(uri);
    if (file === undefined) return false;
    const real = realOf(file);
    const inside = (workspace: string) => {
      const below = path.relative(realOf(workspace), real);
      return !(below.startsWith('..') || path.isAbsolute(below));
    };
    return touched.has(real) || workspaces().some(inside);
  };
  const look = async () => {
    planned = false;
    const clean: string[] = [];
    const conflicts: string[] = [];
    const near = documents.all().filter(concerned).slice(-most.documents);
    touched.clear();
    for (const { uri } of near) {
      const file = pathOf(uri)!;
      const disk = await onDisk(file);
      const document = documents.get(uri);
      if (disk === undefined || !document) continue;
      const shown = markOf(document.text);
      if (shown === disk) {
        common.set(uri, disk);
        told.delete(uri);
      } else if ((told.get(uri) ?? common.get(uri)) !== disk) {
        (isClean(uri, shown) ? clean : conflicts).push(path.basename(file));
        told.set(uri, disk);
      }
    }
    if (clean.length > 0 && !client.traits.reloadsItself)
      client.message('info', changed(clean, client.traits.reload));
    if (conflicts.length > 0) client.message('warning', conflicting(conflicts, client.traits.reload), true);
  };

  const plan = () => {
    if (planned) return;
    planned = true;
    clock.after(settling, () => {
      look().catch((error: unknown) => log.warn({ error }, 'open documents could not be looked at'));
    });
  };

  return {
    take(facts, workspace) {
      if (rich()) return;
      for (const fact of facts)
        if (fact.type === 'file_touched') touched.add(realOf(path.resolve(workspace, fact.path)));
      if (facts.some(({ type }) => type === 'tool_execution_end' || type === 'file_touched')) plan();
    },
    wrote(file) {
      if (rich()) return;
      touched.add(realOf(file));
      plan();
    },
    saved(uri, given) {
      const text = given ?? documents.text(uri);
      if (text !== undefined) common.set(uri, markOf(text));
      told.delete(uri);
    },
    unsaved(file, workspace) {
      const real = realOf(path.resolve(workspace, file));
      return documents.all().some(({ uri, text }) => {
        const own = pathOf(uri);
        if (own === undefined || realOf(own) !== real) return false;
        const shown = markOf(text);
        return !isClean(uri, shown) && shown !== onDiskNow(own);
      });
    },
  };
}

const changed = (names: string[], reload: string | undefined): string =>
  names.length === 1
    ? `${names[0]} has changed on disk: ${reload ? `${reload} in it shows it` : 'read it again to see it'}.`
    : `${listed(names)} have changed on disk: ${reload ? `${reload} in each shows it` : 'read them again to see it'}.`;

const conflicting = (names: string[], reload: string | undefined): string => {
  const one = names.length === 1;
  return `${listed(names)} ${one ? 'has' : 'have'} changed on disk, and you have unsaved changes in ${one ? 'it' : 'them'}, which were not touched: keep them under another name, or give them up with ${reload ?? 'a reload'}.`;
};

function listed(names: string[]): string {
  const shown = names.slice(0, named);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : shown[0]!;
}

/** Stands for a text, whatever its line ends are and whether its last line has one: editors differ in that. */
const markOf = (text: string): string =>
  createHash('sha1')
    .update(
      text
        .replace(/^\ufeff/, '')
        .replace(/\r\n?/g, '\n')
        .replace(/\n$/, ''),
    )
    .digest('base64');

/** The mark of a file's text; undefined where there is none that can be compared. */
async function onDisk(file: string): Promise<string | undefined> {
  try {
    return comparable(file) ? marked(await readFile(file)) : undefined;
  } catch {
    return undefined;
  }
}

function onDiskNow(file: string): string | undefined {
  try {
    return comparable(file) ? marked(readFileSync(file)) : undefined;
  } catch {
    return undefined;
  }
}

function comparable(file: string): boolean {
  const stat = statSync(file);
  return stat.isFile() && stat.size <= most.bytes;
}

/** Bytes that are not UTF-8 are shown by editors in their own ways. */
const marked = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? markOf(bytes.toString()) : undefined);

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
