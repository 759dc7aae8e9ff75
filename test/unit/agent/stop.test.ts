// How an agent is stopped, step by step, and starts that cannot be.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createStartAgent } from '../../../server/src/agent/index.ts';
import { childOf, gone, started, workspace } from './scripts.ts';
import { type ManualClock, manualClock, realClock, recorder, recordingLog } from './support.ts';

describe('the stop', () => {
  it('of a run aborts it first, without its queue, refuses its questions, and loses no reply', async () => {
    const { agent, fact, dialog, facts, exit } = await started(`
      const seen = [];
      onLine = (call) => {
        seen.push(call.type + (call.cancelled ? ' cancelled' : ''));
        if (call.type === 'prompt') {
          answer(call);
          say({ type: 'agent_start' });
          say({ type: 'extension_ui_request', id: 'q', method: 'input', title: 'T' });
        }
        if (call.type === 'clear_queue') answer(call);
        if (call.type === 'abort') {
          say({ type: 'message_end', message: { role: 'assistant', content: [{ type: 'text', text: seen.join() }], stopReason: 'aborted' } });
          say({ type: 'agent_end', messages: [] });
          say({ type: 'agent_settled', aborted: true });
          answer(call);
        }
      };`);
    agent.call({ type: 'prompt', message: 'x' }).catch(() => {});
    await Promise.all([fact('agent_start'), dialog()]);
    await Promise.all([agent.stop(), agent.stop()]);
    expect(await exit()).toMatchObject({ code: 0, expected: true });
    expect(facts().slice(1)).toMatchObject([
      {
        type: 'message_end',
        message: { content: [{ text: 'prompt,extension_ui_response cancelled,clear_queue,abort' }] },
      },
      { type: 'agent_end' },
      { type: 'agent_settled', aborted: true, outcome: { stopReason: 'aborted' } },
    ]);
  });

  /** Lets the clock of the ladder run until the agent has gone, step by step, and returns the steps that it took. */
  async function stoppedBy(script: string) {
    const clock: ManualClock = manualClock();
    const run = await started(script, clock);
    await run.fact('session_info_changed');
    let over = false;
    const stopped = run.agent.stop().then(() => {
      over = true;
    });
    while (!over) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await stopped;
    return { ...run, ended: await run.exit(), clock };
  }

  it('sends SIGTERM to one that does not leave by itself', async () => {
    const { ended, clock } = await stoppedBy(`
      process.on('SIGTERM', () => process.exit(143));
      say({ type: 'session_info_changed', name: '' });
      setInterval(() => {}, 1000);`);
    expect(ended).toMatchObject({ code: 143, expected: true });
    expect(clock.now()).toBeGreaterThanOrEqual(5_000);
  });

  it('kills one that ignores SIGTERM, with the shells that it gave groups of their own', async () => {
    const { ended, facts, clock } = await stoppedBy(`
      process.on('SIGTERM', () => {});
      const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
      child.once('spawn', () => say({ type: 'session_info_changed', name: String(child.pid) }));
      setInterval(() => {}, 1000);`);
    expect(ended).toMatchObject({ signal: 'SIGKILL', expected: true });
    expect(clock.now()).toBeGreaterThanOrEqual(7_000);
    await gone(childOf(facts()));
  });

  it('of one that has ended already is over at once', async () => {
    const { agent, exit } = await started(`process.exitCode = 4; process.stdin.destroy();`);
    await exit();
    await agent.stop();
    agent.kill();
    expect((await exit()).expected).toBe(false);
  });
});

describe('a start that cannot be', () => {
  const start = createStartAgent({
    demo: { command: process.execPath, args: [] },
    clock: realClock,
    log: recordingLog(),
  });
  it('names the workspace folder that is not there', async () => {
    const spec = { workspace: join(workspace, 'none'), choice: { command: process.execPath }, env: {} };
    await expect(start(spec, recorder())).rejects.toMatchObject({
      code: 'AgentStartFailed',
      message: expect.stringContaining('none does not exist'),
    });
  });
  it('names the program whose interpreter is missing', async () => {
    const command = join(workspace, 'broken');
    writeFileSync(command, '#!/no/such/interpreter\n', { mode: 0o755 });
    await expect(start({ workspace, choice: { command }, env: {} }, recorder())).rejects.toMatchObject({
      code: 'AgentNotFound',
      message: expect.stringMatching(/broken.*interpreter/),
    });
  });
});
