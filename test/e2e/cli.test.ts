// The terminal client as processes: prompts with their exit codes, the demo and faulty agents, status and stop.
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { signalled } from '../editors/processes.ts';
import { agentEnvironment, builtProgram, type Cli, createCli } from '../support/cli.ts';
import { type Script, scriptedAgent } from '../support/scripted.ts';

let built: Awaited<ReturnType<typeof builtProgram>>;
beforeAll(async () => {
  built = await builtProgram();
});
afterAll(() => built.dispose());

let cli: Cli;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  cli = createCli(built.program);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await cli.close();
});

function scripted(script: Script) {
  const agent = scriptedAgent(script);
  closing.push(() => agent.dispose());
  return { env: agentEnvironment(agent), open: agent.open };
}

interface Line {
  epoch: string;
  from?: number;
  seq: number;
  fact: { type: string; [key: string]: unknown };
}
const jsonLines = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((it) => JSON.parse(it));

it('streams the demo’s answer through the hub, which status shows and stop ends with its agent', async () => {
  expect(await cli.run(['status'])).toMatchObject({
    code: 1,
    out: expect.stringContaining('No hub is running'),
  });
  const { code, out, err } = await cli.run(['prompt', 'hello'], { env: { SOME_API_KEY: 'sk-1' } });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^This is the built-in demo agent[\s\S]*You wrote: “hello”[\s\S]*\n$/);
  const status = JSON.parse((await cli.run(['status', '--json'])).out);
  expect(status).toMatchObject({
    running: true,
    editors: [],
    sessions: [{ workspace: cli.workspace, name: 'default', busy: false, agent: { status: 'running' } }],
  });
  expect((await cli.run(['status'])).out).toContain('built-in demo');
  // The agent has what whoever asked for it brought; the hub, which outlives them, does not keep it.
  if (process.platform === 'linux') {
    const hasKey = (pid: number) =>
      fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes('SOME_API_KEY');
    expect([hasKey(status.pid), hasKey(status.sessions[0].agent.pid)]).toEqual([false, true]);
  }
  expect((await cli.run(['logs'])).out).toContain('the hub listens');
  expect(await cli.run(['stop'])).toEqual({ code: 0, out: 'The hub has ended.\n', err: '' });
  expect(signalled(status.pid, 0)).toBe(false);
  expect(signalled(status.sessions[0].agent.pid, 0)).toBe(false);
  expect(await cli.run(['stop'])).toEqual({ code: 0, out: 'No hub is running.\n', err: '' });
});

it('leaves no process behind without a hub, and says what a tool did on standard error', async () => {
  const { code, out, err } = await cli.run(['prompt', '--no-hub', 'tool']);
  expect({ code, err }).toEqual({ code: 0, err: '✓ ls .\n' });
  expect(out).toContain('I look at the folder.\n');
  expect(cli.home.processes()).toEqual([]);
});

it('reads the prompt from standard input', async () => {
  const { code, out } = await cli.run(['prompt', '--no-hub', '-'], { input: 'from a pipe\n' });
  expect(code).toBe(0);
  expect(out).toContain('You wrote: “from a pipe”');
  const empty = await cli.run(['prompt', '--no-hub', '-'], { input: ' \n' });
  expect(empty).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^atomic-lsp: the prompt is empty: /),
  });
});

it('prints every fact as JSON, numbered without a gap', async () => {
  const agent = scripted({ on: { prompt: [{ started: true }, { flood: 500 }] } });
  const { code, out, err } = await cli.run(['prompt', '--no-hub', '--json', 'go'], { env: agent.env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = jsonLines(out);
  const [first] = lines;
  let covered = (first!.from ?? first!.seq) - 1;
  let range = '';
  for (const { epoch, from, seq } of lines) {
    expect(epoch).toBe(first!.epoch);
    // Facts that share a range are told by it.
    if (`${from}-${seq}` === range && from !== undefined) continue;
    range = `${from}-${seq}`;
    expect(from ?? seq).toBe(covered + 1);
    covered = seq;
  }
  expect(covered).toBeGreaterThan(500);
  const types = lines.map(({ fact }) => fact.type);
  expect(types).toContain('intent_accepted');
  expect(types).toContain('agent_settled');
});

it('refuses a question where nobody could answer it, and says so', async () => {
  const { code, out, err } = await cli.run(['prompt', '--no-hub', 'select']);
  expect(code).toBe(0);
  expect(err).toMatch(/The agent asks "Demo: which colour shall it be\?", and there is no terminal/);
  expect(out).toContain('You cancelled the question.');
});

it('ends after an extension’s command, which starts no run', async () => {
  const { code, out, err } = await cli.run(['prompt', '--no-hub', '/demo-notify']);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toContain('Demo: some information.');
});

it('says which agent is not there, and works the next time', async () => {
  const env = { ATOMIC_LSP_AGENT: '/nowhere/atomic' };
  const wrong = await cli.run(['prompt', 'hello'], { env });
  expect(wrong).toMatchObject({ code: 3, out: '' });
  expect(wrong.err).toMatch(
    /^atomic-lsp: The agent "\/nowhere\/atomic", named by ATOMIC_LSP_AGENT, does not exist: .+\n$/,
  );
  expect((await cli.run(['prompt', 'hello'])).code).toBe(0);
});

it('tells the last words of an agent that dies at its start', async () => {
  const agent = scripted({ start: [{ stderr: 'no licence for Tuesdays\n' }, { exit: 7 }] });
  const { code, out, err } = await cli.run(['prompt', 'hello'], { env: agent.env });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toMatch(/^atomic-lsp: .*exited with code 7.*\n?[\s\S]*no licence for Tuesdays/);
});

it('is not disturbed by an agent that prints garbage', async () => {
  const agent = scripted({
    start: [{ raw: 'npm notice: hello\n\u001b[2J{"type":\n' }],
    on: { prompt: [{ started: true }, { raw: 'debug: here\n' }, { say: ['All ', 'is well.'] }] },
  });
  const { code, out } = await cli.run(['prompt', 'hello'], { env: agent.env });
  expect({ code, out }).toEqual({ code: 0, out: 'All is well.\n' });
});

it('exits with 1 when the run fails or the prompt is refused', async () => {
  const failing = scripted({
    on: { prompt: [{ started: true }, { say: 'Well', stopReason: 'error', errorMessage: '401: no key' }] },
  });
  const failed = await cli.run(['prompt', '--no-hub', 'x'], { env: failing.env });
  expect(failed).toEqual({ code: 1, out: 'Well\n', err: 'atomic-lsp: The run failed: 401: no key\n' });
  const refusing = scripted({ on: { prompt: [{ refuse: 'Not today' }] } });
  const refused = await cli.run(['prompt', '--no-hub', 'x'], { env: refusing.env });
  expect(refused).toEqual({ code: 1, out: '', err: 'atomic-lsp: Not today\n' });
});

it('stops the run at the first Ctrl-C and leaves at the second', async () => {
  const run = cli.start(['prompt', '--no-hub', 'slow']);
  await run.shown('out', /This is the/);
  run.child.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: 130 });
  expect(cli.home.processes()).toEqual([]);

  const agent = scripted({
    on: { prompt: [{ started: true }, { say: ['On ', 'and on'], gate: 'never' }], abort: [{ stop: true }] },
  });
  const stubborn = cli.start(['prompt', 'x'], { env: agent.env });
  await stubborn.shown('out', /On/);
  stubborn.child.kill('SIGINT');
  const watcher = cli.start(['attach', '--json']);
  await watcher.shown('out', /"command":"abort"/);
  stubborn.child.kill('SIGINT');
  expect(await stubborn.ended).toMatchObject({ code: 130, out: 'On ' });
  watcher.child.kill('SIGINT');
  expect((await watcher.ended).code).toBe(0);
});

it('ends quietly when whoever reads has gone', async () => {
  const run = cli.start(['prompt', '--no-hub', 'long', '2000']);
  await run.shown('out', /1\. A long/);
  run.child.stdout!.destroy();
  const { code, err } = await run.ended;
  expect({ code, err }).toEqual({ code: 141, err: '' });
});

it('shows a session to another terminal', async () => {
  await cli.run(['prompt', 'hello']);
  const watcher = cli.start(['attach']);
  await watcher.shown('out', /You wrote: “hello”/);
  await cli.run(['prompt', 'again']);
  const [, seen] = await Promise.all([
    watcher.shown('err', /› again/),
    watcher.shown('out', /You wrote: “again”/),
  ]);
  expect(seen).not.toContain('\u001b');
  await cli.run(['stop', '--force']);
  expect(await watcher.ended).toMatchObject({
    code: 0,
    err: expect.stringContaining('The hub was stopped.'),
  });
});

it('refuses to stop a hub at work, waits when asked to, and kills one that does not answer', async () => {
  const agent = scripted({ on: { prompt: [{ started: true }, { say: ['Work', ' done'], gate: 'finish' }] } });
  const working = cli.start(['prompt', 'x'], { env: agent.env });
  await working.shown('out', /Work/);
  expect(await cli.run(['stop'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^atomic-lsp: The hub goes on, because the agent is working in .*--when-idle.*--force/,
    ),
  });
  const { pid } = JSON.parse((await cli.run(['status', '--json'])).out);
  signalled(pid, 'SIGSTOP');
  closing.push(() => signalled(pid, 'SIGKILL'));
  expect(await cli.run(['stop'])).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
  const killed = await cli.run(['stop', '--force']);
  expect(killed).toMatchObject({ code: 0, out: expect.stringContaining(`process ${pid} was killed`) });
  expect(await working.ended).toMatchObject({ code: 1, out: 'Work\n' });
});

it('stops when idle', async () => {
  const agent = scripted({ on: { prompt: [{ started: true }, { say: ['Work', ' done'], gate: 'finish' }] } });
  const working = cli.start(['prompt', 'x'], { env: agent.env });
  await working.shown('out', /Work/);
  const watcher = cli.start(['attach']);
  await watcher.shown('err', /Following/);
  expect(await cli.run(['stop', '--when-idle'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('as soon as'),
  });
  agent.open('finish');
  expect(await working.ended).toMatchObject({ code: 0, out: 'Work done\n' });
  expect(await watcher.ended).toMatchObject({
    code: 0,
    err: expect.stringContaining('The hub was stopped.'),
  });
});

it('finds what is there and what is missing', async () => {
  const fine = await cli.run(['doctor', '--json']);
  const { ok, findings } = JSON.parse(fine.out);
  expect({ code: fine.code, ok }).toEqual({ code: 0, ok: true });
  expect(findings).toContainEqual(expect.objectContaining({ check: 'hub', level: 'ok' }));
  const env = { ATOMIC_LSP_AGENT: '/nowhere/atomic' };
  const wrong = await cli.run(['doctor'], { env });
  expect(wrong.code).toBe(1);
  expect(wrong.out).toMatch(/^missing agent: The agent "\/nowhere\/atomic"/m);
  const agent = scripted({ dialect: 'D2' });
  const known = await cli.run(['doctor'], { env: agent.env });
  expect(known.out).toMatch(/^ok {6}agent answers: it speaks RPC, dialect D2$/m);
  expect(cli.home.processes()).toEqual([]);
});

it.each([
  [['frobnicate'], 'There is no verb "frobnicate"'],
  [['prompt', '--frobnicate', 'x'], "Unknown option '--frobnicate'"],
  [['--socket=here'], '--socket needs a number from 1 to 65535'],
])('answers %j with one sentence and exit code 2', async (args, sentence) => {
  const { code, out, err } = await cli.run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^atomic-lsp: .*\n$/);
  expect(err).toContain(sentence);
});

it('says where no editor listens, and serves one that does', async () => {
  const nobody = await cli.run([`--pipe=${path.join(cli.home.path, 'none.sock')}`]);
  expect(nobody).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^atomic-lsp: No editor listens at .*ENOENT/),
  });
  const net = await import('node:net');
  const server = net.createServer().listen(path.join(cli.home.path, 'editor.sock'));
  closing.push(() => server.close());
  const run = cli.start([`--pipe=${path.join(cli.home.path, 'editor.sock')}`]);
  const [socket] = await once(server, 'connection');
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('executeCommandProvider');
  socket.end();
  expect(await run.ended).toEqual({ code: 1, out: '', err: '' });
});
