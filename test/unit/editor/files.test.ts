// The prompt file and the answer files, with an editor that opens, changes and saves them.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rangeOf } from '../../../server/src/editor/documents.ts';
import { answerBelow } from '../../../server/src/editor/files.ts';
import { attached, type FakeEditor, fakeHub, opened, startEditor } from './support.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function editorWith(answers: FakeEditor['answers'] = {}, name = 'helix'): Promise<FakeEditor> {
  const hub = fakeHub();
  hub.folder = folder;
  const editor = await startEditor({
    hub,
    name,
    answers: { 'window/showDocument': () => ({ success: true }), ...answers },
  });
  await attached(editor);
  return editor;
}
const uri = () => pathToFileURL(join(folder, 'prompt.md')).href;
const open = (editor: FakeEditor, at: string, text: string) =>
  editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri: at, languageId: 'markdown', version: 1, text },
  });
const change = (editor: FakeEditor, at: string, version: number, text: string) =>
  editor.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri: at, version },
    contentChanges: [{ text }],
  });
const save = (editor: FakeEditor, at: string, text: string) =>
  editor.connection.sendNotification('textDocument/didSave', { textDocument: { uri: at }, text });
const settle = (editor: FakeEditor, n: number, outcome: 'done' | 'refused') =>
  editor.hub.append({
    type: 'intent_settled',
    intent: editor.hub.intents[n]!.id,
    command: 'prompt',
    outcome,
    ...(outcome === 'refused' && { error: 'No.' }),
  });

describe('the prompt file', () => {
  it.each(['atomic.compose', 'atomic.prompt', 'atomic.steer'])(
    'is opened by %s, for the user alone',
    async (command) => {
      const editor = await editorWith();
      await editor.execute(command);
      const [shown] = await editor.until('window/showDocument');
      expect(shown).toMatchObject({ uri: uri(), takeFocus: true });
      expect(statSync(join(folder, 'prompt.md')).mode & 0o777).toBe(0o600);
    },
  );

  it('is named where the editor cannot open it', async () => {
    const editor = await editorWith({}, 'kate');
    await editor.execute('atomic.compose');
    await editor.until('window/showMessage');
    expect(editor.messages().at(-1)).toContain(join(folder, 'prompt.md'));
  });

  it('is sent when it is saved, and empty when it was taken', async () => {
    const editor = await editorWith({ 'workspace/applyEdit': () => ({ applied: true }) });
    const text = 'Fix it,\r\nplease ß 🎉\r\n';
    await open(editor, uri(), text);
    await save(editor, uri(), text);
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({
      command: 'prompt',
      params: { message: 'Fix it,\nplease ß 🎉' },
    });
    expect(editor.of('workspace/applyEdit')).toEqual([]);
    settle(editor, 0, 'done');
    const [{ edit }] = (await editor.until('workspace/applyEdit')) as [{ edit: unknown }];
    expect(edit).toEqual({ changes: { [uri()]: [{ range: rangeOf(text), newText: '' }] } });
    // The editor has not made the edit, whatever it said: saving again sends nothing twice.
    await save(editor, uri(), text);
    await change(editor, uri(), 2, '');
    await change(editor, uri(), 3, text);
    await save(editor, uri(), text);
    await editor.when(() => editor.hub.intents.length === 2);
  });

  it('keeps what was refused, and what was written since', async () => {
    const editor = await editorWith({ 'workspace/applyEdit': () => ({ applied: true }) });
    await open(editor, uri(), 'one');
    await save(editor, uri(), 'one');
    await editor.when(() => editor.hub.intents.length === 1);
    settle(editor, 0, 'refused');
    await editor.until('window/showMessage');
    await save(editor, uri(), 'one');
    await editor.when(() => editor.hub.intents.length === 2);
    await change(editor, uri(), 2, 'something newer');
    settle(editor, 1, 'done');
    await editor.execute('atomic.getState').catch(() => {});
    expect(editor.of('workspace/applyEdit')).toEqual([]);
  });

  it('keeps what was on its way when the hub ended, says so, and can be sent again', async () => {
    const editor = await editorWith({ 'workspace/applyEdit': () => ({ applied: true }) });
    await open(editor, uri(), 'one');
    await save(editor, uri(), 'one');
    await editor.when(() => editor.hub.intents.length === 1);
    await editor.connection.sendRequest('workspace/executeCommand', { command: 'atomic.listTabs' });
    editor.hub.die({ forget: true });
    await editor.when(() => {
      editor.clock.advance(50);
      return editor.messages().some((it) => /It is still in the prompt file: look into the chat/.test(it));
    });
    expect(editor.of('workspace/applyEdit')).toEqual([]);
    await save(editor, uri(), 'one');
    await editor.when(() => editor.hub.intents.length === 2);
    expect(editor.hub.intents[1]!.id).not.toBe(editor.hub.intents[0]!.id);
    settle(editor, 1, 'done');
    await editor.until('workspace/applyEdit');
  });

  it('is not sent while it is empty, nor when a file of that name is elsewhere', async () => {
    const editor = await editorWith();
    await save(editor, uri(), ' \n');
    await save(editor, 'file:///elsewhere/prompt.md', 'not this');
    await save(editor, uri(), 'this');
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]!.params).toEqual({ message: 'this' });
  });

  it('does not believe a change that is older than what it knows', async () => {
    const editor = await editorWith({ 'workspace/applyEdit': () => ({ applied: true }) });
    await change(editor, uri(), 5, 'newest');
    await change(editor, uri(), 4, 'older');
    await save(editor, uri(), 'newest');
    await editor.when(() => editor.hub.intents.length === 1);
    settle(editor, 0, 'done');
    await editor.until('workspace/applyEdit');
  });
});

describe('an answer file', () => {
  const asked = { id: 'd1', method: 'editor', title: 'Commit message?', prefill: 'wip' } as const;
  const answerFile = () => join(folder, 'answers', readdirSync(join(folder, 'answers'))[0]!);

  it('is opened by atomic.answer without arguments, and answers when it is saved', async () => {
    const editor = await editorWith();
    editor.hub.append(opened(asked));
    await editor.until('window/showMessage');
    await editor.execute('atomic.answer');
    await editor.until('window/showDocument');
    const text = readFileSync(answerFile(), 'utf8');
    expect(text).toBe(`> Commit message?\n\n${answerBelow}\nwip\n`);
    await save(editor, pathToFileURL(answerFile()).href, text.replace('wip', 'Fix\n\nIt'));
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({
      command: 'answer',
      params: { dialog: 'd1', value: 'Fix\n\nIt' },
    });
    await editor.when(() => readdirSync(join(folder, 'answers')).length === 0);
  });

  it('says when the answer cannot be told from the question, and goes when the question is settled', async () => {
    const editor = await editorWith();
    editor.hub.append(opened(asked));
    await editor.until('window/showMessage');
    await editor.execute('atomic.answer');
    await editor.until('window/showDocument');
    await save(editor, pathToFileURL(answerFile()).href, 'all deleted');
    await editor.when(() => editor.messages().some((it) => it.includes('is gone')));
    editor.hub.append({ type: 'dialog_settled', id: 'd1', outcome: 'expired' });
    await editor.when(() => readdirSync(join(folder, 'answers')).length === 0);
    expect(editor.hub.intents).toEqual([]);
  });
});

it('a server that was started on a file of a session joins that session', async () => {
  const hub = fakeHub();
  const editor = await startEditor({
    hub,
    params: { rootUri: pathToFileURL(folder).href },
    server: {
      sessionOf: (file) =>
        file === join(folder, 'prompt.md') ? { workspace: '/the workspace', session: 'tab' } : undefined,
    },
  });
  await attached(editor);
  expect(hub.attaches[0]).toMatchObject({ workspace: '/the workspace', session: 'tab' });
});
