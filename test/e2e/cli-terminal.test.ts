// The terminal client in a real terminal: questions asked and answered, Ctrl-C, and what a screen must be protected from.
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hubAddress } from '../../server/src/hub/address.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { agentEnvironment, builtProgram, type Cli, createCli } from '../support/cli.ts';
import { type Script, scriptedAgent } from '../support/scripted.ts';
import { startTerminal, type Terminal } from '../support/terminal.ts';

const commandLine = (pid: number): string => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};
const tmux = (process.env.PATH ?? '')
  .split(path.delimiter)
  .some((folder) => fs.existsSync(path.join(folder, 'tmux')));

describe.skipIf(!tmux && !process.env.CI)('in a terminal (by tmux)', () => {
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

  async function terminal(args: string[], env: Record<string, string> = {}): Promise<Terminal> {
    const started = await startTerminal({
      command: process.execPath,
      args: [built.program, ...args],
      cwd: cli.workspace,
      home: cli.home,
      env,
      rows: 50,
    });
    closing.push(() => started.close());
    return started;
  }
  function scripted(script: Script) {
    const agent = scriptedAgent(script);
    closing.push(() => agent.dispose());
    return { env: agentEnvironment(agent), open: agent.open };
  }

  it('asks the agent’s questions one after the other', async () => {
    const tty = await terminal(['prompt', '--no-hub', 'select', 'confirm', 'input', 'editor']);
    await tty.waitForScreen(/\? Demo: which colour shall it be\?\n +1\) Red\n[\s\S]*Number from 1 to 4.*:$/m);
    await tty.text('9\n');
    await tty.waitForScreen((screen) => screen.split('Number from').length === 3);
    await tty.text('2\n');
    await tty.waitForScreen(/You chose: Green\n[\s\S]*\? Demo: shall I go on\?\n[\s\S]*y or n/);
    await tty.text('y\n');
    await tty.waitForScreen(/You said yes\.\n[\s\S]*what is your name\?[\s\S]*Text, Ctrl-D refuses:/);
    await tty.text('Ada Ünïcode\n');
    await tty.waitForScreen(/You typed: Ada Ünïcode\n[\s\S]*edit this text\n {2}\| The first line/);
    await tty.text('one\ntwo\n.\n');
    await tty.waitForScreen(/You wrote 2 lines, 7 characters\./);
    expect(await tty.exited).toBe(0);
  });

  it('refuses with Ctrl-D and stops the run with Ctrl-C', async () => {
    const refusing = await terminal(['prompt', '--no-hub', 'select']);
    await refusing.waitForScreen('Number from');
    await refusing.keys('C-d');
    await refusing.waitForScreen('You cancelled the question.');
    expect(await refusing.exited).toBe(0);
    const stopping = await terminal(['prompt', '--no-hub', 'select']);
    await stopping.waitForScreen('Number from');
    await stopping.keys('C-c');
    await stopping.waitForScreen('The agent took its question back.');
    // The terminal cannot tell an exit code above 128 from a signal.
    expect(await stopping.exited).toBeUndefined();
    // What is left is the terminals themselves.
    const own = (pid: number) => commandLine(pid).startsWith(process.execPath);
    expect(cli.home.processes().filter(own)).toEqual([]);
  });

  it('closes a question that was answered elsewhere', async () => {
    const tty = await terminal(['prompt', 'select']);
    await tty.waitForScreen('Number from');
    const address = hubAddress({
      platform: process.platform,
      uid: process.getuid?.(),
      runtimeDir: cli.home.env.XDG_RUNTIME_DIR,
    });
    const hello = { version: '0.0.1', name: 'another editor', env: {} };
    const client = await openHub({ address, clock: systemClock, hello });
    closing.push(() => client.close());
    const { session } = await client.attach({ workspace: cli.workspace });
    await client.intent({ session, id: 'theirs', command: 'answer', params: { index: 2 } });
    await tty.waitForScreen(/Answered in another editor: Blue\n[\s\S]*You chose: Blue/);
    expect(await tty.exited).toBe(0);
  });

  it('a session that is followed asks here when everybody is asked, and says who answered', async () => {
    const asking = await terminal(['prompt', 'select', 'confirm']);
    await asking.waitForScreen('Number from');
    const following = await terminal(['attach']);
    await following.waitForScreen(/\? Demo: which colour[\s\S]*\(terminal is asked first\)/);
    await following.waitForScreen('Number from 1 to');
    await following.text('2\n');
    await asking.waitForScreen(/Answered in terminal 2: Green\n[\s\S]*You chose: Green/);
    await asking.waitForScreen('y or n');
    await asking.text('y\n');
    await asking.waitForScreen('You said yes.');
    expect(await asking.exited).toBe(0);
    await following.waitForScreen(/shall I go on[\s\S]*\(answered in terminal: Yes\)/);
    await following.keys('C-c');
    expect(await following.exited).toBe(0);
  });

  it('lets nothing of the agent’s command the terminal, and shows tools and thinking in lines', async () => {
    const agent = scripted({
      on: {
        prompt: [
          { started: true },
          {
            thinking: 'I \u001b[2Jwonder',
            say: ['be\u001b]0;evil\u0007fore', ' \u001b[2Jafter\n'],
            tools: [
              { name: 'bash', args: { command: 'ls\nrm -r' }, output: ['x'] },
              { name: 'read', args: { path: 'gone' }, output: ['no'], isError: true },
            ],
          },
        ],
      },
    });
    const tty = await terminal(['prompt', '--no-hub', 'x'], agent.env);
    const screen = await tty.waitForScreen(/after$/m);
    expect(screen).toContain('I [2Jwonder');
    expect(screen).toContain('be]0;evilfore [2Jafter');
    expect(screen).toMatch(/^✓ bash ls …$/m);
    expect(screen).toMatch(/^✗ read gone$/m);
    expect(screen).not.toContain('… bash');
    expect(await tty.exited).toBe(0);
  });

  it('does not echo a secret, and says when the agent waited no longer', async () => {
    const agent = scripted({
      on: {
        prompt: [
          { started: true },
          { emit: { type: 'agent_start' } },
          { ask: { method: 'oauth_manual_code', provider: 'here' }, settled: false },
          {
            ask: { method: 'confirm', title: 'Quickly?', message: 'Now', timeout: 300 },
            wait: false,
            settled: false,
          },
          { gate: 'expired' },
          { say: 'Done.' },
        ],
      },
    });
    const tty = await terminal(['prompt', '--no-hub', 'x'], agent.env);
    await tty.waitForScreen('Ctrl-D refuses:');
    await tty.text('hunter2\n');
    await tty.waitForScreen(/\? Quickly\?[\s\S]*The agent waited no longer\./);
    agent.open('expired');
    const screen = await tty.waitForScreen('Done.');
    expect(screen).not.toContain('hunter2');
    expect(await tty.exited).toBe(0);
  });
});
