// Real hub processes for tests. Guarantees a fresh place for each test, and that no process is left after it, however it was
// started. Must not know what is tested.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type HubAddress, hubAddress } from '../../server/src/hub/address.ts';
import type { HubClient } from '../../server/src/hub/client.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import type { HubProgram } from '../../server/src/hub/ensure.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { testFolders } from '../unit/hub/support.ts';
import { bundled } from './bundle.ts';
import type { EntryOptions } from './hub-entry.ts';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}
export const hello = { version: '1.0.0', name: 'test', env: {} };

/** To be called once in a file of tests. */
export function hubProcesses() {
  const folders = testFolders();
  const entry = path.join(folders.make('bundle'), 'entry.mjs');
  let options: EntryOptions;
  let address: HubAddress;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    await bundled(path.join(import.meta.dirname, 'hub-entry.ts'), entry);
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
  const open = (more: Partial<EntryOptions> = {}): Promise<HubClient> =>
    openHub({ address, program: program('hub', more), clock: systemClock, hello });

  return {
    folders,
    /** Of the test that runs. */
    get options() {
      return options;
    },
    get address() {
      return address;
    },
    hubPids,
    shown,
    kill,
    run,
    program,
    herd,
    open,
  };
}
