// The demo agent: models, sessions, compaction, the shell, logins.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assistantText, folder, type Line, ofType, request, start } from './demo-agent.ts';

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
