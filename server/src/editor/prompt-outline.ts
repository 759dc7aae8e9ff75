// Symbols, folds and links of a prompt, as LSP has them. Guarantees: only files and folders that are there are linked. Must not know:
// which documents are prompts.
import { type DocumentLink, type DocumentSymbol, type FoldingRange, SymbolKind } from 'vscode-languageserver';
import { URI } from 'vscode-uri';
import { mentionsIn } from '../prompt/mentions.ts';
import { type PromptPart, promptOutline } from '../prompt/outline.ts';
import { documentNamed, foundAt, type Place } from '../prompt/places.ts';
import { oneLine } from './client.ts';
import { rangeBetween } from './positions.ts';

const kinds: Record<PromptPart['kind'], SymbolKind> = {
  command: SymbolKind.Function,
  file: SymbolKind.File,
  document: SymbolKind.Object,
  code: SymbolKind.String,
};

/** What the prompt commands, mentions and quotes. */
export const promptSymbols = (text: string): DocumentSymbol[] =>
  promptOutline(text).map(({ kind, title, start, end }) => {
    const range = rangeBetween(text, start, end);
    return { name: oneLine(title, 80), kind: kinds[kind], range, selectionRange: range };
  });

/** Its blocks of code. */
export const promptFolds = (text: string): FoldingRange[] =>
  promptOutline(text)
    .filter(({ kind }) => kind === 'code')
    .map(({ start, end }) => rangeBetween(text, start, end))
    .filter(({ start, end }) => end.line > start.line)
    .map(({ start, end }) => ({ startLine: start.line, endLine: end.line }));

/** Mentions that are looked for. */
const most = 500;

/** Where its mentions lead. */
export async function promptLinks(text: string, place: Place): Promise<DocumentLink[]> {
  const mentions = mentionsIn(text).slice(0, most);
  const links = mentions.map(async ({ kind, name, lines, start, end }): Promise<DocumentLink[]> => {
    const file = kind === 'file' ? (await foundAt(name, place))?.file : documentNamed(name, place)?.file;
    if (file === undefined) return [];
    const target = URI.file(file).toString() + (lines ? `#L${lines.from}` : '');
    return [{ range: rangeBetween(text, start, end), target, tooltip: file }];
  });
  return (await Promise.all(links)).flat();
}
