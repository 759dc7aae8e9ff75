// The demo agent: stopping and the queue.
import { describe, expect, test } from 'vitest';
import { assistantText, type Line, ofType, start } from './demo-agent.ts';

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
