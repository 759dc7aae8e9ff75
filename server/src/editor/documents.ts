// The editor's open documents. Guarantees: the newest text of each, even where changes come out of order. Must not know: what
// the documents are for.
import { URI } from 'vscode-uri';

export interface Documents {
  opened(uri: string, version: number, text: string): void;
  changed(uri: string, version: number, text: string): void;
  closed(uri: string): void;
  /** Undefined for a document that is not open. */
  text(uri: string): string | undefined;
  /** Calls back after each change of an open document. */
  onChange(listener: (uri: string, text: string) => void): void;
}

export function createDocuments(): Documents {
  const open = new Map<string, { version: number; text: string }>();
  const listeners: ((uri: string, text: string) => void)[] = [];
  return {
    opened: (uri, version, text) => void open.set(uri, { version, text }),
    changed(uri, version, text) {
      const known = open.get(uri);
      // Some editors send an older change after a newer one; some send a change before they say that it is open.
      if (known && version < known.version) return;
      open.set(uri, { version, text });
      for (const listener of listeners) listener(uri, text);
    },
    closed: (uri) => void open.delete(uri),
    text: (uri) => open.get(uri)?.text,
    onChange: (listener) => void listeners.push(listener),
  };
}

/** The path of a document on this machine's disk. */
export function pathOf(uri: string): string | undefined {
  const parsed = URI.parse(uri);
  return parsed.scheme === 'file' ? parsed.fsPath : undefined;
}

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
