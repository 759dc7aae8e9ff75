// The live chat, in editors that apply edits as editors do: late, not at all, or while the person types.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { foldedAll } from '../session/fold-support.ts';
import { call, toolResult } from '../session/transcript-support.ts';
import { attached, delta, type FakeEditor, fakeHub, startEditor, turn } from './support.ts';
import { createTextEditor, type TextEditor, type TextEditorHow } from './text-editor.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const user = (content: string): Fact => ({
  type: 'message_end',
  message: { role: 'user', content, timestamp: 1 },
});
const begins: Fact = { type: 'message_start', message: { role: 'assistant', content: [], timestamp: 1 } };
const ends = (text: string): Fact => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], timestamp: 1, stopReason: 'stop' },
});

interface Started {
  editor: FakeEditor;
  text: TextEditor;
  facts: Fact[];
  say(...facts: Fact[]): void;
}

async function started(name: string, how: TextEditorHow = {}, capabilities: object = {}): Promise<Started> {
  const hub = fakeHub();
  hub.folder = folder;
  const text = createTextEditor(how);
  const editor = await startEditor({
    hub,
    name,
    capabilities: {
      workspace: { applyEdit: true },
      window: { showDocument: { support: true } },
      ...capabilities,
    },
    answers: text.answers,
    server: { isAlive: (pid: number) => pid === process.pid },
  });
  text.join(editor);
  await attached(editor);
  const facts: Fact[] = [];
  return {
    editor,
    text,
    facts,
    say(...more) {
      facts.push(...more);
      hub.append(...more);
    },
  };
}
const settledBy = async (editor: FakeEditor, holds: () => boolean) => {
  await editor.when(() => {
    if (!holds()) editor.clock.advance(50);
    return holds();
  });
};
const whole = (facts: Fact[]) => wholeTranscript(foldedAll(facts));
const view = (text: TextEditor) => text.text().trimEnd();

describe.each(['Helix', 'Neovim', 'an unknown editor'])('in %s', (name) => {
  it('shows what was said, and grows while it is open', async () => {
    const { editor, text, facts, say } = await started(name);
    say(user('Hello?'), begins, delta('Well'));
    await editor.execute('atomic.open');
    await editor.when(() => text.isOpen());
    expect(view(text)).toContain('Hello?');
    say(delta(', yes.\n\nAnd'), delta(' more.'));
    await settledBy(editor, () => view(text).endsWith('And more.'));
    say(ends('Well, yes.\n\nAnd more.'), user('Next'), begins, ends('Good.'));
    await settledBy(editor, () => view(text).endsWith('Good.'));
    expect(view(text)).toBe(whole(facts).trimEnd());
  });
});

it('begins with one line where nothing was said, and stays when it is opened twice', async () => {
  const { editor, text, say } = await started('Helix');
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  expect(view(text)).toMatch(/Nothing was said yet/);
  say(user('Hello?'));
  await settledBy(editor, () => view(text).endsWith('Hello?'));
  const before = view(text);
  await editor.execute('atomic.open');
  await editor.until('window/showDocument', 2);
  expect(view(text)).toBe(before);
});

it.each([
  ['above, in new lines', 'top', 3],
  ['at the end', 'end', 3],
  ['above, told at once', 'top', 0],
] as const)('keeps what the person types %s, and its own text in order', async (_, where, lag) => {
  const { editor, text, say } = await started('Eglot', { lag });
  say(user('Hello?'), begins);
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  const words = Array.from({ length: 120 }, (_, n) => `word${n} ${n % 17 === 16 ? '\n\n' : ''}`);
  const typed: string[] = [];
  for (const [n, word] of words.entries()) {
    say(delta(word));
    if (n % 3 === 0) {
      const mine = n % 5 === 0 ? `§${n}\n` : `§${n} `;
      typed.push(mine.trim());
      text.type(where === 'top' ? 0 : text.text().length, mine);
    }
    await turn();
    editor.clock.advance(90);
  }
  await settledBy(editor, () => text.text().includes('word119'));
  await settledBy(editor, () => text.idle());
  const shown = text.text();
  const found = [...shown.matchAll(/§\d+/g)].map(([mine]) => mine);
  expect(where === 'top' ? found.reverse() : found).toEqual(typed);
  const order = [...shown.replace(/§\d+[ \n]/g, '').matchAll(/word(\d+)/g)].map(([, n]) => Number(n));
  expect(order).toEqual([...words.keys()]);
  expect(shown.indexOf('Hello?')).toBeLessThan(shown.indexOf('word0'));
});

it.each<[string, TextEditorHow]>([
  ['says that it applied an edit and did not', { liesEvery: 3 }],
  ['refuses an edit', { refusesEvery: 3 }],
  ['answers late', { answersAfter: 4 }],
  ['tells of changes late', { lag: 5 }],
  ['tells of a change before it says that the document is open', { changesFirst: true }],
  ['adds a line break at the end', { finalBreak: true }],
])('has every piece once where the editor %s', async (_, how) => {
  const { editor, text, facts, say } = await started('an unknown editor', how);
  say(user('Hello?'), begins);
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  for (let n = 0; n < 30; n += 1) {
    say(delta(`piece ${n}${n % 4 === 3 ? '\n\n' : ' '}`));
    await turn();
    editor.clock.advance(200);
  }
  await settledBy(editor, () => text.text().includes('piece 29'));
  await settledBy(editor, () => text.idle());
  expect(view(text)).toBe(whole(facts).trimEnd());
});

it('says so when an editor takes no edit at all, and is right again when it is opened anew', async () => {
  const { editor, text, facts, say } = await started('an unknown editor', { refusesEvery: 1 });
  say(user('Hello?'));
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  say(begins, ends('Yes.'));
  await settledBy(editor, () => editor.messages().some((it) => /does not grow.*atomic\.open/.test(it)));
  text.close();
  await turn();
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  expect(view(text)).toBe(whole(facts).trimEnd());
});

it('is changed on disk alone for an editor that takes no edits', async () => {
  const { editor, text, facts, say } = await started('kakoune-lsp', {}, { window: {} });
  say(user('Hello?'));
  await editor.execute('atomic.open');
  const [shown] = await editor.until('window/showMessage');
  const file = shown.message.split('open ').at(-1);
  say(begins, delta('On '), delta('disk.'));
  await settledBy(editor, () => readFileSync(file, 'utf8').includes('On disk.'));
  expect(readFileSync(file, 'utf8').trimEnd()).toBe(whole(facts).trimEnd());
  expect(text.edits).toBe(0);
});

it('is bounded, and older turns come on demand', async () => {
  const { editor, text, facts, say } = await started('Helix');
  for (let n = 0; n < 100; n += 1) say(user(`question ${n} of many`), begins, ends(`answer ${n} to it`));
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  expect(text.text()).toMatch(/^◈ 60 earlier turns are left out/);
  expect(text.text()).not.toContain('question 59 of');
  await editor.execute('atomic.olderTurns');
  await settledBy(editor, () => text.text().includes('question 20 of'));
  expect(text.text()).toMatch(/^◈ 20 earlier turns are left out/);
  await editor.execute('atomic.olderTurns');
  await settledBy(editor, () => text.text().includes('question 0 of'));
  expect(view(text)).toBe(whole(facts).trimEnd());
  await editor.execute('atomic.olderTurns');
  await editor.when(() => editor.messages().some((it) => /no earlier turns/.test(it)));
});

it('is followed by whichever server the editor opens it with', async () => {
  const { editor, text, facts, say } = await started('Eglot');
  say(user('Hello?'), begins, delta('One'));
  mkdirSync(join(folder, 'views'));
  const file = join(folder, 'views', 'emacs-1.md');
  writeFileSync(file, whole(facts));
  say(delta(' two'));
  text.open(file);
  await settledBy(editor, () => view(text).endsWith('One two'));
  say(delta(' three'));
  await settledBy(editor, () => view(text).endsWith('One two three'));
});

it('removes the views of editors that are gone', async () => {
  mkdirSync(join(folder, 'views'));
  for (const name of ['helix-4711.md', 'notes.md']) writeFileSync(join(folder, 'views', name), 'old');
  const { editor } = await started('Helix');
  await editor.execute('atomic.open');
  const [{ uri }] = await editor.until('window/showDocument');
  expect(existsSync(fileURLToPath(uri))).toBe(true);
  expect(existsSync(join(folder, 'views', 'helix-4711.md'))).toBe(false);
  expect(existsSync(join(folder, 'views', 'notes.md'))).toBe(true);
});

it('is opened where older turns are asked for and no chat is open', async () => {
  const { editor } = await started('Helix');
  await editor.execute('atomic.olderTurns');
  await editor.when(() => editor.of('window/showDocument').some(({ uri }) => uri.includes('/views/')));
});

it('shows the output of a tool while it runs: its beginning at once, and later its newest lines', async () => {
  const { editor, text, say } = await started('Helix');
  const toolCallId = 'a';
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `line ${from + n}\n`).join('');
  say(user('Test it.'), {
    type: 'message_end',
    message: {
      role: 'assistant',
      content: [call(toolCallId, 'npm test')],
      timestamp: 1,
      stopReason: 'toolUse',
    },
  });
  await editor.execute('atomic.open');
  await editor.when(() => text.isOpen());
  say({
    type: 'tool_execution_start',
    toolCallId,
    toolName: 'bash',
    args: { command: 'npm test' },
    at: editor.clock.now(),
  });
  say({ type: 'tool_execution_update', toolCallId, delta: numbered(0, 3) });
  await settledBy(editor, () => view(text).endsWith('line 2'));
  say({ type: 'tool_execution_update', toolCallId, delta: numbered(3, 90) });
  await settledBy(editor, () => view(text).endsWith('line 19'));
  await settledBy(editor, () => view(text).includes('`npm test` has run for'));
  await settledBy(editor, () => view(text).endsWith('line 89\n```'));
  say({
    type: 'tool_execution_end',
    toolCallId,
    toolName: 'bash',
    result: { content: [{ type: 'text', text: numbered(0, 90) }] },
    isError: false,
  });
  say({ type: 'message_end', message: toolResult(toolCallId, numbered(0, 90)) }, ends('All well.'));
  await settledBy(editor, () => view(text).endsWith('All well.'));
  expect(view(text)).toContain('… 50 lines left out\nline 70\n');
  const before = text.text();
  const file = fileURLToPath(editor.of('window/showDocument')[0].uri);
  writeFileSync(file, before);
  text.close();
  await turn();
  text.open(file);
  say(user('Good.'));
  await settledBy(editor, () => view(text).endsWith('Good.'));
  expect(view(text).replace(/\n\n## You.*\n\nGood\.$/, '')).toBe(before.trimEnd());
});
