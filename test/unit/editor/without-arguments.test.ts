// Every command of the table without an argument, in an editor that shows questions and in one that does not and gives commands no
// arguments: each asks for all that it needs and then does it, or does it at once.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandRow, commandTable } from '../../../server/src/protocol/commands.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { attached, type FakeEditor, fakeHub, opened, startEditor } from './support.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What the agent's reading commands give. */
const data: Record<string, object> = {
  get_available_models: {
    models: [{ provider: 'p', id: 'one' }],
    oauthProviders: [{ id: 'p', name: 'P' }],
  },
  get_available_thinking_levels: { levels: ['low', 'high'] },
  get_available_context_windows: { contextWindows: [200_000, 1_000_000] },
  list_sessions: { sessions: [{ path: '/a/b.jsonl', firstMessage: 'Hi' }] },
  get_fork_messages: { messages: [{ entryId: 'e1', text: 'Hi' }] },
  get_entries: { entries: [{ id: 'e1', type: 'message', message: { role: 'user', content: 'Hi' } }] },
  get_shortcuts: { shortcuts: [{ key: 'ctrl+x' }] },
  get_commands: { commands: [{ name: 'review', source: 'prompt' }] },
  list_changes: { files: [{ path: 'a.ts', status: 'added', added: 1, removed: 0, diff: '+a' }] },
  list_history: { prompts: [{ text: 'Again.', at: 1 }] },
};
const said: Fact[] = [
  { type: 'message_end', message: { role: 'user', content: 'Hi', timestamp: 1 } },
  {
    type: 'message_end',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: 'Well.' }],
      timestamp: 2,
      stopReason: 'stop',
    },
  },
];
const textFor = (row: CommandRow) => (row.name === 'rpc' ? '{"type":"get_state"}' : 'some text');

async function started(name: string, facts: Fact[] = []): Promise<FakeEditor> {
  const hub = fakeHub();
  hub.append(...facts);
  hub.folder = folder;
  for (const { name: command, kind } of commandTable)
    if (kind === 'read') hub.data[command] = data[command] ?? { of: command };
  const editor = await startEditor({
    hub,
    name,
    ...(name === 'helix' && { params: { capabilities: { window: { workDoneProgress: true } } } }),
    capabilities: { window: { showMessage: {}, showDocument: { support: true } } },
    answers: {
      'window/showMessageRequest': ({ actions }) => actions[0],
      'window/showDocument': () => ({ success: true }),
    },
  });
  await attached(editor);
  return editor;
}

/** Answers the questions as they come: by the dialog, by the file that `atomic.answer` opens, or by its argument. */
function answering(editor: FakeEditor, row: CommandRow) {
  let seen = 0;
  let shown = 0;
  // What fails is told by the server as well; a test may be over before the answer comes.
  const execute = (...args: [string, ...unknown[]]) => void editor.execute(...args).catch(() => {});
  const written = (file: string) =>
    editor.connection.sendNotification('textDocument/didSave', {
      textDocument: { uri: pathToFileURL(file).href },
      text: `${readFileSync(file, 'utf8').trimEnd()}\n${textFor(row)}\n`,
    });
  return () => {
    const messages = editor.messages();
    for (const message of messages.slice(seen)) {
      if (message.includes('atomic.answer1 =')) execute('atomic.answer1');
      else if (!message.includes('answer with atomic.answer')) continue;
      else if (editor.of('window/showMessageRequest').length > 0 || row.name.length % 2 === 0)
        execute('atomic.answer', textFor(row));
      else execute('atomic.answer');
    }
    seen = messages.length;
    const documents = editor.of('window/showDocument').map(({ uri }) => fileURLToPath(uri));
    for (const file of documents.slice(shown)) if (file.includes('/answers/')) void written(file);
    shown = documents.length;
  };
}

describe.each(['Neovim', 'helix'])('in %s', (name) => {
  it.each(commandTable.map((row) => [row.id, row] as const))('%s', async (id, row) => {
    // Without an answer there is none to be opened.
    const editor = await started(name, row.name === 'open_answer' ? said : []);
    // The only session cannot be left.
    if (row.name === 'close_tab') await editor.execute('atomic.newTab');
    const answer = await editor.execute(id);
    const wanted = row.alias?.of ?? row.name;
    const isShown = (file: string) =>
      editor.of('window/showDocument').some(({ uri }) => fileURLToPath(uri) === join(folder, file));
    const done = (): boolean => {
      if (row.ask?.with === 'compose' || ['compose', 'history'].includes(row.name))
        return isShown('prompt.md');
      if (row.name === 'add_to_prompt')
        return (
          existsSync(join(folder, 'prompt.md')) &&
          readFileSync(join(folder, 'prompt.md'), 'utf8').includes(textFor(row))
        );
      if (row.name === 'rpc') return isShown('results/get-state.md');
      if (row.kind === 'act') return editor.hub.intents.some(({ command }) => command === wanted);
      if (row.kind === 'read' && (row.ask || name === 'helix'))
        return isShown(`results/${row.name.replaceAll('_', '-')}.md`);
      if (row.kind === 'read') return typeof answer === 'object' && answer !== null;
      if (['open', 'older_turns'].includes(row.name))
        return editor.of('window/showDocument').some(({ uri }) => uri.includes('/views/'));
      if (row.name === 'open_answer') return isShown('answer.md');
      if (row.name === 'changes') return isShown('changes.diff');
      return editor.messages().some((it) => it.startsWith('Now in the session'));
    };
    const answerAll = answering(editor, row);
    await editor.when(() => {
      answerAll();
      return done();
    });
    for (const { command, params } of editor.hub.intents.filter((it) => it.command === wanted)) {
      const checked = commandTable.find((it) => it.name === command)!.params.safeParse(params);
      expect(checked.error).toBeUndefined();
    }
    expect(editor.of('window/showMessage').filter(({ type }) => type === 1)).toEqual([]);
  });
});

it('a list that is too long for numbers is answered in a file, by number or by title', async () => {
  const editor = await started('helix');
  editor.hub.data.get_available_models = {
    models: Array.from({ length: 300 }, (_, n) => ({ provider: 'p', id: `model-${n}` })),
  };
  const answered = async (text: string, count: number) => {
    await editor.execute('atomic.setModel');
    await editor.until('window/showMessage', count);
    expect(editor.messages().at(-1)).toContain('and 291 more: atomic.answer opens a list');
    const files = editor.of('window/showDocument').length;
    await editor.execute('atomic.answer');
    const shown = await editor.until('window/showDocument', files + 1);
    const { uri } = shown.at(-1);
    const file = readFileSync(fileURLToPath(uri), 'utf8');
    expect(file).toContain('\n300. p/model-299\n');
    await editor.connection.sendNotification('textDocument/didSave', {
      textDocument: { uri },
      text: `${file}${text}\n`,
    });
  };
  await answered('288', 1);
  await editor.when(() => editor.hub.intents.length === 1);
  expect(editor.hub.intents[0]!.params).toMatchObject({ modelId: 'model-287' });
  editor.clock.advance(2_000);
  await answered('P/Model-12', 2);
  await editor.when(() => editor.hub.intents.length === 2);
  expect(editor.hub.intents[1]!.params).toMatchObject({ modelId: 'model-12' });
  editor.clock.advance(2_000);
  await answered('the best', 3);
  await editor.until('window/showMessage', 4);
  expect(editor.messages().at(-1)).toMatch(
    /^"the best" is none of the 300 choices: write the number of one\./,
  );
});

it('what a command gives back or says is seen: texts in the prompt file, the rest in a message', async () => {
  const editor = await started('Neovim');
  const did = async (id: string, args: unknown[], outcome: object) => {
    const { intent } = (await editor.execute(id, ...args)) as { intent: string };
    const { command } = editor.hub.intents.at(-1)!;
    editor.hub.append({ type: 'intent_settled', intent, command, outcome: 'done', data: outcome });
    const count = editor.messages().length;
    await editor.when(() => {
      editor.clock.advance(2_000);
      return editor.messages().length > count;
    });
    return editor.messages().at(-1);
  };
  expect(await did('atomic.setModel', ['p/one'], { provider: 'p', id: 'one' })).toBe('Model: p/one');
  expect(await did('atomic.exportHtml', [], { path: '/tmp/a b.html' })).toBe('Written to /tmp/a b.html');
  expect(await did('atomic.newSession', [], { cancelled: true })).toMatch(/kept the session as it was/);
  expect(await did('atomic.fork', ['e1'], { text: 'Look\nat it.', cancelled: false })).toBe(
    'The conversation goes on from before that message. Its text is in the prompt file.',
  );
  expect(readFileSync(join(folder, 'prompt.md'), 'utf8')).toBe('Look\nat it.\n');
});

it('a refusal in the middle of several questions does nothing', async () => {
  const editor = await started('Neovim');
  await editor.execute('atomic.saveProviderCredential');
  await editor.until('window/showMessage');
  await editor.execute('atomic.answer', 'openai');
  await editor.until('window/showMessage', 2);
  expect(editor.messages().at(-1)).toContain('API key for openai');
  await editor.execute('atomic.dialogCancel');
  editor.hub.append(opened({ id: 'd1', title: 'Next?', options: ['x'] }));
  await editor.when(() => editor.hub.intents.length === 1);
  expect(editor.hub.intents[0]!.command).toBe('answer');
});
