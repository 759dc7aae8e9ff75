// Real processes: small programs that behave as agents do at their best and at their worst.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStartAgent } from '../../../server/src/agent/index.ts';
import type { AgentSpec, Clock } from '../../../server/src/session/ports.ts';
import {
  factsOf,
  type Heard,
  type ManualClock,
  manualClock,
  realClock,
  recorder,
  recordingLog,
} from './support.ts';

let workspace: string;
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'atomic-lsp-process-')));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** What every script below begins with: lines in, records out. */
const prelude = `
const say = (record) => process.stdout.write(JSON.stringify(record) + '\\n');
const answer = (call, fields = {}) => say({ id: call.id, type: 'response', command: call.type, success: true, ...fields });
process.stdin.setEncoding('utf8');
let held = '';
let onLine = () => {};
process.stdin.on('data', (chunk) => {
  held += chunk;
  const lines = held.split('\\n');
  held = lines.pop();
  for (const line of lines) onLine(JSON.parse(line));
});
`;

async function started(script: string, clock: Clock = realClock, more: Partial<AgentSpec> = {}) {
  const waiting: { wanted: (heard: Heard) => boolean; found: (heard: Heard) => void }[] = [];
  const events = recorder((heard) => {
    for (const entry of waiting) if (entry.wanted(heard)) entry.found(heard);
  });
  const log = recordingLog();
  const start = createStartAgent({ demo: { command: process.execPath, args: [] }, clock, log });
  const agent = await start(
    {
      workspace,
      choice: { command: process.execPath, args: ['-e', prelude + script, '--'] },
      env: { PATH: process.env.PATH ?? '', HOME: workspace },
      ...more,
    },
    events,
  );
  const until = <T extends Heard>(wanted: (heard: Heard) => heard is T): Promise<T> => {
    const already = events.heard.find(wanted);
    return already
      ? Promise.resolve(already as T)
      : new Promise((found) => waiting.push({ wanted, found: found as (heard: Heard) => void }));
  };
  const isExit = (heard: Heard): heard is Extract<Heard, { exit: unknown }> => 'exit' in heard;
  return {
    agent,
    heard: events.heard,
    facts: () => factsOf(events.heard),
    log,
    exit: async () => (await until(isExit)).exit,
    fact: (type: string) => until((heard): heard is Heard => 'fact' in heard && heard.fact.type === type),
    dialog: () => until((heard): heard is Extract<Heard, { dialog: unknown }> => 'dialog' in heard),
  };
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that has ended but was not yet collected by its parent is a zombie, and dead.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Resolves once the process is gone; the test's own time limit is the limit. */
const gone = async (pid: number): Promise<void> => {
  while (alive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
};

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

const childOf = (facts: { type: string }[]): number =>
  Number((facts.find(({ type }) => type === 'session_info_changed') as unknown as { name: string }).name);

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
