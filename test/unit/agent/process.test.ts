// Real processes: small programs that behave as agents do at their best and at their worst.
import { describe, expect, it } from 'vitest';
import { alive, childOf, gone, started, workspace } from './scripts.ts';
import { realClock } from './support.ts';

describe('an agent process', () => {
  it('runs in the workspace with --mode rpc and the stripped environment', async () => {
    const { agent, exit } = await started(
      `onLine = (call) => answer(call, { data: { args: process.argv.slice(1), cwd: process.cwd(), env: process.env } });`,
      realClock,
      { env: { PATH: process.env.PATH ?? '', PI_SESSION_ID: 'outer', TOKEN: 't' }, start: { model: 'm' } },
    );
    const response = await agent.call({ type: 'get_state' });
    expect(response.data).toMatchObject({
      args: ['--mode', 'rpc', '--model', 'm'],
      cwd: workspace,
      env: { TOKEN: 't' },
    });
    expect(JSON.stringify(response.data)).not.toContain('outer');
    await agent.stop();
    expect(await exit()).toMatchObject({ code: 0, expected: true, message: 'The agent (node) was stopped.' });
  });

  it('may be called before it is ready, and asks before it answers', async () => {
    const { agent, dialog, heard } = await started(`
      say({ type: 'extension_ui_request', id: 'q', method: 'confirm', title: 'Trust?' });
      let first;
      onLine = (call) => {
        if (call.type === 'extension_ui_response') answer(first, { data: call.confirmed });
        else first = call;
      };`);
    const ready = agent.call({ type: 'get_state' });
    const { dialog: question } = await dialog();
    agent.answer({ ...question, openedAt: 0 }, { confirmed: true });
    expect((await ready).data).toBe(true);
    await agent.stop();
    expect(heard.at(-1)).toHaveProperty('exit');
  });

  it('hears a line of 8 MB and says one', async () => {
    const { agent } = await started(`onLine = (call) => answer(call, { data: call.message });`);
    const message = 'é😀\u2028'.repeat(1_000_000);
    expect((await agent.call({ type: 'prompt', message })).data === message).toBe(true);
    await agent.stop();
  });

  it('that dies at its start fails what waits with its own last words', async () => {
    const { agent, exit, log } = await started(
      `process.stderr.write('Warning: x\\nError: Unknown model: zeta\\n'); process.exitCode = 1; process.stdin.destroy();`,
    );
    await expect(agent.call({ type: 'get_state' })).rejects.toMatchObject({
      code: 'AgentStartFailed',
      message: expect.stringMatching(
        /exited with code 1 before it answered anything: Error: Unknown model: zeta\./,
      ),
    });
    expect(await exit()).toMatchObject({ code: 1, signal: null, expected: false });
    await expect(agent.call({ type: 'get_state' })).rejects.toMatchObject({ code: 'AgentStartFailed' });
    expect(log.text()).not.toContain('zeta');
  });

  it('that dies in a run settles it and fails what waits, in that order, and then tells its exit', async () => {
    const order: string[] = [];
    const { agent, exit, heard } = await started(`
      onLine = (call) => {
        if (call.type !== 'prompt') return;
        say({ type: 'agent_start' });
        process.stdout.write('{"type":"turn_start"}', () => { console.error('Error: out of memory'); process.exit(9); });
      };`);
    const waits = agent.call({ type: 'get_messages' }).catch((error) => order.push(error.code));
    agent.call({ type: 'prompt', message: 'x' }).catch((error) => order.push(error.code));
    const { message } = await exit();
    order.push('exit');
    await waits;
    expect(order).toEqual(['AgentGone', 'AgentGone', 'exit']);
    expect(message).toMatch(/exited with code 9: Error: out of memory\./);
    expect(heard.map((entry) => ('fact' in entry ? entry.fact.type : Object.keys(entry)[0]))).toEqual([
      'agent_start',
      'turn_start',
      'agent_settled',
      'exit',
    ]);
  });

  it('killed from outside is told as killed', async () => {
    const { agent, exit } = await started(`onLine = answer;`);
    await agent.call({ type: 'get_state' });
    process.kill(agent.pid!, 'SIGKILL');
    expect(await exit()).toMatchObject({
      code: null,
      signal: 'SIGKILL',
      message: expect.stringContaining('was killed by SIGKILL'),
    });
  });

  it('that writes to stderr without end is drained, and its last words are kept', async () => {
    const { agent, exit } = await started(`
      for (let at = 0; at < 40; at++) process.stderr.write('noise '.repeat(20000) + '\\n');
      process.stderr.write('Error: the end\\n');
      say({ type: 'agent_start' });
      onLine = () => {
        process.exitCode = 3;
        process.stdin.destroy();
      };`);
    agent.call({ type: 'prompt' }).catch(() => {});
    expect((await exit()).message).toContain('exited with code 3: Error: the end.');
  });

  it('that closed its stdin can still be written to', async () => {
    const { agent, fact, exit } = await started(`
      process.stdin.destroy();
      require('fs').closeSync(0);
      say({ type: 'agent_start' });
      setInterval(() => {}, 1000);`);
    await fact('agent_start');
    const calls = Promise.allSettled(
      Array.from({ length: 20 }, () => agent.call({ type: 'prompt', message: 'x'.repeat(100_000) })),
    );
    agent.kill();
    expect(await exit()).toMatchObject({ signal: 'SIGKILL', expected: true });
    for (const call of await calls)
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'AgentGone' } });
  });

  it('whose output a stranger keeps open is given up a little after it ended', async () => {
    const { agent, exit, fact, facts } = await started(`
      const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
      child.once('spawn', () => say({ type: 'session_info_changed', name: String(child.pid) }));
      onLine = () => process.exit(0);`);
    await fact('session_info_changed');
    agent.call({ type: 'prompt' }).catch(() => {});
    expect(await exit()).toMatchObject({ code: 0 });
    const stranger = childOf(facts());
    expect(alive(stranger)).toBe(true);
    process.kill(stranger, 'SIGKILL');
  });

  it('leaves nothing of its group behind', async () => {
    const { facts, exit, fact, agent } = await started(`
      const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      say({ type: 'session_info_changed', name: String(child.pid) });
      onLine = () => process.exit(0);`);
    await fact('session_info_changed');
    agent.call({ type: 'prompt' }).catch(() => {});
    await exit();
    await gone(childOf(facts()));
  });
});
