// What SECURITY.md promises, tried on the built program: another user of the machine, a hostile workspace, secrets.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { agentEnvironment, builtProgram, type Cli, createCli } from '../support/cli.ts';
import { startLanguageServer } from '../support/language-server.ts';
import { scriptedAgent } from '../support/scripted.ts';

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

/** Every file below a folder with its text. */
const filesBelow = (folder: string): { file: string; text: string }[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ file, text: fs.readFileSync(file, 'latin1') }));

const nobody = 65_534;
const asNobody = (...args: string[]) =>
  spawnSync('find', args, { uid: nobody, gid: nobody, encoding: 'utf8', cwd: '/' });
const canBeNobody =
  process.getuid?.() === 0 && process.platform === 'linux' && asNobody('/', '-maxdepth', '0').status === 0;

it.runIf(canBeNobody)('another user reads no file of ours and opens no socket', async () => {
  expect((await cli.run(['prompt', 'hello'])).code).toBe(0);
  const { home } = cli;
  // Only our own folders are to protect what is in them.
  for (const folder of [home.path, ...fs.readdirSync(home.path).map((name) => path.join(home.path, name))])
    fs.chmodSync(folder, 0o755);
  const open = path.join(home.path, 'state', 'open to all');
  fs.writeFileSync(open, '', { mode: 0o644 });
  expect(filesBelow(path.join(home.path, 'state', 'atomic-lsp')).length).toBeGreaterThan(2);
  const reached = asNobody(home.path, '!', '-type', 'd', '(', '-readable', '-o', '-writable', ')');
  expect(reached.stdout.trim().split('\n')).toEqual([open]);
  expect(reached.stderr).toContain(path.join(home.path, 'run', 'atomic-lsp'));
});

it('what cannot be safe is refused, and nothing is started instead', async () => {
  const folder = path.join(cli.home.path, 'run', 'atomic-lsp');
  fs.mkdirSync(folder);
  fs.chmodSync(folder, 0o777);
  const refused = await cli.run(['prompt', 'hello']);
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/mode 777.*chmod 700/) });
  expect(cli.home.processes()).toEqual([]);
  expect(fs.readdirSync(folder)).toEqual([]);
});

it('nothing in a workspace says which program runs, with which arguments or in which environment', async () => {
  const { workspace } = cli;
  const trap = path.join(workspace, 'trap.sh');
  fs.writeFileSync(trap, `#!/bin/sh\necho caught > "${workspace}/caught"\n`, { mode: 0o755 });
  const put = (name: string, text: string) => {
    const file = path.join(workspace, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  for (const name of ['atomic', 'pi', 'node', 'node_modules/.bin/atomic', 'node_modules/.bin/pi', 'bin/pi']) {
    fs.mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
    fs.symlinkSync(trap, path.join(workspace, name));
  }
  const settings = JSON.stringify({ agent: { command: trap }, atomic: { agent: { command: trap } } });
  for (const name of [
    '.vscode/settings.json',
    '.atomic/settings.json',
    '.pi/settings.json',
    '.atomic-lsp.json',
    'atomic-lsp.json',
    '.zed/settings.json',
    '.helix/languages.toml',
  ])
    put(name, settings);
  put('package.json', JSON.stringify({ name: 'x', 'atomic-lsp': { agent: { command: trap } } }));
  for (const name of ['.env', '.envrc'])
    put(name, `ATOMIC_LSP_AGENT=${trap}\nNODE_OPTIONS=--require=${trap}\n`);
  put('.npmrc', `script-shell=${trap}\n`);
  // Also with what a shell takes for the current folder.
  const PATH = `:.:./node_modules/.bin:bin:${cli.home.env.PATH}`;
  const { code, out } = await cli.run(['prompt', 'hello'], { env: { PATH } });
  expect({ code, demo: out.includes('This is the built-in demo agent') }).toEqual({ code: 0, demo: true });
  const { out: report } = await cli.run(['doctor'], { env: { PATH } });
  expect(report).not.toContain(workspace + path.sep);
  expect(fs.existsSync(path.join(workspace, 'caught'))).toBe(false);
});

it('no secret is in a log, a file, a status, a fact or a last word', async () => {
  const secrets = {
    environment: 'sk-environment-0123456789',
    argument: 'sk-argument-0123456789',
    credential: 'hush-credential-0123',
    raw: 'hush-raw-credential-0123',
    code: 'hush-code-0123',
    stderr: 'sk-stderr-0123456789',
  };
  const agent = scriptedAgent({
    on: {
      save_provider_credential: [{ accept: { provider: 'acme', key: secrets.credential } }],
      login_provider: [
        { ask: { method: 'oauth_manual_code', provider: 'acme', loginId: 'l' }, settled: false },
        { accept: true },
      ],
      prompt: [
        [{ started: true }, { say: 'Hello.' }],
        [{ started: true }, { stderr: `Error: the key ${secrets.stderr} is not valid\n` }, { exit: 1 }],
      ],
    },
  });
  closing.push(() => agent.dispose());
  const server = await startLanguageServer({
    home: cli.home,
    agent: {
      ...agent,
      args: [...agent.args, '--api-key', secrets.argument],
      env: { ...agent.env, ACME_API_KEY: secrets.environment },
    },
  });
  closing.push(() => server.close());
  server.onRequest('atomic/dialog', () => ({ value: secrets.code }));
  const settled = (id: unknown) =>
    server.fact((fact) => fact.type === 'intent_settled' && fact.intent === id);
  const did = async (command: string, ...args: unknown[]) => {
    const { intent } = await server.execute<{ intent: string }>(command, ...args);
    return settled(intent);
  };
  const credential = (key: string) => ({ provider: 'acme', credential: { type: 'api_key', key } });
  await did('atomic.prompt', 'hi');
  expect(await did('atomic.saveProviderCredential', credential(secrets.credential))).toMatchObject({
    outcome: 'done',
  });
  await did('atomic.rpc', {
    command: { type: 'save_provider_credential', ...credential(secrets.raw) },
  });
  expect(await did('atomic.loginProvider', { provider: 'acme' })).toMatchObject({ outcome: 'done' });
  await did('atomic.prompt', 'and die');
  const exit = await server.fact((fact) => fact.type === 'agent_exited');
  expect(exit).toMatchObject({ message: expect.stringContaining('the key [secret] is not valid') });
  const said = [
    ...filesBelow(path.join(cli.home.path, 'state')),
    { file: 'status', text: (await cli.run(['status', '--json'])).out },
    { file: 'doctor', text: (await cli.run(['doctor', '--json'], { env: agentEnvironment(agent) })).out },
    { file: 'facts', text: JSON.stringify(server.batches) },
    { file: 'snapshot', text: JSON.stringify(await server.request('atomic/attach', {})) },
    { file: 'messages', text: JSON.stringify(server.notified('window/showMessage')) },
  ];
  expect(said.map(({ file }) => path.basename(file))).toEqual(
    expect.arrayContaining(['hub.log', 'agents.log', 'chat.md']),
  );
  expect(said.find(({ file }) => file.endsWith('chat.md'))!.text).toContain('Hello.');
  for (const [name, secret] of Object.entries(secrets))
    expect(
      said.filter(({ text }) => text.includes(secret)).map(({ file }) => file),
      name,
    ).toEqual([]);
});
