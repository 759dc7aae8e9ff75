// What a hub leaves to the next one, and when and how it ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMeta, sessionOfFile } from '../../../server/src/hub/folders.ts';
import { privateHub } from '../../../server/src/hub/memory.ts';
import { lives, markOf } from '../../../server/src/hub/orphans.ts';
import { gone, hubStarter, testFolders, turn } from './support.ts';

const folders = testFolders();
const started = hubStarter(folders);

/** An agent of the session that outlived its hub, and hears no SIGTERM, as one that is just finishing something. */
async function outliving(folder: string) {
  const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); process.stdout.write('up')";
  const orphan = spawn(process.execPath, ['-e', code], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(orphan.stdout!, 'data');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const running = { agent: markOf(orphan.pid!)!, owner: { pid, started: 'long ago' } };
  fs.writeFileSync(path.join(folder, 'meta.json'), JSON.stringify({ ...readMeta(folder), running }));
  return { orphan, running };
}

describe('what is remembered', () => {
  it('brings the next hub to the agent’s own file', async () => {
    const first = started();
    const workspace = folders.make('work');
    const file = path.join(folders.make('agent'), 'session.jsonl');
    fs.writeFileSync(file, '');
    const one = await first.join();
    const { folder } = await one.attach({ workspace });
    const { journal } = first.all[0]!;
    expect(sessionOfFile(first.folder, path.join(folder, 'prompt.md'))).toEqual({
      workspace,
      session: 'default',
      folder,
    });
    journal.append({ type: 'state_changed', state: { sessionFile: file, sessionName: 'Fix' } });
    journal.append({ type: 'state_changed', state: { thinkingLevel: 'high' } });
    expect(readMeta(folder)).toMatchObject({ workspace, sessionFile: file, sessionName: 'Fix' });
    journal.append({ type: 'session_info_changed' });
    expect(readMeta(folder)).not.toHaveProperty('sessionName');
    first.hub.stop({ force: true });
    await first.hub.closed;

    const second = started({ folder: first.folder });
    await (await second.join()).attach({ workspace });
    expect(second.all[0]!.parts.spec.resume).toBe(file);
    expect(second.all[0]!.parts.epoch).not.toBe(first.all[0]!.parts.epoch);
    expect(readMeta(folder)).toMatchObject({ sessionFile: file });
    second.all[0]!.journal.append({
      type: 'session_replaced',
      state: {},
      messages: [],
      olderMessages: 0,
      reason: 'new_session',
    });
    expect(readMeta(folder)).not.toHaveProperty('sessionFile');
  });

  it('has no files in it that a killed hub had not finished, and keeps those that somebody is writing', async () => {
    const first = started();
    const workspace = folders.make('work');
    const { folder } = await (await first.join()).attach({ workspace });
    first.hub.stop({ force: true });
    await first.hub.closed;
    const { pid: dead } = spawnSync(process.execPath, ['-e', '']);
    fs.mkdirSync(path.join(folder, 'originals'), { recursive: true });
    const unfinished = [`meta.json.${dead}.new`, `chat.json.${dead}.new`, `originals/${dead}.new`];
    const others = [`meta.json.${process.ppid}.new`, 'something.new', 'chat.md'];
    for (const name of [...unfinished, ...others]) fs.writeFileSync(path.join(folder, name), '{');
    await (await started({ folder: first.folder }).join()).attach({ workspace });
    const there = (name: string) => fs.existsSync(path.join(folder, name));
    expect([unfinished.filter(there), others.filter(there)]).toEqual([[], others]);
  });

  it('starts no agent while one of a dead hub may still write to the file', async () => {
    const first = started();
    const workspace = folders.make('work');
    const { folder } = await (await first.join()).attach({ workspace });
    first.hub.stop({ force: true });
    await first.hub.closed;
    const { orphan, running } = await outliving(folder);

    const alive: boolean[] = [];
    const second = started({
      folder: first.folder,
      startAgent: () => {
        alive.push(lives(running.agent));
        return Promise.reject(new Error('no agent here'));
      },
    });
    const peer = await second.join();
    await peer.attach({ workspace });
    // Another session has nothing to do with that.
    await peer.attach({ workspace, session: 'other' });
    const [mine, other] = second.all.map(({ parts }) => parts);
    await other!.startAgent(other!.spec, {} as never).catch(() => {});
    expect(alive).toEqual([true]);
    // A hub that is killed now leaves the agent to the next one.
    expect(readMeta(folder)).toMatchObject({ running });
    const start = mine!.startAgent(mine!.spec, {} as never).catch(() => {});
    const exit = once(orphan, 'exit');
    second.clock.advance(2000);
    await exit;
    second.clock.advance(100);
    await start;
    expect(alive).toEqual([true, false]);
    expect(readMeta(folder)).not.toHaveProperty('running');
  });

  it('is not used when the file is gone, or another living hub’s agent writes to it', async () => {
    const state = folders.make('state');
    const workspace = folders.make('work');
    const file = path.join(folders.make('agent'), 'session.jsonl');
    fs.writeFileSync(file, '');
    const first = started({ folder: state });
    const { folder } = await (await first.join()).attach({ workspace });
    first.all[0]!.journal.append({ type: 'state_changed', state: { sessionFile: file } });
    // The parent of this process stands for another hub, and this process for its agent.
    const [agent, owner] = [markOf(process.pid), markOf(process.ppid)];
    const meta = JSON.parse(fs.readFileSync(path.join(folder, 'meta.json'), 'utf8'));
    fs.writeFileSync(path.join(folder, 'meta.json'), JSON.stringify({ ...meta, running: { agent, owner } }));
    const second = started({ folder: state });
    await (await second.join()).attach({ workspace });
    expect(second.all[0]!.parts.spec.resume).toBeUndefined();
    fs.writeFileSync(path.join(folder, 'meta.json'), JSON.stringify(meta));
    fs.rmSync(file);
    const third = started({ folder: state });
    await (await third.join()).attach({ workspace });
    expect(third.all[0]!.parts.spec.resume).toBeUndefined();
  });
});

describe('the end', () => {
  const idleExit = 600_000;

  it('comes some time after the last peer left, with the agents ended first', async () => {
    const { hub, join, clock, all } = started({ idleExit });
    const one = await join();
    await one.attach({ workspace: folders.make('work') });
    clock.advance(10 * idleExit);
    expect(all[0]!.stopped).toBe(0);
    one.close();
    await gone(one);
    await turn();
    let stopped = false;
    void hub.closed.then(() => {
      stopped = true;
    });
    let ended = () => {};
    all[0]!.onStop = () => new Promise((resolve) => (ended = resolve));
    clock.advance(idleExit - 1);
    const two = await join();
    two.close();
    await gone(two);
    await turn();
    clock.advance(idleExit - 1);
    await turn();
    clock.advance(1);
    await hub.stopping;
    await turn();
    expect([all[0]!.stopped, stopped]).toEqual([1, false]);
    ended();
    await hub.closed;
  });

  it('does not come during a run or with a question open, but right after', async () => {
    const { hub, join, clock, all } = started({ idleExit });
    const one = await join();
    await one.attach({ workspace: folders.make('work') });
    const session = all[0]!;
    session.busy = true;
    one.close();
    await gone(one);
    await turn();
    clock.advance(3 * idleExit);
    session.busy = false;
    session.dialogs = 1;
    session.journal.append({ type: 'agent_settled', outcome: { stopReason: 'stop' } });
    await turn();
    await turn();
    expect(session.stopped).toBe(0);
    session.dialogs = 0;
    session.journal.append({ type: 'dialog_settled', id: 'd', outcome: 'answered' });
    await hub.closed;
    expect(session.stopped).toBe(1);
  });

  it('is refused with a reason while something works, put off with whenIdle, and forced', async () => {
    const { hub, join, all } = started();
    const one = await join();
    const workspace = folders.make('work');
    await one.attach({ workspace });
    all[0]!.busy = true;
    expect(await one.stop({})).toEqual({
      stopping: false,
      reason: `The hub goes on, because the agent is working in ${workspace}: wait with --when-idle, or end it with --force.`,
    });
    expect(await one.stop({ whenIdle: true })).toMatchObject({ stopping: true });
    await turn();
    expect(await one.status()).toMatchObject({ sessions: [{ busy: true }] });
    const closed = gone(one);
    all[0]!.busy = false;
    all[0]!.journal.append({ type: 'intent_settled', intent: 'i', command: 'prompt', outcome: 'done' });
    await closed;
    await hub.closed;

    const second = started();
    const two = await second.join();
    await two.attach({ workspace });
    second.all[0]!.dialogs = 1;
    expect((await two.stop({})).reason).toMatch(/a question is open in/);
    expect(await two.stop({ force: true })).toEqual({ stopping: true });
    await second.hub.closed;
  });

  it('of an unwatched agent comes earlier, when its conversation is on disk, and the next attach continues it', async () => {
    const { join, clock, all, hub } = started({ agentIdle: 1000, idleExit: false });
    const workspace = folders.make('work');
    const file = path.join(folders.make('agent'), 'session.jsonl');
    const one = await join();
    const { session } = await one.attach({ workspace });
    all[0]!.journal.append({
      type: 'agent_started',
      agent: { command: 'pi', name: 'pi', demo: false },
    });
    all[0]!.journal.append({ type: 'state_changed', state: { sessionFile: file } });
    await one.detach(session);
    clock.advance(5000);
    expect(all[0]!.stopped).toBe(0);
    fs.writeFileSync(file, '');
    clock.advance(1000);
    expect(all[0]!.stopped).toBe(1);
    expect(hub.status().sessions).toEqual([]);
    await expect(one.read({ session, command: 'get_state', params: {} })).rejects.toMatchObject({
      code: 'NoSuchSession',
    });
    const again = await one.attach({ workspace });
    expect(again.session).not.toBe(session);
    expect(all[1]!.parts.spec.resume).toBe(file);
    await one.detach(again.session);
    await one.attach({ workspace });
    clock.advance(10_000);
    expect(all[1]!.stopped).toBe(0);
  });

  it('of a private hub comes with its client', async () => {
    const { options, all } = started();
    const { client, hub } = await privateHub(options, { version: '1.0.0', name: 'Helix', env: {} });
    await client.attach({ workspace: folders.make('work') });
    client.close();
    await hub.closed;
    expect(all[0]!.stopped).toBe(1);
  });
});
