// A hub process that lives and ends: peers that are killed, a removed socket, versions, signals, its successor, its log.
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../server/src/hub/clock.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { hello, hubProcesses } from '../support/hub-processes.ts';
import { gone } from '../unit/hub/support.ts';

const hubs = hubProcesses();
const { folders, hubPids, shown, run, program, open } = hubs;

describe('living', () => {
  it('keeps its sessions when a peer is killed, and listens again when its socket was removed', async () => {
    const client = await open();
    const workspace = folders.make('work');
    const { session, epoch } = await client.attach({ workspace });
    await client.intent({ session, id: 'i', command: 'prompt', params: { message: 'still here' } });
    const { pid } = await client.status();
    fs.unlinkSync(hubs.address.socket);
    const again = await open();
    expect((await again.status()).pid).toBe(pid);
    client.close();
    const result = await again.attach({ workspace });
    expect([result.epoch, result.snapshot!.title]).toEqual([epoch, 'still here']);
    expect(fs.existsSync(hubs.address.socket)).toBe(true);
    again.close();
  });

  it('steps aside for a newer version when nothing works, and not while others are there', async () => {
    const newer = () =>
      openHub({
        address: hubs.address,
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
      expect(fs.existsSync(hubs.address.socket)).toBe(false);
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
    expect(log).toBe(path.join(hubs.options.state, 'log', 'hub.log'));
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
