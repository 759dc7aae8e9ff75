// Starting hubs: exactly one however many start at once and whatever is killed; the last words of one that fails.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectHubClient } from '../../server/src/hub/client.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { ensureHub } from '../../server/src/hub/ensure.ts';
import { connectSocket } from '../../server/src/hub/listen.ts';
import { hello, hubProcesses } from '../support/hub-processes.ts';
import { gone } from '../unit/hub/support.ts';

const hubs = hubProcesses();
const { hubPids, shown, kill, run, program, herd, open } = hubs;

describe('starting', () => {
  it('makes one hub for 16 at once, and starts one process for it', async () => {
    const pids = await herd(16);
    expect(new Set(pids).size).toBe(1);
    expect(hubPids()).toEqual([pids[0]]);
    expect(fs.statSync(hubs.address.socket).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(hubs.address.socket)).mode & 0o777).toBe(0o700);
  }, 120_000);

  it('makes one hub for 16 at once on the socket of a killed one, again and again', async () => {
    for (let round = 0; round < 3; round += 1) {
      const pids = await herd(round === 0 ? 1 : 16);
      expect(new Set(pids).size).toBe(1);
      expect(hubPids().at(-1)).toBe(pids[0]);
      expect(hubPids()).toHaveLength(round + 1);
      const client = await connectHubClient((await connectSocket(hubs.address))!, hello);
      const closed = gone(client);
      process.kill(pids[0]!, 'SIGKILL');
      await closed;
      expect(fs.existsSync(hubs.address.socket)).toBe(true);
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
    const killed = hubPids();
    for (const pid of killed) kill(pid);
    const ended = await Promise.all(starters.map(({ ended: it }) => it));
    expect(first!.child.killed).toBe(true);
    const [pid] = await herd(1);
    for (const { code, out, err } of ended.slice(4)) {
      expect([code, err]).toEqual([0, '']);
      // Who had its answer before that hub was killed cannot know of the next.
      expect([...killed, pid]).toContain(Number(out));
    }
    expect(await herd(4)).toEqual([pid, pid, pid, pid]);
  });

  it('tells the last words of a hub that did not become ready', async () => {
    await expect(
      ensureHub({ address: hubs.address, program: program('broken'), clock: systemClock }),
    ).rejects.toMatchObject({
      code: 'HubUnreachable',
      message: expect.stringMatching(
        /ended before it was ready, with the words: the last words of a broken hub\. Try/,
      ),
    });
    await expect(
      ensureHub({
        address: hubs.address,
        program: { ...program(), command: '/nowhere/node' },
        clock: systemClock,
      }),
    ).rejects.toMatchObject({ code: 'HubUnreachable', message: expect.stringMatching(/ENOENT/) });
    await expect(ensureHub({ address: hubs.address, clock: systemClock })).rejects.toMatchObject({
      message: expect.stringMatching(/No hub is running/),
    });
    // The lock is free again.
    (await open()).close();
  });

  it('refuses a folder that others can enter, before anything is started', async () => {
    fs.mkdirSync(path.dirname(hubs.address.socket));
    fs.chmodSync(path.dirname(hubs.address.socket), 0o755);
    await expect(open()).rejects.toMatchObject({ code: 'SocketRefused' });
    expect(hubPids()).toEqual([]);
    const { code, err } = await run('hub').ended;
    expect([code, err]).toEqual([1, expect.stringMatching(/is open to other users \(mode 755\).*chmod 700/)]);
  });
});
