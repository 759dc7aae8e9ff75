// What is asked from a place: references with the text as the editor has it, and a draft that is never lost.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  actions,
  at,
  editorWith,
  fileWith,
  folder,
  later,
  open,
  promptFile,
  promptUri,
  run,
  running,
  sent,
  titled,
} from './code-support.ts';
import type { FakeEditor } from './support.ts';

describe('a selection', () => {
  const text = 'one\r\ntwo\r\n```three\r\nfour\r\n';
  it('is explained with its lines as they are on disk', async () => {
    const editor = await editorWith();
    const uri = fileWith('ä b.ts', text);
    await open(editor, uri, text.replaceAll('\r', ''));
    await run(titled(await actions(editor, uri, {}, at(1, 2, 3, 0)), /^Explain/), editor);
    expect(await sent(editor)).toBe('Explain this.\n\n`ä b.ts:2-3`\n````typescript\ntwo\n```three\n````');
  });

  it('is asked about with its unsaved text, above what a draft may hold', async () => {
    const editor = await editorWith();
    const uri = fileWith('a.ts', text);
    await open(editor, uri, 'one\nzwei\n');
    writeFileSync(promptFile(), 'My draft');
    await run(titled(await actions(editor, uri), /^Ask/), editor);
    await editor.until('window/showDocument');
    // Another server of Neovim may look after the file.
    await later(editor, () => editor.of('workspace/applyEdit').length > 0);
    const [{ edit }] = (await editor.until('workspace/applyEdit')) as [{ edit: { changes: object } }];
    expect(Object.values(edit.changes)[0]).toEqual([
      {
        range: at(1_000_000, 0, 1_000_000, 0),
        newText: '\n\n`a.ts:2` (unsaved)\n```typescript\nzwei\n```\n',
      },
    ]);
    // It did not take the edit, so the text is on disk.
    await editor.when(() => readFileSync(promptFile(), 'utf8').includes('zwei'));
    expect(readFileSync(promptFile(), 'utf8')).toBe(
      'My draft\n\n`a.ts:2` (unsaved)\n```typescript\nzwei\n```\n',
    );
    expect(editor.hub.intents).toEqual([]);
  });

  it('of a saved file is mentioned, outside the workspace by its whole path', async () => {
    const editor = await editorWith({ name: 'helix' });
    const uri = fileWith('a.ts', text);
    await open(editor, uri, text);
    await run(titled(await actions(editor, uri), /^Ask/), editor);
    await editor.until('window/showDocument');
    expect(readFileSync(promptFile(), 'utf8')).toBe('\n\n@a.ts:2\n');
    const far = join(folder, 'far.txt');
    writeFileSync(far, 'x');
    await editor.execute('atomic.addToPrompt', { uri: pathToFileURL(far).href });
    await editor.when(() => readFileSync(promptFile(), 'utf8').includes('far'));
    expect(readFileSync(promptFile(), 'utf8')).toBe(`\n\n@a.ts:2\n\n@"${far}"\n`);
  });

  it('of a saved file in UTF-16 is saved, and its lines are read', async () => {
    const editor = await editorWith({ name: 'helix' });
    const uri = fileWith('weit.txt', Buffer.from('\uFEFFeins\r\nzwölf\r\n', 'utf16le'));
    await editor.execute('atomic.ask', { uri, range: at(1, 0, 1, 1), question: 'Closed?' });
    expect(await sent(editor)).toBe('Closed?\n\n`weit.txt:2`\n```\nzwölf\n```');
    await open(editor, uri, 'eins\nzwölf\n');
    await editor.execute('atomic.ask', { uri, range: at(1, 0, 1, 1), question: 'Open?' });
    expect(await sent(editor, 1)).toBe('Open?\n\n`weit.txt:2`\n```typescript\nzwölf\n```');
  });

  it('of a document without a file has its text', async () => {
    const editor = await editorWith();
    await open(editor, 'untitled:1', 'a\nb', 'python');
    await editor.execute('atomic.ask', { uri: 'untitled:1', range: at(1, 0, 1, 1), question: 'Why?' });
    expect(await sent(editor)).toBe('Why?\n\nA text without a file\n```python\nb\n```');
  });

  it('is given to a template as one word, and to a skill as it is', async () => {
    const editor = await editorWith();
    editor.hub.data.get_commands = {
      commands: [
        { name: 'review', source: 'prompt' },
        { name: 'skill:pdf', source: 'skill' },
      ],
    };
    editor.hub.append(running);
    await editor.when(() => editor.hub.journal.last > 0);
    const uri = fileWith('a.ts', text);
    await open(editor, uri, 'say "hi"');
    const offers = await actions(editor, uri, {}, at(0, 0, 0, 1));
    await run(titled(offers, /review/), editor);
    expect(await sent(editor)).toBe('/review "`a.ts:1` (unsaved)\n```typescript\nsay \\"hi\\"\n```"');
    await run(titled(offers, /pdf/), editor);
    expect(await sent(editor, 1)).toBe('/skill:pdf `a.ts:1` (unsaved)\n```typescript\nsay "hi"\n```');
  });

  it('has its diagnostics fixed, whoever found them, but not ours', async () => {
    const editor = await editorWith();
    const uri = fileWith('a.ts', text);
    await open(editor, uri, text);
    const found = { range: at(0, 1, 0, 2), message: 'Bad\n thing', severity: 2, source: 'tsc', code: 42 };
    const ours = { range: at(3, 0, 3, 1), message: 'no such file', source: 'atomic' };
    const offer = titled(await actions(editor, uri, { diagnostics: [found, ours] }), /^Fix this/);
    expect(offer).toMatchObject({ kind: 'quickfix', diagnostics: [found] });
    await run(offer, editor);
    expect(await sent(editor)).toBe(
      'Fix this problem:\n\n```\nline 1: warning: Bad\n  thing (tsc 42)\n```\n\n`a.ts:1-2`\n```typescript\none\ntwo\n```',
    );
    const none = await actions(editor, uri, { diagnostics: [ours] });
    expect(none.filter(({ kind }) => kind === 'quickfix')).toEqual([]);
  });

  it('of a file that is not there is refused in one sentence', async () => {
    const editor = await editorWith();
    await editor.execute('atomic.ask', { uri: 'file:///not/there.ts', question: 'Why?' });
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/^\/not\/there.ts is neither open nor to be read: open or save/);
    expect(editor.hub.intents).toEqual([]);
  });
});

describe('the draft', () => {
  const apply = (text: string) => (editor: FakeEditor) =>
    editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: promptUri(), version: 2 },
      contentChanges: [{ text }],
    });
  it('is changed in the editor that has it open, at its exact end', async () => {
    const editor = await editorWith({
      name: 'helix',
      answers: { 'workspace/applyEdit': () => ({ applied: true }) },
    });
    writeFileSync(promptFile(), '');
    await open(editor, promptUri(), 'My dräft\nis long');
    await editor.execute('atomic.addToPrompt', 'More.');
    const [{ edit }] = (await editor.until('workspace/applyEdit')) as [{ edit: { changes: object } }];
    expect(edit.changes).toEqual({ [promptUri()]: [{ range: at(1, 7, 1, 7), newText: '\n\nMore.\n' }] });
    await apply('My dräft\nis long\n\nMore.\n')(editor);
    let time = 0;
    await later(editor, () => {
      time += 20;
      return time > 3000;
    });
    expect(editor.messages()).toEqual([]);
    expect(readFileSync(promptFile(), 'utf8')).toBe('');
  });

  it('is not taken as changed because the editor says so', async () => {
    const editor = await editorWith({ answers: { 'workspace/applyEdit': () => ({ applied: true }) } });
    await open(editor, promptUri(), 'My draft');
    await editor.execute('atomic.addToPrompt', 'More.');
    await later(editor, () => editor.messages().length > 0);
    expect(editor.messages()[0]).toMatch(/did not take the text into the open prompt file: save or close/);
  });

  it('is asked for without a text, and opened by a question without one', async () => {
    const editor = await editorWith();
    expect(await editor.execute('atomic.addToPrompt')).toEqual({ asking: 'Add to the prompt' });
    expect(await editor.execute('atomic.ask')).toEqual({ opens: 'prompt.md' });
    await editor.until('window/showDocument');
    await editor.execute('atomic.ask', 'Just this?');
    expect(await sent(editor)).toBe('Just this?');
  });
});
