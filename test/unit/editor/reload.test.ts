// Documents whose file changed on disk, and what stands against taking a file back; with a real folder and an editor of messages.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { attached, type EditorHow, type FakeEditor, fakeHub, startEditor, turn } from './support.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ä reload-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => path.join(folder, name);
const uriOf = (name: string) => pathToFileURL(at(name)).href;
const ended: Fact = {
  type: 'tool_execution_end',
  toolCallId: 'c',
  toolName: 'bash',
  isError: false,
  result: { content: [] },
};

async function inFolder(how: EditorHow = {}): Promise<FakeEditor> {
  const editor = await startEditor({
    ...how,
    params: { rootUri: pathToFileURL(folder).href, ...how.params },
  });
  await attached(editor);
  return editor;
}
/** A file on disk that is open with the same text, or another. */
async function open(editor: FakeEditor, name: string, text: string, shown = text) {
  fs.writeFileSync(at(name), text);
  await editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri: uriOf(name), languageId: 'text', version: 1, text: shown },
  });
  // An answer comes after everything that was sent before.
  await editor.failure(editor.execute('atomic.nothing'));
}
const change = (editor: FakeEditor, name: string, text: string, version = 2) =>
  editor.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri: uriOf(name), version },
    contentChanges: [{ text }],
  });
/** What the person is told after a tool call. */
async function toolEnded(editor: FakeEditor): Promise<string[]> {
  const before = editor.messages().length;
  editor.hub.append(ended);
  const planned = editor.clock.pending;
  await editor.when(() => editor.clock.pending > planned);
  editor.clock.advance(1000);
  await read();
  editor.clock.advance(10_000);
  await turn();
  await turn();
  return editor.messages().slice(before);
}
/** Reading a few small files is over after some more reading of them. */
async function read() {
  for (let round = 0; round < 20; round += 1)
    for (const entry of fs.readdirSync(folder, { withFileTypes: true }))
      if (entry.isFile()) await fs.promises.readFile(at(entry.name));
  await turn();
}

describe('a file that changed on disk', () => {
  it('is named with the command of the editor, once, and again after the next change', async () => {
    const editor = await inFolder({ name: 'helix' });
    await open(editor, 'a ü.txt', 'one\r\ntwo');
    await open(editor, 'same.txt', 'same\n');
    expect(await toolEnded(editor)).toEqual([]);
    fs.writeFileSync(at('a ü.txt'), 'changed\n');
    expect(await toolEnded(editor)).toEqual(['a ü.txt has changed on disk: :reload in it shows it.']);
    expect(await toolEnded(editor)).toEqual([]);
    await change(editor, 'a ü.txt', 'changed');
    expect(await toolEnded(editor)).toEqual([]);
    fs.writeFileSync(at('a ü.txt'), 'again\n');
    expect(await toolEnded(editor)).toHaveLength(1);
    expect(editor.of('workspace/applyEdit')).toEqual([]);
  });

  it('is named when it is as it was before, after the person has read a change of it', async () => {
    const editor = await inFolder({ name: 'helix' });
    await open(editor, 'a', 'one\n');
    fs.writeFileSync(at('a'), 'two\n');
    expect(await toolEnded(editor)).toHaveLength(1);
    await change(editor, 'a', 'two\n');
    fs.writeFileSync(at('a'), 'one\n');
    expect(await toolEnded(editor)).toEqual(['a has changed on disk: :reload in it shows it.']);
    fs.writeFileSync(at('a'), 'three\n');
    await change(editor, 'a', 'one, mine\n', 3);
    expect(await toolEnded(editor)).toEqual([expect.stringContaining('unsaved changes')]);
    fs.writeFileSync(at('a'), 'one\n');
    expect(await toolEnded(editor)).toEqual([expect.stringContaining('unsaved changes')]);
  });

  it('is named as a conflict where there are unsaved changes, and never touched', async () => {
    const editor = await inFolder({ name: 'Neovim' });
    await open(editor, 'a', 'one\n');
    await open(editor, 'restored', 'disk\n', 'from an earlier sitting\n');
    await change(editor, 'a', 'mine\n');
    expect(await toolEnded(editor)).toEqual([
      expect.stringMatching(/^restored has changed.*unsaved changes/),
    ]);
    fs.writeFileSync(at('a'), 'the agent’s\n');
    expect(await toolEnded(editor)).toEqual([expect.stringMatching(/^a has changed.*unsaved.*:checktime/)]);
    expect(await toolEnded(editor)).toEqual([]);
    expect(editor.of('workspace/applyEdit')).toEqual([]);
  });

  it('is left to an editor that reads it again itself, and to a client that has the facts', async () => {
    const itself = await inFolder({ name: 'Zed' });
    await open(itself, 'a', 'one\n');
    fs.writeFileSync(at('a'), 'two\n');
    expect(await toolEnded(itself)).toEqual([]);
    const rich = await inFolder({ options: { client: { name: 'x', events: true } } });
    await open(rich, 'b', 'one\n');
    fs.writeFileSync(at('b'), 'two\n');
    rich.hub.append(ended);
    await read();
    rich.clock.advance(10_000);
    await read();
    expect(rich.messages()).toEqual([]);
  });

  it('is one of the workspace, or one that a tool call names', async () => {
    const workspace = at('inner');
    fs.mkdirSync(workspace);
    const editor = await inFolder({ name: 'Neovim', params: { rootUri: pathToFileURL(workspace).href } });
    await open(editor, 'outside', 'one\n');
    fs.writeFileSync(at('outside'), 'two\n');
    expect(await toolEnded(editor)).toEqual([]);
    editor.hub.append({ type: 'file_touched', path: at('outside'), toolName: 'edit' });
    expect(await toolEnded(editor)).toEqual(['outside has changed on disk: :checktime in it shows it.']);
  });

  it('is told with many others in one message', async () => {
    const editor = await inFolder({ name: 'helix' });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await open(editor, name, 'one\n');
    for (const name of ['a', 'b', 'c', 'd', 'e']) fs.writeFileSync(at(name), 'two\n');
    expect(await toolEnded(editor)).toEqual([
      'a, b, c and 2 more have changed on disk: :reload in each shows it.',
    ]);
  });
});

describe('taking a file back', () => {
  it('is refused while the editor has unsaved changes of it, and sent otherwise', async () => {
    const editor = await inFolder();
    await open(editor, 'a ü', 'one\n');
    await change(editor, 'a ü', 'mine\n');
    const { message, data } = await editor.failure(editor.execute('atomic.revertFile', { path: 'a ü' }));
    expect(data.name).toBe('RevertRefused');
    expect(message).toContain('unsaved');
    expect(editor.hub.intents).toEqual([]);
    fs.writeFileSync(at('a ü'), 'mine\n');
    await editor.connection.sendNotification('textDocument/didSave', {
      textDocument: { uri: uriOf('a ü') },
      text: 'mine\n',
    });
    fs.writeFileSync(at('a ü'), 'the agent’s\n');
    await editor.execute('atomic.revertFile', { path: at('a ü'), hunk: 0 });
    expect(editor.hub.intents).toEqual([
      expect.objectContaining({ command: 'revert_file', params: { path: at('a ü'), hunk: 0 } }),
    ]);
  });

  it('asks which file when none is named', async () => {
    const editor = await inFolder({ answers: { 'window/showMessageRequest': ({ actions }) => actions[0] } });
    editor.hub.data.list_changes = {
      files: [{ path: '/p/a ü', status: 'modified', added: 2, removed: 1, diff: '', hunks: [] }],
    };
    await editor.execute('atomic.revertFile');
    await editor.when(() => editor.hub.intents.length > 0);
    expect(JSON.stringify(editor.of('window/showMessageRequest'))).toContain('/p/a ü (modified, +2 −1)');
    expect(editor.hub.intents[0]).toMatchObject({ command: 'revert_file', params: { path: '/p/a ü' } });
  });
});

describe('showing changes', () => {
  it('writes them into a diff of the session’s folder and opens it', async () => {
    const hub = fakeHub();
    hub.folder = folder;
    const editor = await inFolder({
      hub,
      capabilities: { window: { showDocument: { support: true } } },
      answers: { 'window/showDocument': () => ({ success: true }) },
    });
    editor.hub.data.list_changes = { files: [] };
    expect(await editor.execute('atomic.changes')).toEqual({ opens: 'changes.diff' });
    await editor.when(() => editor.messages().some((it) => it.includes('no file')));
    editor.hub.data.list_changes = {
      files: [
        { path: '/p/a', status: 'added', added: 1, removed: 0, diff: '--- /dev/null\n+++ b/a\n', hunks: [] },
        {
          path: '/p/b',
          status: 'modified',
          added: 0,
          removed: 0,
          diff: '',
          hunks: [],
          note: 'It is not text.',
        },
      ],
    };
    await editor.execute('atomic.changes');
    const [shown] = await editor.until('window/showDocument');
    const file = new URL(shown.uri);
    expect(file.pathname).toMatch(/changes\.diff$/);
    const text = fs.readFileSync(file, 'utf8');
    expect(text).toContain('--- /dev/null\n+++ b/a\n');
    expect(text).toContain('/p/b  +0 −0  (It is not text.)');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const opened = { uri: shown.uri, languageId: 'diff', version: 1, text };
    await editor.connection.sendNotification('textDocument/didOpen', { textDocument: opened });
    const one = { path: '/p/a', status: 'deleted', added: 0, removed: 1, diff: '--- a/a\n', hunks: [] };
    editor.hub.data.list_changes = { files: [one] };
    const planned = editor.clock.pending;
    await editor.execute('atomic.changes');
    await editor.until('window/showDocument');
    await editor.when(() => editor.clock.pending > planned);
    editor.clock.advance(1000);
    await read();
    editor.clock.advance(10_000);
    await editor.when(() => editor.messages().some((it) => it.includes('changes.diff has changed on disk')));
  });
});
