// The scripted agent does what its script says, in the form of the asked dialect.
import { afterEach, describe, expect, it } from 'vitest';
import { agentChoice } from '../../server/src/protocol/hub.ts';
import { type Line, type Talk, talkTo } from '../agents/talk.ts';
import { type Script, type ScriptedAgent, scriptedAgent } from '../support/scripted.ts';

const running: { talk: Talk; agent: ScriptedAgent }[] = [];
const start = (script: Script = {}): Talk & { open: ScriptedAgent['open'] } => {
  const agent = scriptedAgent(script);
  const talk = talkTo(agent);
  running.push({ talk, agent });
  return Object.assign(talk, { open: agent.open });
};
afterEach(async () => {
  for (const { talk, agent } of running.splice(0)) {
    await talk.kill();
    agent.dispose();
  }
});

const updates = (talk: Talk): Line[] => talk.lines.filter(({ type }) => type === 'message_update');
const types = (talk: Talk): string[] => talk.lines.map(({ type }) => type as string);
const dialects = ['D0', 'D1', 'D2', 'D3'] as const;

describe('without a script', () => {
  it.each(dialects)('it is a working agent of %s', async (dialect) => {
    const talk = start({ dialect });
    expect((await talk.call({ type: 'get_state' })).data).toMatchObject({ isStreaming: false });
    const accepted = await talk.call({ type: 'prompt', message: 'good day' });
    expect(accepted.data).toEqual(dialect === 'D3' ? { disposition: 'started' } : undefined);
    const cumulative = dialect === 'D0' || dialect === 'D1';
    const { messages } = await talk.until('agent_end');
    expect(messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'You said: good day' }],
      stopReason: 'stop',
    });
    if (!cumulative) await talk.until('agent_settled');
    const after = await talk.call({ type: 'get_messages' });
    expect(after.data.messages.some(({ role }: Line) => role === 'user')).toBe(true);
    expect(types(talk).includes('agent_settled')).toBe(!cumulative);
    const deltas = updates(talk).filter(({ assistantMessageEvent: { delta } }) => delta !== undefined);
    expect(deltas.map(({ assistantMessageEvent }) => assistantMessageEvent.delta).join('')).toBe(
      'You said: good day',
    );
    expect(deltas.map(({ message }) => message?.content[0].text)).toEqual(
      cumulative
        ? ['You ', 'You said: ', 'You said: good ', 'You said: good day']
        : [undefined, undefined, undefined, undefined],
    );
    expect('partial' in deltas[0]!.assistantMessageEvent).toBe(cumulative);
  });

  it.each(dialects)('it refuses what %s does not know in its form', async (dialect) => {
    const talk = start({ dialect });
    talk.send({ id: 'x', type: 'no_such_thing' });
    expect(await talk.until('response')).toEqual({
      ...(dialect !== 'D0' && { id: 'x' }),
      type: 'response',
      command: 'no_such_thing',
      success: false,
      error: 'Unknown command: no_such_thing',
    });
    expect((await talk.call({ type: 'get_state' })).data.queuedMessagesPaused).toBe(
      dialect === 'D2' ? false : undefined,
    );
  });

  it('it is an agent choice, and nothing besides', () => {
    const agent = scriptedAgent();
    expect(agentChoice.parse(agent)).toEqual({ command: agent.command, args: agent.args, env: agent.env });
    agent.dispose();
  });

  it('it leaves when stdin is closed', async () => {
    const talk = start();
    talk.close();
    expect(await talk.end).toEqual({ code: 0, signal: null });
  });
});

describe('a scripted run', () => {
  it('has thinking, tools and a place where it waits for the test', async () => {
    const tools = [{ name: 'bash', args: { command: 'make' }, output: ['one\n', 'two\n'] }];
    const talk = start({
      on: {
        prompt: [{ started: true }, { say: ['first ', 'last'], thinking: 'hm', tools, gate: 'middle' }],
      },
    });
    await talk.call({ type: 'prompt', message: 'go' });
    await talk.until(({ assistantMessageEvent }) => assistantMessageEvent?.delta === 'first ');
    expect((await talk.call({ type: 'get_state' })).data.isStreaming).toBe(true);
    expect(JSON.stringify(talk.lines)).not.toContain('last');
    const partials = talk.lines.filter(({ type }) => type === 'tool_execution_update');
    expect(partials.map(({ partialResult }) => partialResult.content[0].text)).toEqual([
      'one\n',
      'one\ntwo\n',
    ]);
    talk.open('middle');
    const { messages } = await talk.until('agent_end');
    expect(messages.map(({ role }: Line) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
    expect(messages.at(-1).content).toEqual([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'first last' },
    ]);
  });

  it('is aborted where it waits', async () => {
    const talk = start({ on: { prompt: [{ started: true }, { say: ['first ', 'last'], gate: 'never' }] } });
    await talk.call({ type: 'prompt', message: 'go' });
    await talk.until('message_update');
    expect((await talk.call({ type: 'abort' })).success).toBe(true);
    const end = talk.lines.findLast(({ type }) => type === 'message_end');
    expect(end?.message).toMatchObject({ stopReason: 'aborted', content: [{ text: 'first ' }] });
    expect(types(talk).slice(-3)).toEqual(['agent_end', 'agent_settled', 'response']);
  });

  it('can end without being settled, or with an error', async () => {
    const talk = start({
      on: {
        prompt: [
          [{ started: true }, { say: 'x', settled: false, stopReason: 'error', errorMessage: 'overloaded' }],
          [{ refuse: 'busy', errorCode: 'code' }],
        ],
      },
    });
    await talk.call({ type: 'prompt', message: '1' });
    const { messages } = await talk.until('agent_end');
    expect(messages.at(-1)).toMatchObject({ stopReason: 'error', errorMessage: 'overloaded' });
    expect(await talk.call({ type: 'prompt', message: '2' })).toMatchObject({
      error: 'busy',
      errorCode: 'code',
    });
    expect(types(talk)).not.toContain('agent_settled');
  });

  it('floods', async () => {
    const talk = start({ on: { prompt: [{ started: true }, { flood: 20_000 }] } });
    await talk.call({ type: 'prompt', message: 'go' });
    await talk.until('agent_settled');
    expect(updates(talk)).toHaveLength(20_002);
  });
});

describe('a fault', () => {
  it('at the start: last words and a bad exit', async () => {
    const talk = start({ start: [{ stderr: 'StorageConfigError: no\n' }, { exit: 1 }] });
    expect(await talk.end).toEqual({ code: 1, signal: null });
    expect(talk.errors()).toBe('StorageConfigError: no\n');
    expect(talk.lines).toEqual([]);
  });

  it('in the middle: killed, with half a record', async () => {
    const talk = start({
      on: { prompt: [{ started: true }, { raw: '{"type":"agent_' }, { kill: 'SIGKILL' }] },
    });
    await talk.call({ type: 'prompt', message: 'go' });
    expect(await talk.end).toEqual({ code: null, signal: 'SIGKILL' });
    expect(talk.output().toString()).toMatch(/\n\{"type":"agent_$/);
  });

  it('on stdout: garbage, escapes, bytes that are no text', async () => {
    const talk = start({
      start: [
        { raw: 'Warning: old\n\u001b[2J\u001b[H' },
        { bytes: 'gP8K' },
        { emit: [{ type: 'agent_start' }] },
      ],
    });
    await talk.until('agent_start');
    expect(talk.output().toString('latin1')).toBe(
      'Warning: old\n\u001b[2J\u001b[H\x80\xff\n{"type":"agent_start"}\n',
    );
  });

  it('silence, a refusal without id, an unknown command', async () => {
    const talk = start({
      on: {
        get_state: [{ refuse: 'no', withoutId: true }],
        abort: [{ unknown: true }],
        compact: [{ stop: true }],
      },
      otherwise: 'silent',
    });
    talk.send({ id: 1, type: 'get_messages' });
    talk.send({ id: 2, type: 'compact' });
    talk.send({ id: 3, type: 'get_state' });
    expect(await talk.until('response')).toEqual({
      type: 'response',
      command: 'get_state',
      success: false,
      error: 'no',
    });
    expect((await talk.call({ type: 'abort' })).error).toBe('Unknown command: abort');
    expect(talk.lines).toHaveLength(2);
  });

  it('a record of 100 MB', async () => {
    const talk = start({ start: [{ line: 'get_state' }, { big: 100_000_000 }] });
    talk.send({ type: 'get_state' });
    const { message } = await talk.until('message_end');
    expect(message.content[0].text.length).toBe(100_000_000);
  });

  it('an agent that will not leave, and leaves a child', async () => {
    const talk = start({
      sigterm: 'ignore',
      closed: 'stay',
      start: [{ child: true }, { gate: 'later' }, { emit: { type: 'still_here' } }],
    });
    const child = Number((await talk.until('session_info_changed')).name);
    process.kill(talk.child.pid!, 'SIGTERM');
    expect((await talk.call({ type: 'get_state' })).success).toBe(true);
    talk.close();
    talk.open('later');
    await talk.until('still_here');
    process.kill(child, 0);
    await talk.kill();
    expect(await talk.end).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('words after stdin was closed', async () => {
    const talk = start({ closed: [{ emit: { type: 'late' } }, { exit: 3 }] });
    talk.close();
    expect((await talk.end).code).toBe(3);
    expect(types(talk)).toEqual(['late']);
  });

  it('a script that is wrong is told', async () => {
    const talk = start({ start: [{ nonsense: 1 } as never] });
    expect((await talk.end).code).toBe(71);
    expect(talk.errors()).toContain('a step that is none: {"nonsense":1}');
  });
});

describe('a question', () => {
  it.each([
    ['select', { title: 'Which?', options: ['a', 'b'] }, { value: 'b' }],
    ['confirm', { title: 'Sure?', message: 'really' }, { confirmed: true }],
    ['input', { title: 'Name', placeholder: 'x' }, { value: 'n' }],
    ['editor', { title: 'Text', prefill: 'x\n' }, { cancelled: true }],
    ['oauth_prompt', { provider: 'p', loginId: 'l', prompt: { message: 'Code?' } }, { value: '1' }],
    [
      'oauth_select',
      { provider: 'p', loginId: 'l', prompt: { message: 'Who?', options: [] } },
      { value: 'o' },
    ],
    ['oauth_manual_code', { provider: 'p', loginId: 'l' }, { value: 'c' }],
  ])('%s waits for its answer', async (method, fields, answer) => {
    const talk = start({ on: { prompt: [{ ask: { method, ...fields } }, { accept: true }] } });
    talk.send({ id: 'p', type: 'prompt', message: '/ask' });
    const request = await talk.until('extension_ui_request');
    expect(request).toEqual({ type: 'extension_ui_request', id: request.id, method, ...fields });
    expect((await talk.call({ type: 'get_state' })).success).toBe(true);
    talk.send({ type: 'extension_ui_response', id: request.id, ...answer });
    expect((await talk.until('extension_ui_request')).message).toBe(`${method}: ${JSON.stringify(answer)}`);
    expect((await talk.until('response')).id).toBe('p');
  });

  it('may come before anything was said, and need no answer', async () => {
    const talk = start({
      start: [
        { ask: { method: 'setStatus', statusKey: 'k', statusText: 't' }, wait: false },
        { ask: { method: 'confirm', title: 't', message: 'm', timeout: 5 } },
      ],
    });
    expect((await talk.until('extension_ui_request')).method).toBe('setStatus');
    const { id } = await talk.until('extension_ui_request');
    expect((await talk.call({ type: 'get_state' })).success).toBe(true);
    talk.send({ type: 'extension_ui_response', id, confirmed: false });
    await talk.until(({ message }) => message === 'confirm: {"confirmed":false}');
  });
});
