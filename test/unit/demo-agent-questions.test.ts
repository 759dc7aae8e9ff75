// The demo agent: questions and notices, in a run and as commands.
import { describe, expect, test } from 'vitest';
import { assistantText, type Line, ofType, request, start } from './demo-agent.ts';

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
