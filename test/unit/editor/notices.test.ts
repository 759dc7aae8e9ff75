// What an editor is told in one line.
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { attached, type FakeEditor, opened, startEditor, turn, us } from './support.ts';

const start: Fact[] = [{ type: 'agent_start' }, { type: 'turn_start' }];
const settled: Fact = { type: 'agent_settled', outcome: { stopReason: 'stop' } };

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

describe('notices', () => {
  const notify = (message: string, notifyType = 'info'): Fact => ({
    type: 'extension_ui_request',
    method: 'notify',
    message,
    notifyType,
  });
  it('are one line, in their level, and do not crowd each other out', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(notify('one\ntwo', 'warning'), notify('three'), notify('four', 'error'));
    await editor.until('window/showMessage', 2);
    expect(editor.of('window/showMessage')).toEqual([
      { type: 2, message: 'one two' },
      { type: 1, message: 'four' },
    ]);
    editor.clock.advance(2000);
    await editor.until('window/showMessage', 3);
    expect(editor.messages().at(-1)).toBe('three');
  });
  it('are raised for an editor that hides the small ones', async () => {
    const editor = await startEditor({ name: 'vim-lsp' });
    await attached(editor);
    editor.hub.append(notify('hello'));
    expect((await editor.until('window/showMessage'))[0].type).toBe(2);
  });
  it('tell how a run failed, and what was taken back from the queue for us', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(
      { type: 'queue_returned', texts: ['not ours'], origin: { id: 'p9', name: 'Zed' } },
      { type: 'queue_returned', texts: ['ours', 'too'], origin: us },
      { type: 'agent_settled', outcome: { stopReason: 'error', errorMessage: '401 no key' } },
    );
    await editor.until('window/showMessage', 2);
    expect(editor.messages()).toEqual([
      'Taken back from the queue, and now in the prompt file: ours | too',
      '401 no key',
    ]);
  });
  it('say what was set, to whoever asked for it alone', async () => {
    const editor = await startEditor({ name: 'Helix' });
    await attached(editor);
    const done = (intent: string, command: string, data?: object): Fact => ({
      type: 'intent_settled',
      intent,
      command,
      outcome: 'done',
      ...(data && { data }),
    });
    editor.hub.append(done('of somebody else', 'set_thinking_level'));
    const set = async (command: string, params: object, data?: object) => {
      const { intent } = (await editor.execute(`atomic.${command}`, params)) as { intent: string };
      const name = command.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      editor.hub.append(done(intent, name, data));
      editor.clock.advance(2000);
    };
    await set('setThinkingLevel', { level: 'high' });
    await editor.until('window/showMessage', 1);
    await set('setThinkingLevel', { level: 'max' }, { level: 'medium' });
    await editor.until('window/showMessage', 2);
    await set('setSessionName', { name: 'Grüße' });
    await editor.until('window/showMessage', 3);
    await set('setAutoRetry', { enabled: false });
    await editor.until('window/showMessage', 4);
    expect(editor.messages()).toEqual([
      'Thinking level: high',
      'Thinking level: medium; this model has no "max".',
      'This session is called “Grüße” now.',
      'Automatic retries are off.',
    ]);
  });
  it('put status and title into the log and into the progress', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(
      { type: 'extension_ui_request', method: 'setStatus', statusKey: 'git', statusText: 'main*' },
      { type: 'extension_ui_request', method: 'setTitle', title: 'Parser' },
      ...start,
    );
    await editor.until('$/progress');
    expect(shown(editor)).toEqual(['begin waits for the model · main* · Parser']);
    expect(editor.of('window/logMessage').map(({ message }) => message)).toEqual([
      'git: main*',
      'Title: Parser',
    ]);
  });
  it('have nothing in them that commands a terminal', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(
      {
        type: 'extension_ui_request',
        method: 'setStatus',
        statusKey: '\u001b[2Jgit',
        statusText: '\u001b[32mmain\u001b[0m\u0007*',
      },
      ...start,
      notify('\u001b]0;owned\u0007red \u001b[31malert\u001b[0m\u0000', 'error'),
    );
    await editor.until('$/progress');
    expect(shown(editor)).toEqual(['begin waits for the model · main*']);
    expect(editor.messages()).toEqual(['red alert']);
    expect(editor.of('window/logMessage').map(({ message }) => message)).toEqual(['git: main*']);
  });
  it('are not sent to a client that has the facts', async () => {
    const editor = await startEditor({ options: { client: { name: 'atomic.nvim', events: true } } });
    await attached(editor);
    editor.hub.append(notify('hello', 'error'));
    await settle(editor);
    expect(editor.messages()).toEqual([]);
  });
});

describe('what is told', () => {
  it('counts a retry down, and the questions that wait', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.append(...start, {
      type: 'auto_retry_start',
      attempt: 2,
      maxAttempts: 3,
      delayMs: 2500,
      errorMessage: 'overloaded',
      at: editor.clock.now(),
    });
    await editor.until('$/progress');
    for (let n = 0; n < 3; n += 1) editor.clock.advance(1000);
    await settle(editor);
    const told = shown(editor);
    expect(told[0]).toBe('begin retry 2 of 3 in 3 s: overloaded');
    expect(told).toContain('report retry 2 of 3 in 2 s: overloaded');
    expect(told).toContain('report retry 2 of 3 in 1 s: overloaded');
    expect(told.at(-1)).toBe('report retry 2 of 3: overloaded');
    for (const id of ['a', 'b']) editor.hub.append(opened({ id, title: `Which ${id}?` }));
    await settle(editor);
    editor.clock.advance(1000);
    await settle(editor);
    expect(shown(editor).at(-1)).toBe('report waits for you (2 questions): Which a?');
  });

  it('has tokens, context and cost before the end', async () => {
    const editor = await startEditor();
    await attached(editor);
    const model = { id: 'm', provider: 'p', contextWindow: 1000 } as never;
    const usage = { input: 100, output: 20, cost: { total: 0.25 } } as never;
    editor.hub.append({ type: 'state_changed', state: { model } }, ...start);
    await editor.until('$/progress');
    editor.hub.append({ type: 'message_end', message: { role: 'assistant', content: [], usage } }, settled);
    await settle(editor);
    expect(shown(editor).slice(-2)).toEqual([
      'report 100 tokens in, 20 out · 12 % of the context · $0.25',
      'end 100 tokens in, 20 out · 12 % of the context · $0.25',
    ]);
  });
});
