// The hub as a process: exactly one however many start at once and whatever is killed; its end; its last words.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HubAddress, hubAddress } from '../../server/src/hub/address.ts';
import { connectHubClient, type HubClient } from '../../server/src/hub/client.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { ensureHub, type HubProgram } from '../../server/src/hub/ensure.ts';
import { connectSocket } from '../../server/src/hub/listen.ts';
import { openHub } from '../../server/src/hub/open.ts';
import type { EntryOptions } from '../support/hub-entry.ts';
import { testFolders } from '../unit/hub/support.ts';

const folders = testFolders();
const entry = path.join(folders.make('bundle'), 'entry.mjs');
let options: EntryOptions;
let address: HubAddress;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  await build({
    entryPoints: [path.join(import.meta.dirname, '../support/hub-entry.ts')],
    outfile: entry,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    logLevel: 'error',
  });
});
beforeEach(() => {
  options = {
    runtimeDir: folders.make('run'),
    state: folders.make('state'),
    started: path.join(folders.make('pids'), 'started'),
  };
  address = hubAddress({
    platform: process.platform,
    uid: process.getuid?.(),
    runtimeDir: options.runtimeDir,
  });
});
/** The pids that hubs wrote; a line may be on its way, and number 0 would be our own group. */
const hubPids = (): number[] =>
  fs.existsSync(options.started)
    ? fs.readFileSync(options.started, 'utf8').split('\n').slice(0, -1).map(Number)
    : [];
/** Resolves when so many hubs have shown themselves. */
const shown = (count: number): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (hubPids().length < count) return;
      watcher.close();
      resolve();
    };
    const watcher = fs.watch(path.dirname(options.started), look);
    look();
  });
const kill = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone by itself.
  }
};
/** Also those that were started by a starter that was killed and have not shown themselves yet. */
const ownProcesses = (): number[] =>
  fs.readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) &&
        fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(entry)
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
const killAll = () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const pid of process.platform === 'linux' ? ownProcesses() : hubPids()) kill(pid);
};
afterEach(killAll);
afterAll(killAll);

interface Ended {
  code: number | null;
  out: string;
  err: string;
}
/** A process of the entry, and how it ended. */
function run(
  verb: 'hub' | 'start',
  more: Partial<EntryOptions> = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [entry, verb, JSON.stringify({ ...options, ...more })], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  let [out, err] = ['', ''];
  child.stdout!.on('data', (chunk) => (out += chunk));
  child.stderr!.on('data', (chunk) => (err += chunk));
  const ended = once(child, 'close').then(([code]) => {
    children.delete(child);
    return { code, out, err };
  });
  return { child, ended };
}
const program = (verb: 'hub' | 'broken' = 'hub', more: Partial<EntryOptions> = {}): HubProgram => ({
  command: process.execPath,
  args: [entry, verb, JSON.stringify({ ...options, ...more, ready: true })],
  env: { PATH: process.env.PATH ?? '' },
});
/** The pids that many starters at once were led to. */
async function herd(size: number): Promise<number[]> {
  const ended = await Promise.all(Array.from({ length: size }, () => run('start').ended));
  expect(ended.map(({ code, err }) => ({ code, err }))).toEqual(ended.map(() => ({ code: 0, err: '' })));
  return ended.map(({ out }) => Number(out));
}
const hello = { version: '1.0.0', name: 'test', env: {} };
const open = (more: Partial<EntryOptions> = {}): Promise<HubClient> =>
  openHub({ address, program: program('hub', more), clock: systemClock, hello });
/** Resolves when the process is gone, by the end of the connection that it held. */
const gone = (client: HubClient) => new Promise<void>((resolve) => client.onClose(resolve));

describe('starting', () => {
  it('makes one hub for 16 at once, and starts one process for it', async () => {
    const pids = await herd(16);
    expect(new Set(pids).size).toBe(1);
    expect(hubPids()).toEqual([pids[0]]);
    expect(fs.statSync(address.socket).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(address.socket)).mode & 0o777).toBe(0o700);
  });

  it('makes one hub for 16 at once on the socket of a killed one, again and again', async () => {
    for (let round = 0; round < 3; round += 1) {
      const pids = await herd(round === 0 ? 1 : 16);
      expect(new Set(pids).size).toBe(1);
      expect(hubPids().at(-1)).toBe(pids[0]);
      expect(hubPids()).toHaveLength(round + 1);
      const client = await connectHubClient((await connectSocket(address))!, hello);
      const closed = gone(client);
      process.kill(pids[0]!, 'SIGKILL');
      await closed;
      expect(fs.existsSync(address.socket)).toBe(true);
    }
  });

  it('lets one of 8 hubs that start by themselves listen; the others say that one runs', async () => {
    const hubs = Array.from({ length: 8 }, () => run('hub', { ready: true }));
    const lines = await Promise.all(
      hubs.map(async ({ child }) => {
        let text = '';
        for await (const chunk of child.stdio[3] as unknown as AsyncIterable<Buffer>) text += chunk;
        return JSON.parse(text) as { ready: boolean; pid: number; running: boolean };
      }),
    );
    const listening = lines.filter(({ running }) => !running);
    expect([lines.every(({ ready }) => ready), listening.length]).toEqual([true, 1]);
    const client = await open();
    expect((await client.status()).pid).toBe(listening[0]!.pid);
    client.close();
  });

  it('comes to one hub when starters and hubs are killed in between', async () => {
    const starters = Array.from({ length: 8 }, () => run('start'));
    const [first] = starters;
    // Killed when the first hub process shows itself, in the middle of everybody's start.
    await shown(1);
    for (const { child } of starters.slice(0, 4)) child.kill('SIGKILL');
    for (const pid of hubPids()) kill(pid);
    const ended = await Promise.all(starters.map(({ ended: it }) => it));
    expect(first!.child.killed).toBe(true);
    const [pid] = await herd(1);
    for (const { code, out, err } of ended.slice(4)) expect([code, Number(out), err]).toEqual([0, pid, '']);
    expect(await herd(4)).toEqual([pid, pid, pid, pid]);
  });

  it('tells the last words of a hub that did not become ready', async () => {
    await expect(
      ensureHub({ address, program: program('broken'), clock: systemClock }),
    ).rejects.toMatchObject({
      code: 'HubUnreachable',
      message: expect.stringMatching(
        /ended before it was ready, with the words: the last words of a broken hub\. Try/,
      ),
    });
    await expect(
      ensureHub({ address, program: { ...program(), command: '/nowhere/node' }, clock: systemClock }),
    ).rejects.toMatchObject({ code: 'HubUnreachable', message: expect.stringMatching(/ENOENT/) });
    await expect(ensureHub({ address, clock: systemClock })).rejects.toMatchObject({
      message: expect.stringMatching(/No hub is running/),
    });
    // The lock is free again.
    (await open()).close();
  });

  it('refuses a folder that others can enter, before anything is started', async () => {
    fs.mkdirSync(path.dirname(address.socket));
    fs.chmodSync(path.dirname(address.socket), 0o755);
    await expect(open()).rejects.toMatchObject({ code: 'SocketRefused' });
    expect(hubPids()).toEqual([]);
    const { code, err } = await run('hub').ended;
    expect([code, err]).toEqual([1, expect.stringMatching(/is open to other users \(mode 755\).*chmod 700/)]);
  });
});

describe('living', () => {
  it('keeps its sessions when a peer is killed, and listens again when its socket was removed', async () => {
    const client = await open();
    const workspace = folders.make('work');
    const { session, epoch } = await client.attach({ workspace });
    await client.intent({ session, id: 'i', command: 'prompt', params: { message: 'still here' } });
    const { pid } = await client.status();
    fs.unlinkSync(address.socket);
    const again = await open();
    expect((await again.status()).pid).toBe(pid);
    client.close();
    const result = await again.attach({ workspace });
    expect([result.epoch, result.snapshot!.title]).toEqual([epoch, 'still here']);
    expect(fs.existsSync(address.socket)).toBe(true);
    again.close();
  });

  it('steps aside for a newer version when nothing works, and not while others are there', async () => {
    const newer = () =>
      openHub({
        address,
        program: program('hub', { version: '1.1.0' }),
        clock: systemClock,
        hello: { ...hello, version: '1.1.0' },
      });
    const old = await open();
    const kept = await newer();
    expect(kept.version).toBe('1.0.0');
    kept.close();
    const closed = gone(old);
    old.close();
    await closed;
    const fresh = await newer();
    expect(fresh.version).toBe('1.1.0');
    // An older program uses the newer hub.
    const back = await open();
    expect(back.version).toBe('1.1.0');
    back.close();
    fresh.close();
  });
});

describe('ending', () => {
  it('leaves nothing behind after each of its signals', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const { child, ended } = run('hub', { ready: true });
      await once(child.stdio[3] as NodeJS.EventEmitter, 'data');
      const client = await open();
      child.kill(signal);
      await gone(client);
      expect(await ended).toEqual({ code: 0, out: '', err: '' });
      expect(fs.existsSync(address.socket)).toBe(false);
    }
  });

  it('lets the next hub begin only when its own agents have ended', async () => {
    const { child, ended } = run('hub', { ready: true, holdStop: true });
    await once(child.stdio[3] as NodeJS.EventEmitter, 'data');
    const client = await open();
    await client.attach({ workspace: folders.make('work') });
    await client.stop({ force: true });
    let next: number | undefined;
    const opened = open().then(async (fresh) => {
      next = (await fresh.status()).pid;
      fresh.close();
    });
    // The next hub's process is there, and waits.
    await shown(2);
    expect([next, child.exitCode]).toEqual([undefined, null]);
    child.kill('SIGUSR2');
    await opened;
    expect(next).toBe(hubPids()[1]);
    expect((await ended).code).toBe(0);
  });

  it('writes what happened into its log, for its user alone', async () => {
    const client = await open();
    await client.stop({ force: true });
    await gone(client);
    // The next one begins when the first has let go.
    const next = await open();
    const { log } = await next.status();
    expect(log).toBe(path.join(options.state, 'log', 'hub.log'));
    expect(fs.statSync(log).mode & 0o777).toBe(0o600);
    const lines = fs
      .readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string; pid: number });
    expect(lines.filter(({ pid }) => pid === hubPids()[0]).map(({ msg }) => msg)).toEqual([
      'the hub listens',
      'a peer has joined',
      'the hub stops',
      'a peer has left',
      'the hub has stopped',
    ]);
    next.close();
  });
});
