// Completion in a prompt (LSP: `textDocument/completion`). Guarantees: whole items at once, with the text that they replace; asked
// again where there are more. Must not know: what can be completed.
import { type CompletionItem, CompletionItemKind, type CompletionList } from 'vscode-languageserver';
import type { Offer, Offers } from '../prompt/complete.ts';
import type { Writing } from '../prompt/mentions.ts';
import { rangeBetween } from './positions.ts';

const kinds: Record<Offer['kind'], CompletionItemKind> = {
  file: CompletionItemKind.File,
  folder: CompletionItemKind.Folder,
  document: CompletionItemKind.File,
  symbol: CompletionItemKind.Reference,
  command: CompletionItemKind.Function,
  value: CompletionItemKind.Value,
};

/** The list for what is being written in a text. */
export function completionList(
  text: string,
  { start, end }: Writing,
  { offers, more }: Offers,
): CompletionList {
  const range = rangeBetween(text, start, end);
  const digits = String(offers.length).length;
  return {
    isIncomplete: more,
    items: offers.map(
      ({ kind, label, text: newText, match, detail, about }, n): CompletionItem => ({
        label,
        kind: kinds[kind],
        sortText: String(n).padStart(digits, '0'),
        filterText: match ?? newText,
        textEdit: { range, newText },
        ...(detail && { detail }),
        ...(about && { documentation: { kind: 'markdown', value: about } }),
      }),
    ),
  };
}
