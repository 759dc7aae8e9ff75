// The oddities of editors, one by one: a dismissal in every form is no answer, silence holds up nothing, what an editor says that it
// has done and has not done loses no text.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { delta, type FakeEditor, opened, settled } from '../unit/editor/support.ts';
import {
  busyEglot,
  eglot,
  helix,
  kakoune,
  kate,
  lapce,
  lsp4ij,
  neovim,
  newerEglot,
  vimLsp,
  yegappan,
} from './quirks-clients.ts';
import { allow, over, run, started, worked } from './quirks-support.ts';

const prompt = (editor: FakeEditor) => pathToFileURL(join(editor.hub.folder, 'prompt.md')).href;
const open = (editor: FakeEditor, uri: string, version: number, text: string) =>
  editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'markdown', version, text },
  });
const change = (editor: FakeEditor, uri: string, version: number, text: string) =>
  editor.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version },
    contentChanges: [{ text }],
  });
const save = (editor: FakeEditor, uri: string, text: string) =>
  editor.connection.sendNotification('textDocument/didSave', { textDocument: { uri }, text });
const answered = (editor: FakeEditor) => editor.hub.intents.filter(({ command }) => command === 'answer');

describe('a question that was not answered', () => {
  it.each([
    ['{} of a closed window', kate],
    ['RequestCancelled of a closed balloon', lsp4ij],
    ['InternalError of a minibuffer in use', busyEglot],
    ['MethodNotFound', helix],
    ['an error of an editor that said that it can', lapce],
    ['null, for whatever was chosen but the first', vimLsp],
  ])('by %s is still open, and the other ways are told', async (_, client) => {
    const editor = await started(client);
    editor.hub.append(allow);
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/Run rm\? — atomic.answer1 = Allow, atomic.answer2 = Deny/);
    expect(answered(editor)).toEqual([]);
    await editor.execute('atomic.answer2');
    expect(answered(editor)[0]!.params).toEqual({ dialog: 'd1', index: 1 });
    editor.hub.append(settled('d1'), opened({ id: 'd2', title: 'Next?', options: ['x'] }));
    await editor.when(() => editor.messages().some((it) => it.startsWith('Next?')));
  });

  it.each([
    ['C-g', eglot],
    ['a queue that nobody looks into', kakoune],
  ])('by silence (%s) is told of after a minute, and holds up nothing', async (_, client) => {
    // Eglot does not say that it has message requests.
    const editor = await started(client);
    editor.hub.append(allow, opened({ id: 'd2', title: 'Next?', options: ['x'] }));
    await editor.until('window/showMessageRequest');
    await worked(editor);
    expect(editor.of('window/showMessageRequest')).toHaveLength(1);
    editor.clock.advance(60_000);
    await editor.until('window/showMessageRequest', 2);
    expect(editor.messages()[0]).toContain('Run rm?');
    await editor.execute('atomic.answer1', 'd1');
    expect(answered(editor)[0]!.params).toEqual({ dialog: 'd1', index: 0 });
  });

  it('is asked in no other way once the editor said that it knows no such requests', async () => {
    const editor = await started({
      ...helix,
      name: 'new',
      params: { clientInfo: { name: 'new' }, capabilities: { window: { showMessage: {} } } },
    });
    editor.hub.append(allow);
    await editor.until('window/showMessage');
    editor.hub.append(settled('d1'), opened({ id: 'd2', options: ['x'] }));
    await editor.when(() => editor.messages().length > 1);
    expect(editor.of('window/showMessageRequest')).toHaveLength(1);
  });

  it('by null, which an editor says to every request that it does not know, is not taken for an answer', async () => {
    const editor = await started(eglot, { client: { name: 'x', events: true, dialogs: true } });
    editor.hub.append(allow);
    await editor.until('atomic/dialog');
    await worked(editor);
    expect(answered(editor)).toEqual([]);
    await editor.execute('atomic.answer1');
    expect(answered(editor)).toHaveLength(1);
  });

  it('has at least one choice whenever it is asked as a message', async () => {
    const editor = await started(yegappan);
    editor.hub.append(opened({ id: 'd1', method: 'input', title: 'Name?' }));
    await editor.until('window/showMessage');
    editor.hub.append(settled('d1'), opened({ id: 'd2', options: ['x', 'y'] }));
    await editor.when(() => answered(editor).length === 1);
    expect(answered(editor)[0]!.params).toEqual({ dialog: 'd2', index: 1 });
    expect(editor.of('window/showMessageRequest')).toHaveLength(1);
  });
});

describe('a file of ours', () => {
  it.each([
    ['never answers', kate],
    ['never answers, and shows no infos', vimLsp],
    ['does not know the request', yegappan],
    ['does not know the request (Kakoune)', kakoune],
  ])('is named where the editor %s', async (_, client) => {
    const editor = await started(client);
    expect(await editor.execute('atomic.compose')).toEqual({ opens: 'prompt.md' });
    await worked(editor);
    editor.clock.advance(2_000);
    const [{ type, message }] = (await editor.until('window/showMessage')) as [
      { type: number; message: string },
    ];
    expect(message).toContain(join(editor.hub.folder, 'prompt.md'));
    expect(type).toBe(client === vimLsp ? 2 : 3);
  });

  it('is shown with a place in it, without which one editor never answers', async () => {
    const editor = await started(lsp4ij);
    await editor.execute('atomic.compose');
    const [shown] = await editor.until('window/showDocument');
    expect(shown.selection).toEqual({ start: { line: 0, character: 0 }, end: { line: 0, character: 0 } });
    // The answer is there before the time is up.
    await worked(editor);
    editor.clock.advance(10_000);
    await worked(editor);
    expect(editor.messages()).toEqual([]);
  });
});

describe('an edit that was not made', () => {
  it.each([
    ['applied: true after a stale version', neovim],
    ['applied: true after the person said no', eglot],
    ['applied: null', newerEglot],
    ['applied: false, two seconds after a command', kate],
  ])('(%s) leaves the prompt as it is, and it is not sent twice', async (_, client) => {
    const editor = await started(client);
    await open(editor, prompt(editor), 1, 'Fix it.\n');
    await save(editor, prompt(editor), 'Fix it.\n');
    await editor.when(() => editor.hub.intents.length === 1);
    const { id } = editor.hub.intents[0]!;
    editor.hub.append({ type: 'intent_settled', intent: id, command: 'prompt', outcome: 'done' });
    await editor.until('workspace/applyEdit');
    await worked(editor);
    editor.clock.advance(2_000);
    await editor.until('window/showMessage');
    expect(editor.messages().at(-1)).toMatch(/^Sent\. Its text still stands in the prompt file/);
    await save(editor, prompt(editor), 'Fix it.\n');
    await worked(editor);
    await change(editor, prompt(editor), 2, 'And the next.\n');
    await save(editor, prompt(editor), 'And the next.\n');
    await editor.when(() => editor.hub.intents.length === 2);
    expect(editor.hub.intents[1]!.params).toMatchObject({ message: 'And the next.' });
  });

  it.each([
    ['applied: true', neovim],
    ['applied: false', kate],
  ])('(%s) of the draft is told, and what is written stays', async (_, client) => {
    const editor = await started(client);
    await open(editor, prompt(editor), 1, 'half a thought');
    expect(await editor.execute('atomic.addToPrompt', 'more')).toEqual({});
    await editor.until('workspace/applyEdit');
    await worked(editor);
    editor.clock.advance(5_000);
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/^The editor did not take the text into the open prompt file/);
    expect(editor.hub.intents).toEqual([]);
  });

  it.each([
    ['takes edits for two seconds only', kate],
    ['edits files on disk', kakoune],
    ['says that all was applied', vimLsp],
  ])('is not tried for the chat where an editor %s: it grows on disk', async (_, client) => {
    const editor = await started(client);
    await editor.execute('atomic.open');
    await worked(editor);
    editor.clock.advance(2_000);
    await editor.until('window/showMessage');
    editor.hub.append(...run, delta('All is well.'), {
      type: 'message_end',
      message: { role: 'assistant', content: [{ type: 'text', text: 'All is well.' }], timestamp: 1 },
    });
    editor.hub.append(over);
    const views = join(editor.hub.folder, 'views');
    const text = () => (existsSync(views) ? readFileSync(join(views, readdirSync(views)[0]!), 'utf8') : '');
    await editor.when(() => {
      editor.clock.advance(500);
      return text().includes('All is well.');
    });
    expect(editor.of('workspace/applyEdit')).toEqual([]);
  });
});

describe('what an editor sends', () => {
  it('in the wrong order is put right by its versions', async () => {
    const editor = await started(helix);
    const uri = 'file:///project/a%20%C3%BC.md';
    await change(editor, uri, 2, 'two');
    await open(editor, uri, 1, 'one');
    await change(editor, uri, 5, 'five');
    await change(editor, uri, 3, 'three');
    await change(editor, uri, 4, 'four');
    await editor.execute('atomic.ask', { uri, question: 'What?' });
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]!.params.message).toContain('```markdown\nfive\n```');
  });

  it('as a cancellation of a request that it never made is ignored', async () => {
    const editor = await started(vimLsp);
    for (const id of [0, 1, 999, 'x']) await editor.connection.sendNotification('$/cancelRequest', { id });
    await worked(editor);
    await editor.execute('atomic.prompt', 'go on');
    expect(editor.hub.intents).toHaveLength(1);
  });

  it('as a lost end of progress is made good by saying it again, with the same token', async () => {
    const editor = await started(helix);
    editor.hub.append(...run);
    await editor.until('$/progress');
    editor.hub.append(over);
    const ends = () => editor.of('$/progress').filter(({ value }) => value.kind === 'end');
    await editor.when(() => ends().length === 1);
    editor.clock.advance(10_000);
    await editor.when(() => ends().length > 1);
    expect(new Set(editor.of('$/progress').map(({ token }) => token)).size).toBe(1);
  });
});
