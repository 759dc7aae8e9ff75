// Every kind of question by every route: a dialog of the editor, numbered commands, a command with the answer, a code action, a file.
// And what the chat says of a question that was not answered.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Dialog, DialogAnswer } from '../../../server/src/protocol/facts.ts';
import { wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { foldedAll } from '../session/fold-support.ts';
import { actions, editorWith, folder, later, run, titled } from './code-support.ts';
import { type FakeEditor, opened, other, settled } from './support.ts';
import { createTextEditor } from './text-editor.ts';

type Asked = Partial<Dialog> & { id: string };
const choice = { options: ['Allow', 'Deny'] };
/** Question, the answer that is given, by its title or as text. */
const kinds: [kind: string, asked: Asked, answer: DialogAnswer, said: string][] = [
  ['select', { id: 'q', ...choice }, { index: 1 }, 'Deny'],
  ['oauth_select', { id: 'q', method: 'oauth_select', ...choice }, { index: 1 }, 'Deny'],
  ['confirm', { id: 'q', method: 'confirm', message: 'Really?' }, { confirmed: false }, 'No'],
  ['input', { id: 'q', method: 'input', placeholder: 'x' }, { value: 'ß two' }, 'ß two'],
  ['editor', { id: 'q', method: 'editor', prefill: 'one\n' }, { value: 'ß\ntwo' }, 'ß\ntwo'],
  ['oauth_prompt', { id: 'q', method: 'oauth_prompt', secret: true }, { value: 'ß two' }, 'ß two'],
  ['oauth_manual_code', { id: 'q', method: 'oauth_manual_code' }, { value: 'ß two' }, 'ß two'],
];
const choices = kinds.filter(([, , answer]) => answer.value === undefined);
const texts = kinds.filter(([, , answer]) => answer.value !== undefined);

const answered = async (editor: FakeEditor, answer: DialogAnswer, how: object = { dialog: 'q' }) => {
  await editor.when(() => editor.hub.intents.length > 0);
  expect(editor.hub.intents).toMatchObject([{ command: 'answer', params: { ...how, ...answer } }]);
  expect(editor.hub.intents[0]!.params).not.toHaveProperty('cancelled');
};
/** Fills the file that the editor was shown, and saves it. */
const written = async (editor: FakeEditor, value: string) => {
  const [{ uri }] = await editor.until('window/showDocument');
  const text = readFileSync(fileURLToPath(uri), 'utf8').replace(
    /(-->\n)[\s\S]*/,
    (_, line) => `${line}${value}\n`,
  );
  await editor.connection.sendNotification('textDocument/didSave', { textDocument: { uri }, text });
};
const asking = async (asked: Asked, answers: FakeEditor['answers'] = {}) => {
  const editor = await editorWith({ answers });
  editor.hub.append(opened(asked));
  await editor.when(() => editor.messages().length > 0 || editor.of('window/showMessageRequest').length > 0);
  return editor;
};

describe.each(choices)('%s', (_, asked, answer, said) => {
  it('in a dialog of the editor', async () => {
    const editor = await asking(asked, { 'window/showMessageRequest': () => ({ title: said }) });
    await answered(editor, answer);
  });
  it('by a numbered command', async () => {
    const editor = await asking(asked);
    await editor.execute('atomic.answer2');
    await answered(editor, { index: 1 });
  });
  it('by a command with the answer', async () => {
    const editor = await asking(asked);
    await editor.execute('atomic.answer', said);
    await answered(editor, { value: said });
  });
  it('by a code action, from a file of the project and from the chat', async () => {
    const editor = await asking(asked);
    for (const uri of ['file:///a.ts', `file://${folder}/views/helix-1.md`]) {
      const offers = await actions(editor, uri);
      expect(offers[0]!.title).toMatch(/^Answer “/);
      await run(titled(offers, new RegExp(`^Answer “${said}”`)), editor);
    }
    await editor.when(() => editor.hub.intents.length > 0);
    expect(editor.hub.intents[0]).toMatchObject({ command: 'answer', params: { dialog: 'q', ...answer } });
  });
});

describe.each(texts)('%s', (_, asked, answer, said) => {
  it('by a command with the text', async () => {
    const editor = await asking(asked);
    await editor.execute('atomic.answer', said);
    await answered(editor, answer);
  });
  it('by a file that a command opens', async () => {
    const editor = await asking(asked);
    await editor.execute('atomic.answer');
    await written(editor, said);
    await answered(editor, answer);
  });
  it('by a file that a code action opens', async () => {
    const editor = await asking(asked);
    await run(titled(await actions(editor, 'file:///a.ts'), /^Write an answer/), editor);
    await written(editor, said);
    await answered(editor, answer);
  });
});

it.each(kinds)('%s is refused by a command, and by nothing else', async (_, asked) => {
  const editor = await asking(asked, { 'window/showMessageRequest': () => null });
  await editor.until('window/showMessage');
  await editor.execute('atomic.dialogCancel');
  await editor.when(() => editor.hub.intents.length > 0);
  expect(editor.hub.intents[0]!.params).toMatchObject({ cancelled: true });
});

describe('in the chat', () => {
  async function chat(answers: FakeEditor['answers'] = {}) {
    const text = createTextEditor({});
    const editor = await editorWith({
      name: 'Helix',
      capabilities: {
        window: { showMessage: {}, showDocument: { support: true } },
        workspace: { applyEdit: true },
      },
      answers: { ...text.answers, ...answers },
    });
    mkdirSync(join(folder, 'views'), { recursive: true });
    text.join(editor);
    await editor.execute('atomic.open');
    await editor.when(() => text.isOpen());
    return { editor, text };
  }

  it('a dismissed question is asked again, and not when it is settled', async () => {
    let replies: ((result: unknown) => void)[] = [];
    const { editor, text } = await chat({
      'window/showMessageRequest': () => new Promise((resolve) => replies.push(resolve)),
    });
    editor.hub.append(opened({ id: 'q', title: 'Run rm?', ...choice }));
    await editor.until('window/showMessageRequest');
    replies[0]!(null);
    const again =
      '◈ Still open: Run rm? — atomic.answer1 = Allow, atomic.answer2 = Deny; atomic.dialogCancel refuses.';
    await later(editor, () => text.text().includes(again));
    expect(editor.hub.intents).toEqual([]);
    editor.hub.append(settled('q', other));
    await later(editor, () => text.text().includes('Question “Run rm?” answered by Helix.'));
    await later(editor, () => editor.messages().includes('Answered in Helix: Run rm?'));
    replies = [];
    editor.hub.append(opened({ id: 'r', title: 'And now?', ...choice }), settled('r', other));
    await later(editor, () => text.text().includes('Question “And now?” answered'));
    expect(text.text().match(/Still open/g)).toHaveLength(1);
  });

  it('it is known by a view that is opened again', async () => {
    const { editor, text } = await chat({ 'window/showMessageRequest': () => null });
    editor.hub.append(opened({ id: 'q', title: 'Run rm?', ...choice }));
    await later(editor, () => text.text().includes('Still open'));
    const file = fileURLToPath(editor.of('window/showDocument')[0].uri);
    writeFileSync(file, text.text());
    text.close();
    text.open(file);
    editor.hub.append(settled('q', other));
    await later(editor, () => text.text().includes('answered by Helix'));
    expect(text.text().match(/### Question/g)).toHaveLength(1);
  });

  it('says how many are open', () => {
    const page = wholeTranscript(
      foldedAll([opened({ id: '1', ...choice }), opened({ id: '2', method: 'input' }), opened({ id: '3' })]),
    );
    expect(page.match(/\d other questions? (is|are) open before it\./g)).toEqual([
      '1 other question is open before it.',
      '2 other questions are open before it.',
    ]);
  });
});
