// Which program, with which arguments, in which environment.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  childEnvironment,
  forwardedEnvironment,
  hubEnvironment,
} from '../../../server/src/agent/environment.ts';
import { farewell, lastWords } from '../../../server/src/agent/farewell.ts';
import { findAgent, identityOf } from '../../../server/src/agent/find.ts';
import { agentArguments } from '../../../server/src/agent/options.ts';

let root: string;
const demo = { command: '/usr/bin/node', args: ['/opt/main.js', 'demo-agent'] };
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'atomic-lsp-find-'));
  for (const [path, mode] of [
    ['both/atomic', 0o755],
    ['both/pi', 0o755],
    ['pi/pi', 0o755],
    ['plain/atomic', 0o644],
    ['home/bin/mine', 0o755],
    ['work/tools/agent', 0o755],
    ['work/atomic', 0o755],
  ] as const) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '#!/bin/sh\n');
    chmodSync(join(root, path), mode);
  }
  mkdirSync(join(root, 'folder/atomic'), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const find = (
  path: string[],
  more: Record<string, string> = {},
  choice?: { command: string; args?: string[] },
) =>
  findAgent(
    { workspace: join(root, 'work'), ...(choice && { choice }) },
    {
      PATH: path
        .map((folder) => (folder.startsWith('.') || folder === '' ? folder : join(root, folder)))
        .join(':'),
      HOME: join(root, 'home'),
      ...more,
    },
    demo,
  );

describe('the agent is', () => {
  it('the editor’s choice, else ATOMIC_LSP_AGENT, else atomic, else pi, else the demo', () => {
    const line = { ATOMIC_LSP_AGENT: 'pi --flag "two words"' };
    expect(find(['both'], line, { command: 'pi', args: ['x'] })).toMatchObject({
      source: 'setting',
      args: ['x'],
      path: join(root, 'both/pi'),
    });
    expect(find(['both'], line)).toMatchObject({
      source: 'ATOMIC_LSP_AGENT',
      command: 'pi',
      args: ['--flag', 'two words'],
    });
    expect(find(['pi', 'both'])).toMatchObject({ source: 'PATH', path: join(root, 'both/atomic') });
    expect(find(['pi'])).toMatchObject({ source: 'PATH', path: join(root, 'pi/pi') });
    expect(find([])).toEqual({ source: 'demo', ...demo, path: demo.command });
    expect(find([], { ATOMIC_LSP_AGENT: '  ' })).toMatchObject({ source: 'demo' });
  });

  it('no folder, nothing that may not be run, nothing in a relative place', () => {
    expect(find(['folder', 'plain', '.', '', './tools'])).toMatchObject({ source: 'demo' });
    expect(find(['folder', 'plain', 'both'])).toMatchObject({ path: join(root, 'both/atomic') });
  });

  it('found by path, in the home folder or from the workspace where the user says so', () => {
    expect(find([], {}, { command: '~/bin/mine' }).path).toBe(join(root, 'home/bin/mine'));
    expect(find([], {}, { command: './tools/agent' }).path).toBe(join(root, 'work/tools/agent'));
    expect(find([], {}, { command: join(root, 'pi/pi') }).path).toBe(join(root, 'pi/pi'));
  });

  it('never another one than was chosen', () => {
    const error = (run: () => unknown) => {
      try {
        run();
      } catch (thrown) {
        return thrown as { code: string; message: string };
      }
      throw new Error('nothing was thrown');
    };
    const missing = error(() => find(['both'], {}, { command: 'atmoic' }));
    expect(missing.code).toBe('AgentNotFound');
    expect(missing.message).toMatch(
      /"atmoic".*initializationOptions\.agent\.command.*not on PATH.*install it, or set/,
    );
    expect(error(() => find(['both'], { ATOMIC_LSP_AGENT: '/no/such' })).message).toMatch(
      /"\/no\/such".*ATOMIC_LSP_AGENT.*does not exist/,
    );
    const refused = { workspace: join(root, 'work'), refused: 'The setting "agent" is wrong.' };
    expect(error(() => findAgent(refused, { PATH: join(root, 'both') }, demo)).message).toBe(refused.refused);
    expect(error(() => find(['plain'], {}, { command: 'atomic' })).message).toMatch(
      /plain\/atomic, but may not be run/,
    );
    expect(error(() => find([], {}, { command: join(root, 'folder/atomic') })).message).toMatch(
      /is not a file/,
    );
  });
});

describe('the identity', () => {
  const named = (command: string, args: string[] = []) =>
    identityOf({ source: 'setting', command, args, path: command }).name;
  it('is the program’s name, or the script’s where a launcher runs one', () => {
    expect(named('/usr/local/bin/atomic')).toBe('atomic');
    expect(named('pi')).toBe('pi');
    expect(
      named('node', ['--no-warnings', '/x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js']),
    ).toBe('pi');
    expect(named('npx', ['-y', '@bastani/atomic@latest'])).toBe('atomic');
    expect(named('node', ['/tests/scripted.mjs'])).toBe('scripted');
  });
  it('shows the command line without keys', () => {
    expect(
      identityOf({ source: 'setting', command: 'pi', args: ['--api-key', 'sk-1', '--x', 'a b'], path: '' })
        .command,
    ).toBe('pi --api-key … --x "a b"');
    expect(identityOf({ source: 'demo', ...demo, path: '' })).toMatchObject({ name: 'demo', demo: true });
  });
});

describe('the arguments', () => {
  it('are only those that were given', () => {
    expect(agentArguments([])).toEqual(['--mode', 'rpc']);
    expect(agentArguments(['cli.js', '--mode', 'rpc'])).toEqual(['cli.js', '--mode', 'rpc']);
    expect(
      agentArguments(['a'], {
        provider: 'p',
        model: 'm',
        name: 'n',
        sessionDir: '/s',
        contextWindow: '1m',
        extensions: ['e1', 'e2'],
        noExtensions: true,
        projectTrust: 'deny',
        storage: { kind: 'x' },
        storageFile: '/f',
        continueLast: true,
      }),
    ).toEqual([
      'a',
      '--mode',
      'rpc',
      '--continue',
      '--session-dir',
      '/s',
      '--provider',
      'p',
      '--model',
      'm',
      '--context-window',
      '1m',
      '--name',
      'n',
      '-e',
      'e1',
      '-e',
      'e2',
      '--no-extensions',
      '--no-approve',
      '--storage',
      '{"kind":"x"}',
      '--storage-file',
      '/f',
    ]);
  });
  it('leave to a resumed session what it holds itself', () => {
    const start = {
      provider: 'p',
      model: 'm',
      name: 'n',
      contextWindow: 5,
      continueLast: true,
      projectTrust: 'approve' as const,
    };
    expect(agentArguments([], start, '/s.jsonl')).toEqual([
      '--mode',
      'rpc',
      '--session',
      '/s.jsonl',
      '--approve',
    ]);
    expect(agentArguments([], { noSession: true, model: 'm' }, '/s.jsonl')).toEqual([
      '--mode',
      'rpc',
      '--no-session',
      '--model',
      'm',
    ]);
  });
});

describe('the environment', () => {
  const env = {
    PATH: '/bin',
    HOME: '/h',
    ANTHROPIC_API_KEY: 'k',
    HTTPS_PROXY: 'x',
    ATOMIC_CODING_AGENT_DIR: '/d',
    PI_OFFLINE: '1',
    ATOMIC_STORAGE: '{}',
    NODE_OPTIONS: '--max-old-space-size=4096',
  };
  const strip = {
    AI_AGENT: '1',
    ATOMIC_SESSION_ID: 'x',
    PI_SESSION_FILE: 'x',
    PI_MODEL: 'x',
    ATOMIC_CODING_AGENT: '1',
    PI_REASONING_LEVEL: 'x',
    NVIM: '/s',
    VSCODE_IPC: 'x',
    ATOMIC_LSP_STATE: 'x',
  };
  it('is the editor’s without what is its own or an outer agent’s', () => {
    expect(forwardedEnvironment({ ...env, ...strip, EMPTY: undefined, ATOMIC_LSP_AGENT: 'pi' })).toEqual({
      ...env,
      ATOMIC_LSP_AGENT: 'pi',
    });
    expect(forwardedEnvironment({ NODE_OPTIONS: '--inspect=0' })).toEqual({});
  });
  it('of the hub is what it needs itself, and nothing secret', () => {
    const own = { HOME: '/h', PATH: '/p', XDG_STATE_HOME: '/s', LC_ALL: 'C', ATOMIC_LSP_SOCKET: '/x' };
    const others = { OPENAI_API_KEY: 'k', HTTPS_PROXY: 'p', ATOMIC_AUTH_TOKEN: 't', EDITOR: 'vi' };
    expect(hubEnvironment({ ...own, ...others, EMPTY: undefined })).toEqual(own);
  });
  it('of the agent has what was given for it, whatever its name', () => {
    expect(
      childEnvironment({ ...env, ...strip, ATOMIC_LSP_AGENT: 'pi' }, { PI_MODEL: 'mine', PATH: '/mine' }),
    ).toEqual({ ...env, PI_MODEL: 'mine', PATH: '/mine' });
  });
});

describe('last words', () => {
  it('are the error, not its stack', () => {
    const crash =
      '/x/a.js:10\n    throw new TypeError("boom")\n    ^\n\nTypeError: boom\n    at f (/x/a.js:10:1)\n    at node:internal/x\n\nNode.js v22.0.0\n';
    expect(lastWords(crash)).toBe('TypeError: boom');
    expect(lastWords('\x1b[31mUnknown option: --storage\x1b[0m\n')).toBe('Unknown option: --storage');
    expect(lastWords('one\ntwo\nthree\nfour\n')).toBe('two / three / four');
    expect(lastWords('')).toBe('');
    expect(lastWords('x'.repeat(9_000))).toHaveLength(400);
  });
  it('are part of one sentence with cause and cure', () => {
    const identity = { command: 'atomic -x', name: 'atomic', demo: false };
    const say = (code: number | null, signal: string | null, spoke: boolean, expected = false) =>
      farewell(identity, { code, signal }, { expected, spoke, stderr: 'Unknown option: -x' }).message;
    expect(say(1, null, false)).toMatch(
      /exited with code 1 before it answered anything: Unknown option: -x\. Check .*atomic -x.*doctor/,
    );
    expect(say(1, null, true)).toMatch(
      /exited with code 1: Unknown option: -x\. Start it again with atomic\.restartAgent/,
    );
    expect(say(null, 'SIGKILL', true)).toMatch(/was killed by SIGKILL/);
    expect(say(0, null, true)).toMatch(/ended by itself/);
    expect(say(143, null, true, true)).toBe('The agent (atomic) was stopped.');
  });
});
