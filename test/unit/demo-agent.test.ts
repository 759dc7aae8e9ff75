// The demo agent: prompts, tools, errors, retries, its end.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assistantText, folder, type Line, ofType, start } from './demo-agent.ts';

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
