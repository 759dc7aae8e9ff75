// A prompt while it is written and when it is sent, as an editor sees it: diagnostics, hover, texts and images of the intent.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderWith, png } from '../prompt/support.ts';
import { attached, type EditorHow, type FakeEditor, fakeHub, startEditor } from './support.ts';

let folder = '';
let workspace = '';
beforeEach(() => {
  folder = folderWith();
  workspace = folderWith({ 'src/a b.ts': 'one\ntwo\n', 'shot.png': png(8, 4) });
});

const uri = () => pathToFileURL(path.join(folder, 'prompt.md')).href;
async function editorWith(how: EditorHow = {}): Promise<FakeEditor> {
  const hub = fakeHub();
  hub.folder = folder;
  hub.data.get_commands = {
    commands: [{ name: 'review', source: 'prompt', description: 'Reviews changes.' }],
  };
  const editor = await startEditor({
    hub,
    name: 'helix',
    params: { rootUri: pathToFileURL(workspace).href },
    ...how,
  });
  await attached(editor);
  return editor;
}
const open = (editor: FakeEditor, at: string, text: string, languageId = 'markdown') =>
  editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri: at, languageId, version: 1, text },
  });
const change = (editor: FakeEditor, at: string, version: number, text: string) =>
  editor.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri: at, version },
    contentChanges: [{ text }],
  });
/** What the editor shows of a document, when it has been told something new. */
async function told(editor: FakeEditor, count: number) {
  await editor.when(() => {
    editor.clock.advance(300);
    return editor.of('textDocument/publishDiagnostics').length >= count;
  });
  return editor.of('textDocument/publishDiagnostics').at(-1);
}
const hover = (editor: FakeEditor, line: number, character: number, at = uri()) =>
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  editor.connection.sendRequest<any>('textDocument/hover', {
    textDocument: { uri: at },
    position: { line, character },
  });

describe('diagnostics', () => {
  it('come after the last change, go when it is mended, and are cleared on close', async () => {
    const editor = await editorWith();
    await open(editor, uri(), 'See 🎉 @nowhere.ts\r\nand @"src/a b.ts":9.');
    expect((await told(editor, 1)).diagnostics).toEqual([
      {
        range: { start: { line: 0, character: 7 }, end: { line: 0, character: 18 } },
        severity: 2,
        source: 'atomic',
        message: 'There is no file nowhere.ts: this is sent as text.',
      },
      expect.objectContaining({
        range: { start: { line: 1, character: 4 }, end: { line: 1, character: 19 } },
        message: 'src/a b.ts has 2 lines: this is sent as text.',
      }),
    ]);
    await change(editor, uri(), 2, 'See @"src/a b.ts".');
    expect((await told(editor, 2)).diagnostics).toEqual([]);
    await change(editor, uri(), 3, '/nothing');
    expect((await told(editor, 3)).diagnostics).toMatchObject([
      { message: expect.stringContaining('/nothing') },
    ]);
    await editor.connection.sendNotification('textDocument/didClose', { textDocument: { uri: uri() } });
    await editor.until('textDocument/publishDiagnostics', 4);
    expect(editor.of('textDocument/publishDiagnostics').at(-1)).toEqual({ uri: uri(), diagnostics: [] });
  });

  it('look again when a document is opened, the agent says new commands, or the model changes', async () => {
    const editor = await editorWith();
    await open(editor, 'untitled:1', '/later #other.ts @shot.png', 'atomic-prompt');
    expect((await told(editor, 1)).diagnostics).toHaveLength(2);
    await open(editor, pathToFileURL(path.join(workspace, 'other.ts')).href, '', 'typescript');
    expect((await told(editor, 2)).diagnostics).toHaveLength(1);
    editor.hub.data.get_commands = { commands: [{ name: 'later', source: 'extension' }] };
    editor.hub.append({ type: 'intent_settled', intent: 'x', command: 'reload', outcome: 'done' });
    expect((await told(editor, 3)).diagnostics).toMatchObject([
      { severity: 3, message: expect.stringContaining('only the name') },
    ]);
    await change(editor, 'untitled:1', 2, '@shot.png');
    expect((await told(editor, 4)).diagnostics).toEqual([]);
    editor.hub.append({
      type: 'model_changed',
      model: { id: 'b', provider: 'p', name: 'Blind', input: ['text'] },
    });
    expect((await told(editor, 5)).diagnostics).toMatchObject([
      { message: expect.stringContaining('Blind') },
    ]);
  });

  it('are for prompts alone', async () => {
    const editor = await editorWith();
    await open(editor, pathToFileURL(path.join(workspace, 'prompt.md')).href, '@nowhere.ts');
    await open(editor, uri(), '@nowhere.ts');
    expect((await told(editor, 1)).uri).toBe(uri());
    expect(editor.of('textDocument/publishDiagnostics')).toHaveLength(1);
  });
});

describe('hover', () => {
  it('shows what is sent of a mention and what a command does', async () => {
    const editor = await editorWith();
    await open(editor, uri(), '/review @"src/a b.ts":2 @shot.png word');
    expect(await hover(editor, 0, 2)).toEqual({
      contents: { kind: 'markdown', value: '**/review**: prompt template\n\nReviews changes.' },
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 7 } },
    });
    expect((await hover(editor, 0, 12)).contents.value).toMatch(
      /^\*\*src\/a b\.ts\*\*: line 2 of 2, 3 bytes are not sent/,
    );
    expect((await hover(editor, 0, 27)).contents.value).toContain('8 × 4 pixels');
    expect(await hover(editor, 0, 37)).toBeNull();
    expect(await hover(editor, 0, 0, 'file:///elsewhere.md')).toBeNull();
  });
});

describe('completion', () => {
  const complete = async (editor: FakeEditor, text: string, at = uri()) => {
    await open(editor, at, text, at.startsWith('file:') ? 'markdown' : 'atomic-prompt');
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
    return editor.connection.sendRequest<any>('textDocument/completion', {
      textDocument: { uri: at },
      position: { line: 0, character: text.length },
    });
  };
  const texts = (list: { items: { textEdit: { newText: string } }[] }) =>
    list.items.map((it) => it.textEdit.newText);

  it('is announced with its signs, and offers files with the text that they replace', async () => {
    const editor = await editorWith();
    expect(editor.initialized.capabilities.completionProvider.triggerCharacters).toEqual(
      expect.arrayContaining(['/', '@', '#']),
    );
    const list = await complete(editor, '🎉 see @"src/a');
    expect(list.items[0]).toMatchObject({
      label: 'src/a b.ts',
      kind: 17,
      filterText: '@"src/a b.ts"',
      textEdit: {
        range: { start: { line: 0, character: 7 }, end: { line: 0, character: 14 } },
        newText: '@"src/a b.ts"',
      },
    });
    expect(list.isIncomplete).toBe(true);
  });

  it('knows files that came while the agent worked', async () => {
    const editor = await editorWith();
    expect(texts(await complete(editor, '@fresh', 'untitled:1'))).toEqual([]);
    writeFileSync(path.join(workspace, 'fresh.ts'), '');
    editor.hub.append({ type: 'file_touched', path: path.join(workspace, 'fresh.ts'), toolName: 'write' });
    let found: string[] = [];
    for (let n = 2; found.length === 0; n += 1)
      found = texts(await complete(editor, '@fresh', `untitled:${n}`));
    expect(found).toEqual(['@fresh.ts']);
  });

  it('offers no files of a session, where the editor has its folder open', async () => {
    writeFileSync(path.join(folder, 'prompt.md'), '');
    const named = (at: string) => ({ uri: pathToFileURL(at).href, name: path.basename(at) });
    const other = folderWith({ 'prompt-notes.md': '' });
    const editor = await editorWith({
      params: { workspaceFolders: [named(workspace), named(folder), named(other)] },
      server: {
        sessionOf: (file) => (file.startsWith(folder) ? { workspace, session: 'default' } : undefined),
      },
    });
    expect(texts(await complete(editor, '@prompt'))).toEqual([`@"${path.basename(other)}/prompt-notes.md"`]);
  });

  it('offers commands and their arguments', async () => {
    const editor = await editorWith();
    editor.hub.data.get_available_models = {
      models: [
        { provider: 'a', id: 'b/c' },
        { provider: 'x', id: 'y' },
      ],
    };
    editor.hub.data.get_commands = {
      commands: [
        { name: 'review', source: 'prompt' },
        { name: 'deploy', source: 'extension' },
      ],
    };
    editor.hub.data.get_command_completions = { completions: [{ value: 'prod', label: 'Production' }] };
    expect(texts(await complete(editor, '/re'))).toEqual(['/reload', '/review']);
    expect(texts(await complete(editor, '/model b'))).toEqual(['a/b/c']);
    const deploy = await complete(editor, '/deploy pr');
    expect(deploy.items[0]).toMatchObject({ label: 'Production', textEdit: { newText: 'prod' } });
    expect(editor.hub.reads.at(-1)!.params).toEqual({ commandName: 'deploy', argumentPrefix: 'pr' });
    expect((await complete(editor, '/review x')).items).toEqual([]);
    expect((await complete(editor, '/thinking h')).items).toEqual([]);
  });

  it('has nothing for other documents and other places', async () => {
    const editor = await editorWith();
    const nothing = { isIncomplete: false, items: [] };
    expect(await complete(editor, '@', 'file:///other.md')).toEqual(nothing);
    expect(await complete(editor, 'plain text')).toEqual(nothing);
  });
});

describe('sending', () => {
  const saved = async (editor: FakeEditor, text: string) => {
    const before = editor.hub.intents.length;
    await editor.connection.sendNotification('textDocument/didSave', { textDocument: { uri: uri() }, text });
    await editor.when(() => editor.hub.intents.length > before);
    return editor.hub.intents.at(-1)!.params;
  };

  it('adds the editor’s text and the image, and says what was written', async () => {
    const editor = await editorWith();
    await open(
      editor,
      pathToFileURL(path.join(workspace, 'src/a b.ts')).href,
      'one\nnot saved\n',
      'typescript',
    );
    const text = 'Why @"src/a b.ts":2, and what is in @shot.png?';
    expect(await saved(editor, `${text}\n`)).toEqual({
      message: `${text}\n\n\`src/a b.ts:2\` (unsaved)\n\`\`\`typescript\nnot saved\n\`\`\``,
      images: [{ type: 'image', data: png(8, 4).toString('base64'), mimeType: 'image/png' }],
      written: text,
    });
  });

  it('sends what was written and says what could not come with it', async () => {
    const editor = await editorWith();
    expect(await saved(editor, 'see @gone.ts and @someone')).toEqual({
      message: 'see @gone.ts and @someone',
    });
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual(['There is no file gone.ts: this is sent as text.']);
  });

  it('leaves what a rich client sends as it is', async () => {
    const editor = await editorWith({ options: { client: { name: 'rich', events: true } } });
    await editor.execute('atomic.prompt', 'see @shot.png');
    expect(editor.hub.intents.at(-1)!.params).toEqual({ message: 'see @shot.png' });
  });

  it('never refers to the prompt’s own file or the transcript', async () => {
    mkdirSync(path.join(folder, 'views'));
    writeFileSync(path.join(folder, 'chat.md'), 'secret talk');
    const editor = await editorWith({
      server: {
        sessionOf: (file) => (file.startsWith(folder) ? { workspace, session: 'default' } : undefined),
      },
    });
    await open(editor, pathToFileURL(path.join(folder, 'chat.md')).href, 'secret talk');
    await open(editor, uri(), 'x');
    expect(await saved(editor, 'see #chat.md and #prompt.md')).toEqual({
      message: 'see #chat.md and #prompt.md',
    });
  });
});

it('has its command, mentions and code as symbols, the code as folds, and what is there as links', async () => {
  const editor = await editorWith();
  const text =
    '/review 🎉 @"src/a b.ts":2, @none.ts\r\n```js\r\n@x.ts\r\n```\r\n`@y.ts` and #prompt.md @src/';
  await open(editor, uri(), text);
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  const ask = (method: string, at = uri()): Promise<any> =>
    editor.connection.sendRequest(`textDocument/${method}`, { textDocument: { uri: at } });
  const symbols = await ask('documentSymbol');
  expect(symbols.map(({ name }: { name: string }) => name)).toEqual([
    '/review',
    '@"src/a b.ts":2',
    '@none.ts',
    'js',
    '#prompt.md',
    '@src/',
  ]);
  expect(await ask('foldingRange')).toEqual([{ startLine: 1, endLine: 3 }]);
  const links = await ask('documentLink');
  expect(links.map(({ target }: { target: string }) => target)).toEqual([
    `${pathToFileURL(path.join(workspace, 'src', 'a b.ts')).href}#L2`,
    pathToFileURL(path.join(workspace, 'src')).href,
  ]);
  expect(links[0].range).toEqual({ start: { line: 0, character: 11 }, end: { line: 0, character: 26 } });
  const other = pathToFileURL(path.join(workspace, 'notes.md')).href;
  await open(editor, other, text);
  expect(await ask('documentSymbol', other)).toEqual([]);
});
