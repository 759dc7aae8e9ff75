// What a mention refers to, as it is now. Guarantees: the editor's text counts before the file's; nothing but plain files and
// folders is read, and of those no more than is bounded here; never rejects. Must not know: what becomes of it.
import { readdir } from 'node:fs/promises';
import { bytesOf, decoded, isBinary, isUnsaved, plain, textLimit } from './file-text.ts';
import { type ImageKind, imageHead, imageKind } from './image.ts';
import type { Mention } from './mentions.ts';
import { documentNamed, documentOf, foundAt, type OpenDocument, type Place, shownPath } from './places.ts';
import type { Lines } from './reference.ts';
import { slug, symbolNamed, symbolsIn } from './symbols.ts';

export type Target =
  | {
      kind: 'text';
      /** As a prompt names it; absent for a document without a file. */
      shown?: string;
      /** The text of the lines, or all of it, with `\n`. */
      text: string;
      lines?: Lines;
      /** Lines of the whole. */
      count: number;
      unsaved: boolean;
      languageId: string;
    }
  | { kind: 'image'; shown: string; file: string; image: ImageKind; size: number }
  | { kind: 'folder'; shown: string; entries: string[]; more: number }
  | { kind: 'binary' | 'huge'; shown: string; size: number }
  | { kind: 'no lines'; shown: string; count: number }
  | { kind: 'no symbol'; shown: string; symbol: string }
  | { kind: 'unreadable'; shown: string; why: string }
  | { kind: 'missing' };

/** Entries of a folder that are listed. */
const entryLimit = 300;

/** What the mention refers to. */
export async function targetOf(mention: Mention, place: Place): Promise<Target> {
  if (mention.kind === 'document') {
    const document = documentNamed(mention.name, place);
    if (!document) return { kind: 'missing' };
    if (document.file === undefined) return part(mention, textTarget(document));
    return part(mention, {
      ...textTarget(document),
      shown: shownPath(document.file, place),
      unsaved: await isUnsaved(document),
    });
  }
  const found = await foundAt(mention.name, place);
  if (!found) return { kind: 'missing' };
  const { file, size } = found;
  const shown = `${shownPath(file, place) || '.'}${found.isFolder ? '/' : ''}`;
  try {
    if (found.isFolder) return await listing(file, shown);
    if (found.special) return { kind: 'unreadable', shown, why: 'it is no plain file' };
    const document = documentOf(file, place);
    if (document)
      return part(mention, { ...textTarget(document), shown, unsaved: await isUnsaved(document) });
    const head = await bytesOf(file, imageHead);
    const image = imageKind(head);
    if (image) return { kind: 'image', shown, file, image, size };
    if (isBinary(head)) return { kind: 'binary', shown, size };
    if (size > textLimit) return { kind: 'huge', shown, size };
    const text = decoded(size <= head.length ? head : await bytesOf(file, textLimit));
    return part(mention, {
      kind: 'text',
      shown,
      text,
      count: countOf(text),
      unsaved: false,
      languageId: languageOf(file),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'unreadable', shown, why: whys[code ?? ''] ?? message };
  }
}

const whys: Record<string, string> = { EACCES: 'you may not read it', EPERM: 'you may not read it' };

type Text = Extract<Target, { kind: 'text' }>;

const textTarget = ({ text, languageId }: OpenDocument): Text => {
  const whole = plain(text);
  return { kind: 'text', text: whole, count: countOf(whole), unsaved: false, languageId };
};

/** The lines or the symbol that the mention names. */
function part({ lines, symbol }: Mention, whole: Text): Target {
  const shown = whole.shown ?? 'The document';
  const all = whole.text.split('\n');
  let wanted = lines;
  if (symbol !== undefined) {
    const found =
      symbolNamed(symbolsIn(whole.text, whole.languageId), symbol) ?? markdownSymbol(whole, symbol);
    if (!found) return { kind: 'no symbol', shown, symbol };
    wanted = { from: found.from, to: found.to };
  }
  if (!wanted) return whole;
  if (wanted.from < 1 || wanted.from > whole.count) return { kind: 'no lines', shown, count: whole.count };
  const within = { from: wanted.from, to: Math.min(wanted.to, whole.count) };
  return { ...whole, lines: within, text: all.slice(within.from - 1, within.to).join('\n') };
}

const markdownSymbol = (whole: Text, symbol: string) =>
  symbolNamed(symbolsIn(whole.text, whole.languageId), slug(symbol));

async function listing(folder: string, shown: string): Promise<Target> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => name !== '.git')
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  return {
    kind: 'folder',
    shown,
    entries: entries.slice(0, entryLimit),
    more: Math.max(0, entries.length - entryLimit),
  };
}

const countOf = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** A word for the fence of a file that no editor has open: its ending. */
const languageOf = (file: string): string => /\.([A-Za-z0-9]+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
