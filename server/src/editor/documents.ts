// The editor's open documents. Guarantees: the newest text of each, even where changes come out of order. Must not know: what
// the documents are for.
import { diskPath } from './workspace.ts';

export interface Document {
  readonly uri: string;
  /** Empty where the editor has changed it before it said that it is open. */
  readonly languageId: string;
  readonly version: number;
  readonly text: string;
}

export interface Documents {
  opened(uri: string, version: number, text: string, languageId: string): void;
  changed(uri: string, version: number, text: string): void;
  closed(uri: string): void;
  /** Undefined for a document that is not open. */
  get(uri: string): Document | undefined;
  text(uri: string): string | undefined;
  /** Every open document, the oldest first. */
  all(): readonly Document[];
  /** Calls back after each opening (didOpen seen), change and closing; the function that is returned ends it. */
  onOpen(listener: (document: Document) => void): () => void;
  onChange(listener: (uri: string, text: string) => void): () => void;
  onClose(listener: (uri: string) => void): () => void;
}

export function createDocuments(): Documents {
  const open = new Map<string, Document>();
  const openListeners = new Set<(document: Document) => void>();
  const changeListeners = new Set<(uri: string, text: string) => void>();
  const closeListeners = new Set<(uri: string) => void>();
  return {
    opened(uri, version, text, languageId) {
      const known = open.get(uri);
      // Some editors tell of a change before they tell that the document is open.
      const newer = known?.languageId === '' && known.version > version;
      const document = newer ? { ...known, languageId } : { uri, languageId, version, text };
      open.set(uri, document);
      for (const listener of openListeners) listener(document);
    },
    changed(uri, version, text) {
      const known = open.get(uri);
      // Some editors send an older change after a newer one.
      if (known && version < known.version) return;
      open.set(uri, { uri, languageId: known?.languageId ?? '', version, text });
      for (const listener of changeListeners) listener(uri, text);
    },
    closed(uri) {
      open.delete(uri);
      for (const listener of closeListeners) listener(uri);
    },
    get: (uri) => open.get(uri),
    text: (uri) => open.get(uri)?.text,
    all: () => [...open.values()],
    onOpen: (listener) => added(openListeners, listener),
    onChange: (listener) => added(changeListeners, listener),
    onClose: (listener) => added(closeListeners, listener),
  };
}

/** Adds to a set; the returned function takes it out again. */
function added<T>(set: Set<T>, one: T): () => void {
  set.add(one);
  return () => void set.delete(one);
}

/** The path of a document on this machine's disk. */
export const pathOf = (uri: string): string | undefined => diskPath(uri);

/** The range of LSP that holds exactly this text at the beginning of a document (LSP: "Text Documents", line ends). */
export function rangeOf(text: string): { start: Position; end: Position } {
  const lines = text.split(/\r\n|\n|\r/);
  return {
    start: { line: 0, character: 0 },
    end: { line: lines.length - 1, character: lines.at(-1)!.length },
  };
}

interface Position {
  line: number;
  character: number;
}
