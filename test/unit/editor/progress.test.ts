// What an editor sees while the agent works: progress in order.
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { attached, delta, type FakeEditor, opened, startEditor, turn } from './support.ts';

const start: Fact[] = [{ type: 'agent_start' }, { type: 'turn_start' }];
const writing: Fact[] = [
  { type: 'message_start', message: { role: 'assistant', content: [] } },
  { type: 'message_update', assistantMessageEvent: { type: 'text_start', contentIndex: 0 } },
];
const settled: Fact = { type: 'agent_settled', outcome: { stopReason: 'stop' } };
const tool: Fact = {
  type: 'tool_execution_start',
  toolCallId: 't1',
  toolName: 'bash',
  args: { timeout: 3, command: 'npm test\nexit' },
};

/** Kind and text of each progress so far. */
const shown = (editor: FakeEditor): string[] =>
  editor
    .of('$/progress')
    .map(({ value }) => [value.kind, value.message].filter((it) => it !== undefined).join(' '));
const settle = async (editor: FakeEditor) => {
  // A read goes there and back, behind everything that was sent before.
  editor.hub.data.get_state = {};
  await turn();
  await editor.execute('atomic.getState');
};

describe('progress', () => {
  it('begins with the run, tells what happens at a bearable rate, and ends once', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('$/progress');
    editor.hub.append(...writing, delta('One\n'), delta('Two'));
    await settle(editor);
    for (const word of [' and', ' so', ' on']) {
      editor.hub.append(delta(word));
      await settle(editor);
    }
    expect(shown(editor)).toEqual(['begin waits for the model']);
    editor.clock.advance(250);
    await editor.until('$/progress', 2);
    editor.hub.append(tool);
    editor.clock.advance(250);
    await editor.until('$/progress', 3);
    editor.hub.append(settled);
    await editor.until('$/progress', 4);
    editor.clock.advance(60_000);
    await settle(editor);
    expect(shown(editor)).toEqual([
      'begin waits for the model',
      'report writing: Two and so on',
      'report bash: npm test',
      'end',
    ]);
    expect(editor.of('window/workDoneProgress/create')).toEqual([{ token: 'atomic-1' }]);
    expect(new Set(editor.of('$/progress').map(({ token }) => token))).toEqual(new Set(['atomic-1']));
    expect(editor.of('$/progress')[0].value).toMatchObject({ title: 'Atomic', cancellable: true });
  });

  it('says for how long nothing was heard, but not while a question is open', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('$/progress');
    editor.clock.advance(30_000);
    await editor.until('$/progress', 2);
    editor.clock.advance(30_000);
    await editor.until('$/progress', 3);
    expect(shown(editor).slice(1)).toEqual([
      'report waits for the model · no news for 30 s',
      'report waits for the model · no news for 60 s',
    ]);
    editor.hub.append(opened({ id: 'q', options: ['a'] }));
    await settle(editor);
    editor.clock.advance(250);
    await editor.until('$/progress', 4);
    editor.clock.advance(60_000);
    await settle(editor);
    expect(shown(editor).at(-1)).toMatch(/^report waits for you/);
    editor.hub.append(settled);
    await editor.when(() => shown(editor).at(-1)!.startsWith('end'));
  });

  it('has a token of its own for each run', async () => {
    const editor = await startEditor();
    await attached(editor);
    for (const count of [2, 4]) {
      editor.hub.append(...start);
      await editor.until('$/progress', count - 1);
      editor.hub.append(settled);
      await editor.until('$/progress', count);
    }
    expect(editor.of('$/progress').map(({ token, value }) => `${token} ${value.kind}`)).toEqual([
      'atomic-1 begin',
      'atomic-1 end',
      'atomic-2 begin',
      'atomic-2 end',
    ]);
  });

  it('is begun all the same when the editor does not answer the token', async () => {
    const editor = await startEditor({
      answers: { 'window/workDoneProgress/create': () => new Promise(() => {}) },
    });
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('window/workDoneProgress/create');
    expect(shown(editor)).toEqual([]);
    editor.clock.advance(2000);
    await editor.until('$/progress');
    expect(shown(editor)).toEqual(['begin waits for the model']);
  });

  it('is begun and ended at once for a run that was over before the editor knew the token', async () => {
    let known: (value: null) => void = () => {};
    const editor = await startEditor({
      answers: { 'window/workDoneProgress/create': () => new Promise((resolve) => (known = resolve)) },
    });
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('window/workDoneProgress/create');
    editor.hub.append(settled);
    await settle(editor);
    known(null);
    await settle(editor);
    expect(shown(editor)).toEqual(['begin waits for the model', 'end']);
  });

  it.each<[string, Fact[], string]>([
    ['a compaction', [{ type: 'compaction_start', reason: 'manual' }], 'begin compacting the conversation'],
    [
      'a retry',
      [
        ...start,
        { type: 'auto_retry_start', attempt: 2, maxAttempts: 3, delayMs: 9, errorMessage: 'busy\nserver' },
      ],
      'begin retry 2 of 3: busy server',
    ],
    [
      'a shell command',
      [{ type: 'intent_accepted', intent: 'i', command: 'bash', text: 'make\nall' }],
      'begin $ make',
    ],
  ])('shows %s', async (_, facts, text) => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...facts);
    await editor.until('$/progress');
    expect(shown(editor)).toEqual([text]);
  });

  it('ends with the agent', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('$/progress');
    editor.hub.append({
      type: 'agent_exited',
      code: 1,
      signal: null,
      expected: false,
      message: 'The agent ended with code 1.',
    });
    await editor.until('$/progress', 2);
    expect(shown(editor).at(-1)).toBe('end');
    expect(editor.messages()).toEqual(['The agent ended with code 1.']);
  });

  it('stops the run when the person cancels it, and nothing else does', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('$/progress');
    const cancel = (token: string) =>
      editor.connection.sendNotification('window/workDoneProgress/cancel', { token });
    await cancel('somebody else’s');
    await settle(editor);
    expect(editor.hub.intents).toEqual([]);
    await cancel('atomic-1');
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({ command: 'abort', params: {} });
  });

  it('is not sent to an editor that does not know it', async () => {
    const editor = await startEditor({ params: { capabilities: {} } });
    await attached(editor);
    editor.hub.append(...start, settled);
    await settle(editor);
    expect(editor.of('$/progress')).toEqual([]);
    expect(editor.of('window/workDoneProgress/create')).toEqual([]);
  });

  it('has its end said again where it may be lost', async () => {
    const editor = await startEditor({ name: 'Helix' });
    await attached(editor);
    editor.hub.append(...start);
    await editor.until('$/progress');
    editor.hub.append(settled);
    await editor.until('$/progress', 2);
    editor.clock.advance(3000);
    await editor.until('$/progress', 3);
    expect(shown(editor).slice(1)).toEqual(['end', 'end']);
  });

  it('takes no message away where it takes the place of messages, and leaves what was used', async () => {
    const editor = await startEditor({
      name: 'Helix',
      params: { capabilities: { window: { workDoneProgress: true } } },
    });
    await attached(editor);
    const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, cost: { total: 0.25 } };
    const run: Fact[] = [
      ...start,
      { type: 'message_start', message: { role: 'user', content: 'Hi' } },
      { type: 'message_end', message: { role: 'user', content: 'Hi' } },
      { type: 'message_start', message: { role: 'assistant', content: [] } },
      { type: 'message_end', message: { role: 'assistant', content: [], usage } },
    ];
    const used = '100 tokens in, 20 out · $0.25';
    editor.hub.append(...run);
    await editor.until('$/progress');
    editor.hub.append({ type: 'notice', level: 'warning', message: 'The disk is full.' });
    await editor.until('window/showMessage');
    editor.hub.append(opened({ id: 'q', options: ['a'] }));
    await editor.until('window/showMessage', 2);
    editor.clock.advance(250);
    await editor.until('$/progress', 2);
    // In the same place it says how to answer.
    expect(shown(editor).at(-1)).toBe(`report waits for you: ${editor.messages()[1]}`);
    editor.hub.append(settled);
    await editor.until('window/showMessage', 3);
    expect(editor.messages().filter((it) => it === 'The disk is full.')).toHaveLength(2);
    expect(shown(editor).at(-1)).toBe(`end ${used}`);
    // What was said since has the last word when the end is said again.
    editor.clock.advance(2000);
    editor.hub.append({ type: 'notice', level: 'info', message: 'Compacted.' });
    await editor.until('window/showMessage', 4);
    editor.clock.advance(1000);
    await editor.until('window/showMessage', 5);
    expect(editor.messages().slice(3)).toEqual(['Compacted.', 'Compacted.']);
    expect(shown(editor).slice(-2)).toEqual([`end ${used}`, `end ${used}`]);
  });
});
