// What can stand at a place in a prompt: files and folders, lines of a file, open documents and their symbols, commands. Guarantees:
// what is offered reads back as what it stands for; bounded, the best first. Must not know: LSP, how files are listed.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { commandRow } from '../protocol/commands.ts';
import type { AgentCommand } from '../protocol/records.ts';
import { oneLine as cleanLine, literal } from '../session/transcript-text.ts';
import { typedCommands } from '../session/typed.ts';
import type { FileListing } from './file-list.ts';
import { mentionOf, type Writing } from './mentions.ts';
import { candidates, documentNamed, documentNames, type Place } from './places.ts';
import { createRanking, ranked } from './rank.ts';
import { mention } from './reference.ts';
import { type DocumentSymbol, symbolsIn } from './symbols.ts';
import { targetOf } from './targets.ts';

export interface Offer {
  kind: 'file' | 'folder' | 'document' | 'symbol' | 'command' | 'value';
  label: string;
  /** What stands there afterwards. */
  text: string;
  /** What is to be matched with what was typed, where that is not the text. */
  match?: string;
  /** Behind the label. */
  detail?: string;
  /** In Markdown. */
  about?: string;
}

export interface Offers {
  offers: Offer[];
  /** Asking again, with more typed or a moment later, may give others. */
  more: boolean;
}

export interface CompleteContext {
  place: Place;
  /** The files below a folder, one of the place's. */
  files(folder: string): Promise<FileListing>;
  /** Paths that the person or the agent is at work with: absolute. */
  liked: readonly string[];
}

/** Offers of one list, and names that are looked at in one slice. */
const most = 100;
const portion = 10_000;

/** Completions of a file or document that is being named. */
export async function namedOffers(writing: Writing, context: CompleteContext): Promise<Offers> {
  if (writing.kind === 'file') return fileOffers(writing.typed, writing.quoted, context);
  if (writing.kind !== 'document') return { offers: [], more: false };
  return documentOffers(writing.typed, writing.quoted, context);
}

/** The agent's commands and those of its terminal that are carried out here; `commands` undefined while they are not known. */
export function commandOffers(typed: string, commands: readonly AgentCommand[] | undefined): Offers {
  const own = (commands ?? []).map(({ name, source, description }) => ({
    name,
    detail: oneLine(description ?? sources[source] ?? source),
    about: [sources[source] ?? source, description]
      .flatMap((part) => (part ? [literal(part)] : []))
      .join('\n\n'),
  }));
  const theirs = typedCommands()
    .filter(({ name }) => !own.some((command) => command.name === name))
    .map(({ name, command }) => {
      const row = commandRow(command);
      return { name, detail: row?.title ?? command, about: row ? `${row.id}\n\n${row.doc}` : command };
    });
  const all = [...own, ...theirs];
  const { paths, more } = ranked(
    typed,
    all.map(({ name }) => name),
    most,
  );
  return {
    offers: paths.map((name): Offer => {
      const { detail, about } = all.find((command) => command.name === name)!;
      return { kind: 'command', label: `/${name}`, text: `/${name}`, detail, about };
    }),
    more: more || commands === undefined,
  };
}

const sources: Record<string, string> = {
  prompt: 'prompt template',
  skill: 'skill',
  extension: 'command of an extension',
};

async function fileOffers(typed: string, quoted: boolean, context: CompleteContext): Promise<Offers> {
  const { place } = context;
  const colon = typed.lastIndexOf(':');
  if (colon > 0) {
    const lines = await lineOffers(typed.slice(0, colon), quoted, place);
    if (lines.length > 0) return { offers: lines, more: false };
  }
  const offer = (name: string): Offer => ({
    kind: name.endsWith('/') ? 'folder' : 'file',
    label: name,
    text: mentionOf('@', name, quoted),
  });
  const beside = await besideOffers(typed, place);
  if (beside) return { offers: beside.names.map(offer), more: beside.more };
  const listings = await Promise.all(place.folders.map((folder) => context.files(folder)));
  const liked = new Set(
    context.liked.flatMap((file) =>
      place.folders.map((folder, n) => {
        const inside = path.relative(folder, file).replaceAll(path.sep, '/');
        return n === 0 ? inside : `${path.basename(folder)}/${inside}`;
      }),
    ),
  );
  const ranking = createRanking(typed, most, liked);
  for (const [n, { names }] of listings.entries()) {
    const before = n === 0 ? '' : `${path.basename(place.folders[n]!)}/`;
    if (before !== '') ranking.add([before]);
    for (let at = 0; at < names.length; at += portion) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      const some = names.slice(at, at + portion);
      ranking.add(before === '' ? some : some.map((name) => before + name));
    }
  }
  const { paths, more } = ranking.best();
  // With more typed the order is another, too.
  return { offers: paths.map(offer), more: more || paths.length > 0 || listings.some(({ whole }) => !whole) };
}

/** The entries of a folder that is named and lies outside, or is ignored; undefined where the list of files has it. */
async function besideOffers(
  typed: string,
  place: Place,
): Promise<{ names: string[]; more: boolean } | undefined> {
  const slash = typed.lastIndexOf('/');
  const before = typed.slice(0, slash + 1);
  if (!/^(?:\/|~\/|\.\.?\/)/.test(before) && !/(?:^|\/)node_modules\//.test(before)) return undefined;
  for (const folder of candidates(before, place)) {
    try {
      const entries = (await readdir(folder, { withFileTypes: true })).map((entry) =>
        entry.isDirectory() ? `${entry.name}/` : entry.name,
      );
      const hidden = typed[slash + 1] === '.';
      const visible = entries.filter((name) => hidden || !name.startsWith('.'));
      const { paths, more } = ranked(typed.slice(slash + 1), visible.sort(), most);
      return { names: paths.map((name) => before + name), more };
    } catch {
      // The next may be there.
    }
  }
  return undefined;
}

/** Lines of a file, by what they declare. */
async function lineOffers(name: string, quoted: boolean, place: Place): Promise<Offer[]> {
  const whole = { kind: 'file', name, start: 0, end: 0, quoted } as const;
  const target = await targetOf(whole, place);
  if (target.kind !== 'text') return [];
  return symbolsIn(target.text, languageOf(name, target.languageId)).map((symbol) => ({
    ...symbolOffer(symbol),
    label: symbol.name,
    text: mentionOf('@', name, quoted) + mention('x', symbol).slice(2),
    match: `${mentionOf('@', name, quoted)}:${symbol.name}`,
  }));
}

function documentOffers(typed: string, quoted: boolean, { place }: CompleteContext): Offers {
  const colon = typed.lastIndexOf(':');
  const document = colon > 0 ? documentNamed(typed.slice(0, colon), place) : undefined;
  if (document) {
    const name = mentionOf('#', typed.slice(0, colon), quoted);
    const symbols = symbolsIn(document.text, document.languageId);
    return {
      offers: symbols.map((symbol) => ({ ...symbolOffer(symbol), text: `${name}:${symbol.name}` })),
      more: false,
    };
  }
  const all = documentNames(place);
  const { paths, more } = ranked(
    typed,
    all.map(({ name }) => name),
    most,
  );
  return {
    offers: paths.map((name): Offer => {
      const found = all.find((it) => it.name === name)!.document;
      return {
        kind: 'document',
        label: name,
        text: mentionOf('#', name, quoted),
        detail: found.file ?? 'not saved yet',
      };
    }),
    more,
  };
}

const symbolOffer = (symbol: DocumentSymbol) => ({
  kind: 'symbol' as const,
  label: symbol.name,
  detail: `${symbol.from === symbol.to ? `line ${symbol.from}` : `lines ${symbol.from}–${symbol.to}`}: ${oneLine(symbol.line)}`,
});

const languageOf = (name: string, known: string): string =>
  /\.(?:md|markdown|mdx)$/i.test(name) ? 'markdown' : known;
const oneLine = (text: string): string => cleanLine(text, 80);
