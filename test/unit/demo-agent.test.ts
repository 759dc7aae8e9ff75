// The demo agent over in-memory streams. Time moves only while a test waits for a line, so nothing here depends on speed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { runDemoAgent } from '../../server/src/agent/demo/index.ts';
import type { Clock } from '../../server/src/session/ports.ts';

// biome-ignore lint/suspicious/noExplicitAny: records are looked at field by field
type Line = Record<string, any>;

const folder = mkdtempSync(join(tmpdir(), 'demo-agent-'));
for (const name of ['b.txt', 'a.txt']) writeFileSync(join(folder, name), 'secret content');
afterAll(() => rmSync(folder, { recursive: true }));

function manualClock() {
  let now = 1_700_000_000_000;
  let timers: { at: number; run: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
  };
  return {
    clock,
    now: clock.now,
    pending: () => timers.length,
    /** Runs the earliest timer. */
    tick() {
      const next = timers.reduce<(typeof timers)[number] | undefined>(
        (first, timer) => (first && first.at <= timer.at ? first : timer),
        undefined,
      );
      if (!next) return;
      timers = timers.filter((timer) => timer !== next);
      now = next.at;
      next.run();
    },
  };
}

function start({ argv = [] as string[], cwd = folder } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const { clock, tick, pending, now } = manualClock();
  const lines: Line[] = [];
  let held = '';
  output.on('data', (chunk) => {
    held += chunk;
    const parts = held.split('\n');
    held = parts.pop()!;
    lines.push(...parts.map((part) => JSON.parse(part)));
  });
  const exit = runDemoAgent({ input, output, cwd, argv, clock });
  let seen = 0;
  let ids = 0;
  const send = (command: Line) => input.write(`${JSON.stringify(command)}\n`);
  /** The next line that matches, after those already waited for; time goes on until it comes. */
  const until = async (matches: (line: Line) => boolean, what = matches.toString()): Promise<Line> => {
    for (let round = 0; round < 20_000; round += 1) {
      for (; seen < lines.length; seen += 1) if (matches(lines[seen]!)) return lines[seen++]!;
      await nextRound();
      await nextRound();
      if (seen === lines.length) tick();
    }
    throw new Error(`never came: ${what}; last lines ${JSON.stringify(lines.slice(-5))}`);
  };
  const type = (name: string) => until((line) => line.type === name, name);
  const call = async (command: Line): Promise<Line> => {
    const id = `c${++ids}`;
    send({ id, ...command });
    return until((line) => line.type === 'response' && line.id === id, JSON.stringify(command));
  };
  const prompt = (message: string, more: Line = {}) => call({ type: 'prompt', message, ...more });
  const run = async (message: string): Promise<Line[]> => {
    const from = lines.length;
    await prompt(message);
    await type('agent_settled');
    return lines.slice(from);
  };
  return { input, output, exit, lines, send, until, type, call, prompt, run, pending, now };
}

const ofType = (lines: Line[], type: string) => lines.filter((line) => line.type === type);
const assistantText = (lines: Line[]) =>
  ofType(lines, 'message_end')
    .filter(({ message }) => message.role === 'assistant')
    .flatMap(({ message }) => message.content)
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('\n');
const request = (method: string) => (line: Line) =>
  line.type === 'extension_ui_request' && line.method === method;

describe('prompts', () => {
  test('a plain prompt streams an answer whose first sentence says that it is a demo and names the cure', async () => {
    const agent = start();
    const lines = await agent.run('hello there');
    const kinds = lines.map(({ type, assistantMessageEvent }) => assistantMessageEvent?.type ?? type);
    expect(kinds.filter((kind, at) => kind !== 'text_delta' || kinds[at - 1] !== kind)).toEqual([
      'response',
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'text_start',
      'text_delta',
      'text_end',
      'message_end',
      'turn_end',
      'agent_end',
      'agent_settled',
    ]);
    expect(lines[0]).toEqual({ id: 'c1', type: 'response', command: 'prompt', success: true });
    const events = ofType(lines, 'message_update').map((line) => line.assistantMessageEvent);
    const text = assistantText(lines);
    const [first] = text.split('\n\n');
    expect(first).toMatch(/demo agent.*npm install -g @bastani\/atomic.*ATOMIC_LSP_AGENT/);
    expect(text).toContain('“hello there”');
    expect(events.map((event) => event.delta ?? '').join('')).toBe(text);
    expect(events.at(-1)).toEqual({ type: 'text_end', contentIndex: 0, content: text });
    expect(ofType(lines, 'agent_end')[0]!.messages.map((message: Line) => message.role)).toEqual([
      'user',
      'assistant',
    ]);
  });

  test('two prompts one after the other are two runs of one conversation', async () => {
    const agent = start();
    await agent.run('first');
    await agent.run('second');
    const { data } = await agent.call({ type: 'get_messages' });
    expect(data.messages.map((message: Line) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect((await agent.call({ type: 'get_last_assistant_text' })).data.text).toContain('“second”');
    expect((await agent.call({ type: 'get_session_stats' })).data).toMatchObject({
      userMessages: 2,
      assistantMessages: 2,
      totalMessages: 4,
    });
  });

  test('think shows a thinking block before the text; with thinking off it says so', async () => {
    const agent = start();
    await agent.run('hello');
    const lines = await agent.run('think');
    const kinds = ofType(lines, 'message_end')
      .at(-1)!
      .message.content.map((block: Line) => block.type);
    expect(kinds).toEqual(['thinking', 'text']);
    await agent.call({ type: 'set_thinking_level', level: 'off' });
    const off = await agent.run('think');
    expect(JSON.stringify(off)).not.toContain('thinking_start');
    expect(assistantText(off)).toContain('Thinking is off');
  });

  test('the first answer says that it is a demo whatever the scene', async () => {
    const agent = start();
    expect(assistantText(await agent.run('status'))).toMatch(/^This is the built-in demo agent/);
    expect(assistantText(await agent.run('status'))).not.toContain('built-in demo agent');
  });

  test('long N has N words and slow is slower', async () => {
    const agent = start();
    await agent.run('hello');
    const words = assistantText(await agent.run('long 50')).match(/[a-z]+/gi);
    expect(words).toHaveLength(50);
    const took = async (message: string) => {
      const from = agent.now();
      await agent.run(message);
      return agent.now() - from;
    };
    expect(await took('slow long 5')).toBeGreaterThan(5 * (await took('long 5')));
  });

  test('several scenes of one prompt play in the order of their words', async () => {
    const agent = start();
    await agent.run('hello');
    const lines = await agent.run('tool, then notify, and think');
    const order = lines.flatMap((line) => {
      if (line.type === 'tool_execution_start') return ['tool'];
      if (line.method === 'notify') return ['notify'];
      return line.assistantMessageEvent?.type === 'thinking_start' ? ['think'] : [];
    });
    expect(order).toEqual(['tool', 'notify', 'notify', 'notify', 'think']);
  });

  test('a prompt without text, an unknown command and a broken line are refused in the dialect’s words', async () => {
    const agent = start();
    expect(await agent.call({ type: 'prompt' })).toMatchObject({ success: false });
    expect(await agent.call({ type: 'no_such_command' })).toMatchObject({
      command: 'no_such_command',
      success: false,
      error: 'Unknown command: no_such_command',
    });
    expect((await agent.call({ type: 'constructor' })).error).toBe('Unknown command: constructor');
    agent.input.write('not json\r\n42\n');
    expect(await agent.until((line) => line.command === 'parse')).toMatchObject({ success: false });
    expect((await agent.type('response')).error).toBe('Unknown command: undefined');
  });
});

describe('tools, errors, retries', () => {
  test('tool lists the names of the folder with live output and opens no file', async () => {
    const agent = start();
    const lines = await agent.run('tool');
    const updates = ofType(lines, 'tool_execution_update').map((line) => line.partialResult.content[0].text);
    expect(updates).toEqual(['a.txt\n', 'a.txt\nb.txt\n']);
    expect(ofType(lines, 'tool_execution_end')[0]).toMatchObject({
      toolName: 'ls',
      isError: false,
      result: { content: [{ type: 'text', text: 'a.txt\nb.txt\n' }] },
    });
    const call = lines.find((line) => line.assistantMessageEvent?.type === 'toolcall_end')!;
    const deltas = lines.filter((line) => line.assistantMessageEvent?.type === 'toolcall_delta');
    expect(JSON.parse(deltas.map((line) => line.assistantMessageEvent.delta).join(''))).toEqual(
      call.assistantMessageEvent.toolCall.arguments,
    );
    const ends = ofType(lines, 'message_end').map(({ message }) => `${message.role} ${message.stopReason}`);
    expect(ends).toEqual(['user undefined', 'assistant toolUse', 'toolResult undefined', 'assistant stop']);
    expect(ofType(lines, 'turn_end').map((line) => line.toolResults.length)).toEqual([1, 0]);
    expect(JSON.stringify(lines)).not.toContain('secret content');
  });

  test('a folder that cannot be read is a failed tool, not a failed run', async () => {
    const agent = start({ cwd: join(folder, 'gone') });
    const lines = await agent.run('tool');
    expect(ofType(lines, 'tool_execution_end')[0]).toMatchObject({ isError: true });
    expect(ofType(lines, 'message_end').at(-1)!.message.stopReason).toBe('stop');
  });

  test('error ends the run with an assistant message that holds the error', async () => {
    const lines = await start().run('error');
    const { message } = ofType(lines, 'message_end').at(-1)!;
    expect(message).toMatchObject({ stopReason: 'error', errorMessage: expect.stringContaining('401') });
    expect(ofType(lines, 'auto_retry_start')).toEqual([]);
  });

  test('retry fails once, waits and recovers, and tells so between message and turn', async () => {
    const lines = await start().run('retry');
    const kinds = lines.map((line) => line.type).filter((type) => type !== 'message_update');
    const wait = kinds.indexOf('auto_retry_start');
    expect(kinds.slice(wait - 3, wait + 3)).toEqual([
      'message_end',
      'turn_end',
      'agent_end',
      'auto_retry_start',
      'agent_start',
      'turn_start',
    ]);
    expect(kinds.slice(-5)).toEqual([
      'message_end',
      'auto_retry_end',
      'turn_end',
      'agent_end',
      'agent_settled',
    ]);
    expect(ofType(lines, 'auto_retry_start')[0]).toMatchObject({ attempt: 1, maxAttempts: 3, delayMs: 2000 });
    expect(ofType(lines, 'auto_retry_end')).toEqual([{ type: 'auto_retry_end', success: true, attempt: 1 }]);
  });

  test.each(['abort', 'abort_retry'])('%s ends the wait for a retry', async (command) => {
    const agent = start();
    await agent.prompt('retry');
    await agent.type('auto_retry_start');
    agent.send({ id: 'stop', type: command });
    expect(await agent.type('auto_retry_end')).toMatchObject({
      success: false,
      finalError: 'Retry cancelled',
    });
    await agent.type('agent_settled');
    expect(agent.lines.find((line) => line.id === 'stop')).toMatchObject({ success: true });
    expect(ofType(agent.lines, 'agent_start')).toHaveLength(1);
  });

  test('without automatic retry a passing error is final', async () => {
    const agent = start();
    await agent.call({ type: 'set_auto_retry', enabled: false });
    expect(ofType(await agent.run('retry'), 'auto_retry_start')).toEqual([]);
  });
});

describe('questions', () => {
  test.each([
    ['select', { value: 'Green' }, 'You chose: Green'],
    ['choose', { value: 'Blue' }, 'You chose: Blue'],
    ['confirm', { confirmed: true }, 'You said yes.'],
    ['confirm', { confirmed: false }, 'You said no'],
    ['input', { value: 'Ada' }, 'You typed: Ada'],
    ['editor', { value: 'a\nb' }, 'You wrote 2 lines, 3 characters.'],
    ['select', { cancelled: true }, 'You cancelled'],
    ['confirm', { cancelled: true }, 'You said no'],
    ['input', { cancelled: true }, 'You cancelled'],
    ['editor', { cancelled: true }, 'You cancelled'],
  ])('%s answered with %j', async (word, answer, outcome) => {
    const agent = start();
    const method = word === 'choose' ? 'select' : word;
    await agent.prompt(`please ${word} something`);
    const asked = await agent.until(request(method));
    expect(asked.title).toContain('Demo');
    if (method === 'select') expect(asked.options).toHaveLength(4);
    expect((await agent.call({ type: 'get_state' })).data.isStreaming).toBe(true);
    agent.send({ type: 'extension_ui_response', id: asked.id, ...answer });
    await agent.type('agent_settled');
    expect(assistantText(agent.lines)).toContain(outcome);
  });

  test('as a command: asked before the response, no run, the outcome is a notification', async () => {
    const agent = start();
    agent.send({ id: 'p', type: 'prompt', message: '/demo-select' });
    const asked = await agent.until(request('select'));
    expect((await agent.call({ type: 'get_state' })).data.isStreaming).toBe(false);
    expect(agent.lines.some((line) => line.id === 'p')).toBe(false);
    agent.send({ type: 'extension_ui_response', id: 'unknown', value: 'Red' });
    agent.send({ type: 'extension_ui_response', id: asked.id, value: 'Red' });
    expect(await agent.until(request('notify'))).toMatchObject({ message: 'You chose: Red' });
    expect(await agent.until((line) => line.id === 'p')).toMatchObject({ success: true });
    expect(ofType(agent.lines, 'agent_start')).toEqual([]);
  });

  test('a timeout decides in silence and a late answer is ignored', async () => {
    const agent = start();
    await agent.prompt('timeout');
    const asked = await agent.until(request('select'));
    expect(asked.timeout).toBe(10_000);
    await agent.type('agent_settled');
    agent.send({ type: 'extension_ui_response', id: asked.id, value: 'The first' });
    expect((await agent.call({ type: 'get_last_assistant_text' })).data.text).toContain('No answer');
  });

  test('an abort withdraws the question of a run', async () => {
    const agent = start();
    await agent.prompt('select');
    await agent.until(request('select'));
    expect(await agent.call({ type: 'abort' })).toMatchObject({ success: true });
    expect(ofType(agent.lines, 'tool_execution_end')[0]).toMatchObject({ isError: true });
    expect(ofType(agent.lines, 'message_end').at(-1)!.message.stopReason).toBe('aborted');
    await agent.type('agent_settled');
  });
});

describe('notices', () => {
  test.each([
    ['notify', 'notify', { notifyType: 'warning' }],
    ['status', 'setStatus', { statusKey: 'demo', statusText: expect.any(String) }],
    ['widget', 'setWidget', { widgetKey: 'demo', widgetLines: expect.any(Array) }],
    ['title', 'setTitle', { title: expect.any(String) }],
  ])('%s, in a run and as a command', async (word, method, fields) => {
    const agent = start();
    const shown = (lines: Line[]) => lines.filter(request(method));
    expect(shown(await agent.run(word))).toContainEqual(expect.objectContaining(fields));
    const from = agent.lines.length;
    await agent.prompt(`/demo-${word}`);
    const lines = agent.lines.slice(from);
    expect(shown(lines)).toContainEqual(expect.objectContaining(fields));
    expect(ofType(lines, 'agent_start')).toEqual([]);
  });

  test('draft fills the prompt and clear takes everything away', async () => {
    const agent = start();
    await agent.prompt('/demo-draft');
    expect(agent.lines.some(request('set_editor_text'))).toBe(true);
    await agent.prompt('/demo-clear');
    const status = agent.lines.find(request('setStatus'))!;
    expect(status).not.toHaveProperty('statusText');
    expect(agent.lines.find(request('setWidget'))).not.toHaveProperty('widgetLines');
  });

  test('a failing extension command tells its error and still succeeds', async () => {
    const agent = start();
    expect(await agent.prompt('/demo-crash')).toMatchObject({ success: true });
    expect(ofType(agent.lines, 'extension_error')[0]!.error).toContain('on purpose');
  });
});

describe('stopping and the queue', () => {
  test('an abort keeps the partial text, closes its block and answers before the run settles', async () => {
    const agent = start();
    await agent.prompt('long 1000');
    await agent.until((line) => line.assistantMessageEvent?.type === 'text_delta');
    agent.send({ id: 'stop', type: 'abort' });
    await agent.type('agent_settled');
    const kinds = agent.lines.map(({ id, type, assistantMessageEvent }) =>
      id === 'stop' ? 'answer' : (assistantMessageEvent?.type ?? type),
    );
    expect(kinds.slice(-6)).toEqual([
      'text_end',
      'message_end',
      'turn_end',
      'agent_end',
      'answer',
      'agent_settled',
    ]);
    const { message } = ofType(agent.lines, 'message_end').at(-1)!;
    expect(message).toMatchObject({ stopReason: 'aborted', errorMessage: 'Request was aborted' });
    expect(message.content[0].text).not.toBe('');
  });

  test('an abort before the first word gives an empty aborted message', async () => {
    const agent = start();
    await agent.prompt('hello');
    await agent.until((line) => line.type === 'message_end' && line.message.role === 'user');
    await agent.call({ type: 'abort' });
    expect(ofType(agent.lines, 'message_end').at(-1)!.message).toMatchObject({
      content: [],
      stopReason: 'aborted',
    });
  });

  test('an abort during a tool ends the tool, its turn, and one more turn', async () => {
    const agent = start();
    await agent.prompt('tool');
    await agent.type('tool_execution_update');
    await agent.call({ type: 'abort' });
    expect(ofType(agent.lines, 'tool_execution_end')[0]!.result.content[0].text).toContain('Command aborted');
    expect(ofType(agent.lines, 'turn_end')).toHaveLength(2);
    expect(ofType(agent.lines, 'turn_start')).toHaveLength(2);
  });

  test('an abort while idle succeeds at once', async () => {
    expect(await start().call({ type: 'abort' })).toMatchObject({ success: true });
  });

  test('a second prompt is refused in a run unless it says how to queue', async () => {
    const agent = start();
    await agent.prompt('slow');
    expect((await agent.prompt('again')).error).toContain('Specify streamingBehavior');
    expect(await agent.prompt('again', { streamingBehavior: 'followUp' })).toMatchObject({ success: true });
    expect((await agent.call({ type: 'get_state' })).data.pendingMessageCount).toBe(1);
  });

  test('steering is delivered after the tool, follow-ups when the run would stop, one at a time', async () => {
    const agent = start();
    await agent.run('hello');
    await agent.prompt('tool');
    await agent.type('tool_execution_start');
    await agent.call({ type: 'follow_up', message: 'after one' });
    await agent.call({ type: 'follow_up', message: 'after two' });
    await agent.call({ type: 'steer', message: 'steered' });
    expect(ofType(agent.lines, 'queue_update').at(-1)).toEqual({
      type: 'queue_update',
      steering: ['steered'],
      followUp: ['after one', 'after two'],
    });
    const from = agent.lines.length;
    await agent.type('agent_settled');
    const lines = agent.lines.slice(from);
    expect(ofType(lines, 'agent_start')).toEqual([]);
    const users = lines.flatMap((line) =>
      line.type === 'message_start' && line.message.role === 'user' ? [line.message.content[0].text] : [],
    );
    expect(users).toEqual(['steered', 'after one', 'after two']);
    const steered = lines.findIndex((line) => line.message?.content?.[0]?.text === 'steered');
    expect(lines[steered - 1]).toMatchObject({ type: 'queue_update', steering: [] });
    expect(lines[steered - 2]).toMatchObject({ type: 'turn_start' });
    expect(assistantText(lines)).toContain('“steered”');
  });

  test('the queue while idle waits for the next prompt', async () => {
    const agent = start();
    await agent.call({ type: 'steer', message: 'kept' });
    expect(ofType(agent.lines, 'agent_start')).toEqual([]);
    const lines = await agent.run('go');
    const first = ofType(lines, 'agent_end')[0]!.messages.filter((message: Line) => message.role === 'user');
    expect(first.map((message: Line) => message.content[0].text)).toEqual(['go', 'kept']);
  });

  test('an abort goes on with the queue, and one agent_settled ends it all', async () => {
    const agent = start();
    await agent.prompt('slow');
    await agent.call({ type: 'follow_up', message: 'afterwards' });
    await agent.call({ type: 'abort' });
    await agent.type('agent_settled');
    expect(ofType(agent.lines, 'agent_start')).toHaveLength(2);
    expect(ofType(agent.lines, 'agent_settled')).toHaveLength(1);
    expect(assistantText(agent.lines)).toContain('“afterwards”');
  });

  test('clear_queue hands the texts back, so that an abort stops', async () => {
    const agent = start();
    await agent.prompt('slow');
    await agent.call({ type: 'steer', message: 'one' });
    await agent.call({ type: 'follow_up', message: 'two' });
    expect((await agent.call({ type: 'clear_queue' })).data).toEqual({
      steering: ['one'],
      followUp: ['two'],
    });
    await agent.call({ type: 'abort' });
    await agent.type('agent_settled');
    expect(ofType(agent.lines, 'agent_start')).toHaveLength(1);
  });

  test('a paused queue holds prompts back', async () => {
    const agent = start();
    await agent.call({ type: 'pause_queued_messages' });
    await agent.prompt('held');
    expect((await agent.call({ type: 'get_state' })).data).toMatchObject({
      queuedMessagesPaused: true,
      isStreaming: false,
      pendingMessageCount: 1,
    });
    expect((await agent.call({ type: 'resume_queued_messages' })).data).toEqual({ released: true });
  });

  test('an extension command cannot be queued', async () => {
    expect((await start().call({ type: 'steer', message: '/demo-select' })).error).toContain(
      'cannot be queued',
    );
  });
});

describe('models, sessions, shell', () => {
  test('two models; the one that does not think has no levels', async () => {
    const agent = start();
    const { models } = (await agent.call({ type: 'get_available_models' })).data;
    expect(models.map((model: Line) => model.id)).toEqual(['demo-thinker', 'demo-fast']);
    await agent.call({ type: 'set_model', provider: 'demo', modelId: 'demo-fast' });
    expect(ofType(agent.lines, 'model_changed')[0]).toMatchObject({
      model: { id: 'demo-fast' },
      source: 'set',
    });
    expect((await agent.call({ type: 'get_state' })).data).toMatchObject({
      model: { id: 'demo-fast' },
      thinkingLevel: 'off',
    });
    expect((await agent.call({ type: 'get_available_thinking_levels' })).data).toEqual({ levels: ['off'] });
    expect((await agent.call({ type: 'cycle_thinking_level' })).data).toBeNull();
    expect((await agent.call({ type: 'set_model', provider: 'p', modelId: 'm' })).error).toBe(
      'Model not found: p/m',
    );
    expect((await agent.call({ type: 'cycle_model' })).data.model.id).toBe('demo-thinker');
    await agent.call({ type: 'set_thinking_level', level: 'xhigh' });
    expect((await agent.call({ type: 'get_state' })).data.thinkingLevel).toBe('high');
  });

  test('get_commands lists every scene, and each can be played', async () => {
    const agent = start();
    const { commands } = (await agent.call({ type: 'get_commands' })).data;
    const names = commands.map((command: Line) => command.name);
    expect(names).toEqual(expect.arrayContaining(['demo-think', 'demo-select', 'demo-long', 'demo-notify']));
    const plain = commands.filter((command: Line) => command.source === 'prompt');
    for (const { name } of plain) {
      const lines = await agent.run(`/${name} 5`);
      expect(assistantText(lines), name).not.toContain('You wrote');
    }
    const { completions } = (
      await agent.call({ type: 'get_command_completions', commandName: 'demo-long', argumentPrefix: '1' })
    ).data;
    expect(completions.map((item: Line) => item.value)).toEqual(['10', '100', '1000', '10000']);
  });

  test('names, entries, fork, clone and the tree', async () => {
    const agent = start({ argv: ['--mode', 'rpc', '--name', 'trial'] });
    expect((await agent.call({ type: 'get_state' })).data.sessionName).toBe('trial');
    await agent.call({ type: 'set_session_name', name: '  new name ' });
    expect(ofType(agent.lines, 'session_info_changed')[0]!.name).toBe('new name');
    await agent.run('first');
    await agent.run('second');
    const { messages } = (await agent.call({ type: 'get_fork_messages' })).data;
    expect(messages.map((message: Line) => message.text)).toEqual(['first', 'second']);
    const before = (await agent.call({ type: 'get_state' })).data.sessionId;
    const fork = await agent.call({ type: 'fork', entryId: messages[1].entryId });
    expect(fork.data).toEqual({ text: 'second', cancelled: false });
    expect((await agent.call({ type: 'get_messages' })).data.messages).toHaveLength(2);
    expect((await agent.call({ type: 'get_state' })).data.sessionId).not.toBe(before);
    expect((await agent.call({ type: 'fork', entryId: 'x' })).error).toBe('Invalid entry ID for forking');
    expect((await agent.call({ type: 'clone' })).data).toEqual({ cancelled: false });
    const { entries, leafId } = (await agent.call({ type: 'get_entries' })).data;
    expect(entries.at(-1).id).toBe(leafId);
    expect((await agent.call({ type: 'get_entries', since: leafId })).data.entries).toEqual([]);
    await agent.call({ type: 'set_label', entryId: leafId, label: 'good' });
    let node = (await agent.call({ type: 'get_tree' })).data.tree[0];
    while (node.children.length > 0) node = node.children[0];
    expect(node).toMatchObject({ entry: { id: leafId }, label: 'good' });
    await agent.call({ type: 'navigate_tree', targetId: entries[0].id });
    expect((await agent.call({ type: 'get_messages' })).data.messages).toEqual([]);
  });

  test('a new session cuts the run without agent_settled and starts empty', async () => {
    const agent = start();
    await agent.prompt('slow');
    await agent.call({ type: 'follow_up', message: 'never' });
    expect((await agent.call({ type: 'new_session' })).data).toEqual({ cancelled: false });
    expect((await agent.call({ type: 'get_state' })).data).toMatchObject({
      isStreaming: false,
      messageCount: 0,
      pendingMessageCount: 0,
    });
    expect(ofType(agent.lines, 'agent_end')).toHaveLength(1);
    expect(ofType(agent.lines, 'agent_settled')).toHaveLength(0);
    expect(ofType(await agent.run('hello'), 'agent_settled')).toHaveLength(1);
  });

  test('compact shortens a conversation; too small a one is refused; it can be stopped', async () => {
    const agent = start();
    expect((await agent.call({ type: 'compact' })).error).toBe('Nothing to compact (session too small)');
    await agent.run('first');
    await agent.run('second');
    agent.send({ id: 'k', type: 'compact' });
    await agent.until((line) => line.type === 'compaction_start' && agent.pending() > 0);
    agent.send({ type: 'abort_compaction' });
    expect((await agent.until((line) => line.id === 'k')).error).toBe('Compaction cancelled');
    expect((await agent.call({ type: 'compact' })).data.tokensBefore).toBeGreaterThan(0);
    const { messages } = (await agent.call({ type: 'get_messages' })).data;
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({ role: 'custom', customType: 'compaction' });
    const ends = ofType(agent.lines, 'compaction_end');
    expect(ends.map((line) => [line.aborted, 'result' in line])).toEqual([
      [false, false],
      [true, false],
      [false, true],
    ]);
  });

  test('bash runs nothing and says so; it stops by id', async () => {
    const agent = start();
    const command = `touch ${join(folder, 'made')}`;
    const { data } = await agent.call({ type: 'bash', command });
    expect(data).toMatchObject({ exitCode: 126, cancelled: false });
    expect(data.output).toContain(`runs nothing. It would have run:\n${command}`);
    const deltas = ofType(agent.lines, 'bash_execution_update');
    expect(deltas.map((line) => line.delta).join('')).toBe(data.output);
    agent.send({ id: 'b1', type: 'bash', command: 'one' });
    agent.send({ id: 'b2', type: 'bash', command: 'two' });
    agent.send({ type: 'abort_bash', requestId: 'b1' });
    expect((await agent.until((line) => line.id === 'b1' && line.type === 'response')).data).toMatchObject({
      cancelled: true,
    });
    expect((await agent.until((line) => line.id === 'b2' && line.type === 'response')).data.cancelled).toBe(
      false,
    );
    const { messages } = (await agent.call({ type: 'get_messages' })).data;
    expect(messages.map((message: Line) => message.role)).toEqual(Array(3).fill('bashExecution'));
  });

  test('a pretended login asks, and can be cancelled from outside', async () => {
    const agent = start();
    agent.send({ id: 'l', type: 'login_provider', provider: 'demo', loginId: 'L' });
    const asked = await agent.until(request('oauth_prompt'));
    agent.send({ type: 'extension_ui_response', id: asked.id, value: 'anything' });
    expect((await agent.until((line) => line.id === 'l')).data).toMatchObject({ cancelled: false });
    agent.send({ id: 'l2', type: 'login_provider', provider: 'demo' });
    await agent.until(request('oauth_prompt'));
    agent.send({ type: 'cancel_login_provider', provider: 'demo' });
    expect((await agent.until((line) => line.id === 'l2')).data).toEqual({
      provider: 'demo',
      cancelled: true,
    });
  });
});

describe('the end', () => {
  test('the end of the input ends the agent after the last line was answered, even without LF', async () => {
    const agent = start();
    agent.input.end('{"id":"last","type":"get_last_assistant_text"}');
    expect(await agent.exit).toBe(0);
    expect(agent.lines).toEqual([
      { id: 'last', type: 'response', command: 'get_last_assistant_text', success: true, data: {} },
    ]);
  });

  test('in the middle of a run nothing more is said', async () => {
    const agent = start();
    await agent.prompt('slow');
    await agent.until((line) => line.assistantMessageEvent?.type === 'text_delta');
    agent.input.end();
    expect(await agent.exit).toBe(0);
    expect(ofType(agent.lines, 'agent_end')).toEqual([]);
    expect(agent.pending()).toBe(0);
  });

  test('a broken output ends it with 1', async () => {
    const agent = start();
    agent.output.destroy(new Error('EPIPE'));
    expect(await agent.exit).toBe(1);
  });
});
