// Symbols, folds, links, lenses, hints and hovers of a chat document, as an editor asks for them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { foldedAll } from '../session/fold-support.ts';
import { call, ends, text, toolFacts, user } from '../session/transcript-support.ts';
import { attached, fakeHub, startEditor, turn } from './support.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const usage = { input: 1000, output: 20, cost: { total: 0.5 } };
const facts: Fact[] = [
  user('Look at it.'),
  ends([text('See `src/ü b.ts:12` and `src/none.ts`.'), call('b', 'cat a')], {
    stopReason: 'toolUse',
  } as never),
  ...toolFacts('b', 'cat a', 'text\n'),
  ends([text('Done.')], { usage } as never),
];
const page = wholeTranscript(foldedAll(facts));
const lineOf = (part: string) => page.split('\n').findIndex((line) => line.includes(part));

async function chat(name = 'chat.md') {
  const hub = fakeHub();
  hub.folder = join(folder, 'state');
  mkdirSync(join(folder, 'state', 'views'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'ü b.ts'), '');
  const editor = await startEditor({ hub, params: { rootUri: pathToFileURL(folder).href } });
  await attached(editor);
  hub.append(...facts);
  const uri = pathToFileURL(join(folder, 'state', name)).href;
  await editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'markdown', version: 1, text: page },
  });
  await turn();
  await turn();
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  const ask = (method: string, more: object = {}): Promise<any> =>
    editor.connection.sendRequest(`textDocument/${method}`, { textDocument: { uri }, ...more });
  return { editor, hub, ask };
}

it('announces what it answers', async () => {
  const { editor } = await chat();
  expect(editor.initialized.capabilities).toMatchObject({
    documentSymbolProvider: true,
    foldingRangeProvider: true,
    documentLinkProvider: {},
    codeLensProvider: {},
    inlayHintProvider: true,
    hoverProvider: true,
  });
});

it.each(['chat.md', 'views/helix-1.md'])('has turns and tools of %s as symbols and folds', async (name) => {
  const { ask } = await chat(name);
  const [symbol, ...more] = await ask('documentSymbol');
  expect(more).toEqual([]);
  expect(symbol).toMatchObject({ name: 'Look at it.', children: [{ name: 'bash cat a' }] });
  const folds = await ask('foldingRange');
  expect(folds).toEqual([
    { startLine: 0, endLine: page.split('\n').length - 2 },
    { startLine: lineOf('### bash'), endLine: lineOf('text') + 1 },
  ]);
});

it('links files that are there, with their line', async () => {
  const { ask } = await chat();
  const links = await ask('documentLink');
  expect(links).toHaveLength(1);
  expect(links[0].target).toBe(`${pathToFileURL(join(folder, 'src', 'ü b.ts')).href}#L12`);
  expect(links[0].range.start.line).toBe(lineOf('See `src'));
});

it('tells tokens and cost of a turn beside it', async () => {
  const { ask } = await chat();
  const range = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };
  expect(await ask('inlayHint', { range })).toMatchObject([
    { position: { line: 0 }, label: '1,000 tokens in, 20 out · $0.50' },
  ]);
});

it('shows a call’s arguments and a turn’s use where one points', async () => {
  const { ask } = await chat();
  const at = (line: number) => ask('hover', { position: { line, character: 2 } });
  expect((await at(lineOf('### bash'))).contents.value).toMatch(/`bash` · done[\s\S]*"command": "cat a"/);
  expect((await at(0)).contents.value).toMatch(/1 tool call[\s\S]*1,000 tokens/);
  expect(await at(lineOf('Done.'))).toBeNull();
});

it('offers to ask again, to stop and to fork, when each is possible', async () => {
  const { editor, hub, ask } = await chat();
  const titles = async () =>
    (await ask('codeLens')).map(({ command }: { command: { title: string } }) => command.title);
  expect(await titles()).toEqual(['Ask again', 'Open to copy']);
  expect(hub.reads).toEqual([]);
  hub.data.get_fork_messages = { messages: [{ text: 'Look at it.', entryId: 'e1' }] };
  hub.append({ type: 'agent_started', agent: { command: 'pi', name: 'pi', demo: false } });
  await turn();
  expect(await titles()).toEqual(['Ask again', 'Open to copy', 'Fork from here']);
  hub.append({ type: 'agent_start' });
  await turn();
  expect(await titles()).toEqual(['Stop', 'Open to copy', 'Fork from here']);
  const fork = (await ask('codeLens')).at(-1);
  await editor.execute(fork.command.command, ...fork.command.arguments);
  expect(hub.intents.at(-1)).toMatchObject({ command: 'fork', params: { entryId: 'e1' } });
});

it('says nothing of a document that is no chat', async () => {
  const { editor } = await chat();
  const uri = pathToFileURL(join(folder, 'src', 'notes.md')).href;
  await editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'markdown', version: 1, text: page },
  });
  for (const method of ['documentSymbol', 'foldingRange', 'documentLink', 'codeLens'])
    expect(await editor.connection.sendRequest(`textDocument/${method}`, { textDocument: { uri } })).toEqual(
      [],
    );
});

it('opens an answer alone: that of a turn, or the newest', async () => {
  const { editor, hub, ask } = await chat();
  const file = () => readFileSync(join(folder, 'state', 'answer.md'), 'utf8');
  hub.append(user('More?'), ends([text('No.\n\n\n\n```js\nx\n```')]));
  await turn();
  await editor.execute('atomic.openAnswer');
  await editor.when(() => editor.messages().some((it) => it.includes('answer.md')));
  expect(file()).toBe('No.\n\n```js\nx\n```\n');
  // The document shows the first turn alone.
  const [, copy] = await ask('codeLens');
  await editor.execute(copy.command.command, ...copy.command.arguments);
  await editor.when(() => !file().startsWith('No.'));
  expect(file()).toBe('See `src/ü b.ts:12` and `src/none.ts`.\n\nDone.\n');
});

it('says so when there is no answer to open', async () => {
  const editor = await startEditor();
  await attached(editor);
  await editor.execute('atomic.openAnswer');
  await editor.when(() => editor.messages().some((it) => it.includes('There is no answer here yet')));
});
