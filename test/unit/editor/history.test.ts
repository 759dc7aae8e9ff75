// Earlier prompts in the prompt file: taken from the list into the draft, and taken out of a file that still has what was sent.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, editorWith, later, open, promptFile, promptUri } from './code-support.ts';
import type { FakeEditor } from './support.ts';

const helix = { name: 'helix', answers: { 'workspace/applyEdit': () => ({ applied: true }) } };
const kept = (editor: FakeEditor, ...texts: string[]) => {
  editor.hub.data.list_history = { prompts: texts.map((text, n) => ({ text, at: n })) };
};
const edits = (editor: FakeEditor) =>
  editor.of('workspace/applyEdit').map(({ edit }) => edit.changes[promptUri()]);

describe('atomic.history', () => {
  it('asks for one, puts it into the file as it was, and sends nothing', async () => {
    const editor = await editorWith(helix);
    kept(editor, '/review it', 'Fix\n  this ß');
    expect(await editor.execute('atomic.history')).toEqual({ asking: 'Earlier prompt' });
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toContain('atomic.answer1 = /review it, atomic.answer2 = Fix this ß');
    await editor.execute('atomic.answer2');
    await editor.until('window/showDocument');
    expect(readFileSync(promptFile(), 'utf8')).toBe('Fix\n  this ß\n');
    expect(statSync(promptFile()).mode & 0o777).toBe(0o600);
    expect(editor.hub.intents).toEqual([]);
  });

  it('goes below a draft, on disk and in an open document, and begins an empty one', async () => {
    const editor = await editorWith(helix);
    kept(editor);
    writeFileSync(promptFile(), 'My draft');
    expect(await editor.execute('atomic.history', 'one')).toEqual({ opens: 'prompt.md' });
    await editor.until('window/showDocument');
    expect(readFileSync(promptFile(), 'utf8')).toBe('My draft\n\none\n');
    await open(editor, promptUri(), 'My draft\n\none\n');
    await editor.execute('atomic.history', 'two');
    await editor.until('workspace/applyEdit');
    expect(edits(editor)[0]).toEqual([{ range: at(3, 0, 3, 0), newText: '\ntwo\n' }]);
    await open(editor, promptUri(), '\n');
    await editor.execute('atomic.history', '/three');
    await editor.until('workspace/applyEdit', 2);
    expect(edits(editor)[1]).toEqual([{ range: at(0, 0, 1, 0), newText: '/three\n' }]);
  });

  it('says when there is none', async () => {
    const editor = await editorWith(helix);
    kept(editor);
    await editor.execute('atomic.history');
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual(['No prompt of this session was taken yet.']);
  });
});

describe('a prompt file that has what was sent before', () => {
  it('is emptied when it is opened, and says where that is', async () => {
    const editor = await editorWith(helix);
    kept(editor, 'Other', 'Sent ß\nbefore');
    writeFileSync(promptFile(), 'Sent ß\nbefore\n');
    await open(editor, promptUri(), 'Sent ß\r\nbefore\r\n');
    await editor.until('workspace/applyEdit');
    expect(edits(editor)[0]).toEqual([{ range: at(0, 0, 2, 0), newText: '' }]);
    expect(editor.messages()[0]).toMatch(
      /had what was sent before, so it is empty now; atomic.history has it/,
    );
  });

  it.each(['Sent', 'Sent before, and more', ' \n'])(
    'stays when it has %j, which was not sent',
    async (text) => {
      const editor = await editorWith(helix);
      kept(editor, 'Sent before');
      writeFileSync(promptFile(), text);
      await open(editor, promptUri(), text);
      await editor.execute('atomic.listHistory');
      await editor.execute('atomic.listHistory');
      expect(edits(editor)).toEqual([]);
      expect(editor.messages()).toEqual([]);
    },
  );

  it('stays when the text is being written and not saved, as after a restart of the server', async () => {
    const editor = await editorWith(helix);
    kept(editor, 'Go on');
    writeFileSync(promptFile(), 'Something else');
    await open(editor, promptUri(), 'Go on');
    await editor.execute('atomic.listHistory');
    await editor.execute('atomic.listHistory');
    expect(edits(editor)).toEqual([]);
  });

  it('is not what a reference is added to, on disk or in a document that opens', async () => {
    const editor = await editorWith(helix);
    kept(editor, 'Sent');
    writeFileSync(promptFile(), 'Sent\n');
    await editor.execute('atomic.history', 'New');
    await editor.until('window/showDocument');
    expect(readFileSync(promptFile(), 'utf8')).toBe('New\n');

    writeFileSync(promptFile(), 'Sent\n');
    const neovim: FakeEditor = await editorWith({
      answers: {
        'window/showDocument': async () => {
          await open(neovim, promptUri(), 'Sent\n');
          return { success: true };
        },
        'workspace/applyEdit': ({ edit }) => {
          // An editor without the old text cannot take the new one below it.
          if (edit.changes[promptUri()][0].newText !== '') return { applied: true };
          const change = { textDocument: { uri: promptUri(), version: 2 }, contentChanges: [{ text: '' }] };
          neovim.connection.sendNotification('textDocument/didChange', change);
          return { applied: true };
        },
      },
    });
    kept(neovim, 'Sent');
    await neovim.execute('atomic.history', 'New');
    await later(neovim, () => edits(neovim).length === 2);
    expect(edits(neovim)[1]).toEqual([{ range: at(0, 0, 0, 0), newText: 'New\n' }]);
  });
});
