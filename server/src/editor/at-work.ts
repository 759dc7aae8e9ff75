// Which document the person is at work in, as far as an editor tells it. Guarantees: only what a person does counts, not what an editor
// asks about any document that is open. Must not know: what follows from it.
import { type Documents, pathOf } from './documents.ts';
import type { Features } from './features.ts';

/** What an editor asks only about the document at work. */
const asked: ReadonlySet<string> = new Set([
  'textDocument/completion',
  'textDocument/hover',
  'textDocument/codeAction',
]);

export interface AtWork {
  /** The person did something in this document. */
  in(uri: string): void;
  /** The same features; what is asked of them counts. */
  asked(features: Features): Features;
}

/** Calls `touched` with the path of each document on disk in which the person is at work. */
export function createAtWork(documents: Documents, touched: (file: string) => void): AtWork {
  const work = (uri: string) => {
    const file = pathOf(uri);
    if (file !== undefined) touched(file);
  };
  documents.onOpen(({ uri }) => work(uri));
  documents.onChange(work);
  return {
    in: work,
    asked: ({ capabilities, answer }) => ({
      capabilities,
      answer(method, params, signal) {
        if (asked.has(method)) work((params as { textDocument: { uri: string } }).textDocument.uri);
        return answer(method, params, signal);
      },
    }),
  };
}
