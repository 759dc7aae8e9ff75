// An editor's document for tests of what is written into it. Guarantees: opens what it is shown, applies edits as LSP says, and tells
// of changes in whole texts; how well it does so is chosen. Must not know what is written.
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FakeEditor, turn } from './support.ts';

export interface TextEditorHow {
  /** Turns of the event loop until it tells of a change. */
  lag?: number;
  answersAfter?: number;
  /** Of so many edits one is answered as applied and is not. */
  liesEvery?: number;
  refusesEvery?: number;
  /** A change is told before the opening. */
  changesFirst?: boolean;
  /** A text always ends with a line break. */
  finalBreak?: boolean;
}

interface Edit {
  range: { start: Place; end: Place };
  newText: string;
}
interface Place {
  line: number;
  character: number;
}

export interface TextEditor {
  answers: FakeEditor['answers'];
  join(editor: FakeEditor): void;
  open(file: string): void;
  close(): void;
  isOpen(): boolean;
  text(): string;
  /** As a person does, at an offset. */
  type(at: number, text: string): void;
  /** Everything was told and answered. */
  idle(): boolean;
  edits: number;
}

export function createTextEditor(how: TextEditorHow): TextEditor {
  let editor: FakeEditor;
  let uri: string | undefined;
  let now = '';
  let version = 1;
  let busy = 0;

  /** The test may be over. */
  const tell = (method: string, params: object) =>
    void editor.connection.sendNotification(method, params).catch(() => {});
  const offset = ({ line, character }: Place): number => {
    const lines = now.split('\n');
    if (line >= lines.length) return now.length;
    const before = lines.slice(0, line).reduce((sum, it) => sum + it.length + 1, 0);
    return before + Math.min(character, lines[line]!.length);
  };
  const set = (text: string) => {
    now = how.finalBreak && !text.endsWith('\n') ? `${text}\n` : text;
  };
  const after = async (turns: number, run: () => void) => {
    busy += 1;
    for (let n = 0; n < turns; n += 1) await turn();
    run();
    busy -= 1;
  };
  const told = () => {
    version += 1;
    const mine = version;
    void after(how.lag ?? 0, () => {
      if (mine !== version || uri === undefined) return;
      tell('textDocument/didChange', {
        textDocument: { uri, version: mine },
        contentChanges: [{ text: now }],
      });
    });
  };
  const opened = (at: string) => {
    if (uri === at) return;
    uri = at;
    set(readFileSync(fileURLToPath(at), 'utf8'));
    version = 1;
    if (how.changesFirst) told();
    tell('textDocument/didOpen', {
      textDocument: { uri: at, languageId: 'markdown', version: 1, text: now },
    });
  };
  const applied = (edits: Edit[]) => {
    const placed = edits.map(
      ({ range, newText }) => [offset(range.start), offset(range.end), newText] as const,
    );
    let text = now;
    for (const [start, end, newText] of placed.sort((a, b) => b[0] - a[0]))
      text = text.slice(0, start) + newText + text.slice(end);
    set(text);
    told();
  };
  const own: TextEditor = {
    edits: 0,
    answers: {
      'window/showDocument': ({ uri: at }) => {
        opened(at);
        return { success: true };
      },
      async 'workspace/applyEdit'({ edit }) {
        own.edits += 1;
        const [target, edits] = edit.documentChanges
          ? [edit.documentChanges[0].textDocument.uri, edit.documentChanges[0].edits]
          : Object.entries(edit.changes)[0]!;
        busy += 1;
        for (let n = 0; n < (how.answersAfter ?? 0); n += 1) await turn();
        busy -= 1;
        if (target !== uri) return { applied: false };
        if (how.refusesEvery && own.edits % how.refusesEvery === 0) return { applied: false };
        if (!how.liesEvery || own.edits % how.liesEvery !== 0) applied(edits as Edit[]);
        return { applied: true };
      },
    },
    join(it) {
      editor = it;
    },
    open: (file) => opened(pathToFileURL(file).href),
    close() {
      tell('textDocument/didClose', { textDocument: { uri: uri! } });
      uri = undefined;
    },
    isOpen: () => uri !== undefined,
    text: () => now,
    type(at, text) {
      set(now.slice(0, at) + text + now.slice(at));
      told();
    },
    idle: () => busy === 0,
  };
  return own;
}
