// The hub without sockets: sessions and who shares them, intents, errors, its end.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import type { HubClient } from '../../../server/src/hub/client.ts';
import { readMeta, sessionOfFile } from '../../../server/src/hub/folders.ts';
import { createHub, type Hub, type HubOptions } from '../../../server/src/hub/hub.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { connectInMemory, privateHub, streamPair } from '../../../server/src/hub/memory.ts';
import { isNewer } from '../../../server/src/hub/open.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { fakeSessions } from '../../support/fake-session.ts';
import { testFolders } from './support.ts';

const folders = testFolders();
const hubs: Hub[] = [];
afterEach(async () => {
  for (const hub of hubs.splice(0)) {
    hub.stop({ force: true });
    await hub.closed;
  }
});

function started(more: Partial<HubOptions> = {}) {
  const clock = fakeClock();
  const { create, all } = fakeSessions();
  const folder = more.folder ?? folders.make('state');
  const options: HubOptions = {
    createSession: create,
    startAgent: () => Promise.reject(new Error('no agent here')),
    clock,
    log: silentLog,
    folder,
    version: '1.0.0',
    ...more,
  };
  const hub = createHub(options);
  hubs.push(hub);
  const join = (name = 'Neovim', env: Record<string, string> = {}) =>
    connectInMemory(hub, { version: '1.0.0', name, env, pid: 4711 });
  return { hub, clock, all, join, folder, options };
}
const gone = (client: HubClient) => new Promise<void>((resolve) => client.onClose(resolve));
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('sharing', () => {
  it('gives two peers of one workspace one session, by links as well, and each workspace and name its own', async () => {
    const { join, all, hub } = started();
    const [one, two] = [await join(), await join('Emacs', { PATH: '/other' })];
    const workspace = folders.make('work');
    const link = path.join(folders.make('links'), 'link');
    fs.symlinkSync(workspace, link);
    const a = await one.attach({ workspace, agent: { command: 'pi' } });
    const b = await two.attach({ workspace: link, whileBusy: 'steer' });
    expect(a.session).toBe(b.session);
    expect([a.workspace, b.workspace]).toEqual([workspace, workspace]);
    expect(all).toHaveLength(1);
    expect(all[0]!.parts.spec).toMatchObject({ workspace, choice: { command: 'pi' } });
    expect(all[0]!.updates).toEqual([{ env: { PATH: '/other' }, whileBusy: 'steer' }]);
    const tab = await one.attach({ workspace, session: 'tab' });
    const other = await one.attach({ workspace: folders.make('work') });
    expect(new Set([a.session, tab.session, other.session]).size).toBe(3);
    expect(new Set([a.folder, tab.folder, other.folder]).size).toBe(3);
    expect(hub.status().sessions.map(({ name }) => name)).toEqual(['default', 'tab', 'default']);
  });

  it('makes one session however many ask for it at once', async () => {
    const { join, all } = started();
    const workspace = folders.make('work');
    const peers = await Promise.all(Array.from({ length: 8 }, () => join()));
    const results = await Promise.all(peers.map((peer) => peer.attach({ workspace })));
    expect(new Set(results.map(({ session }) => session)).size).toBe(1);
    expect([all.length, all[0]!.updates.length]).toEqual([1, 7]);
  });

  it('shows both what one does, with its origin', async () => {
    const { join } = started();
    const [one, two] = [await join('Neovim'), await join('Helix')];
    expect(one.origin.id).not.toBe(two.origin.id);
    const workspace = folders.make('work');
    const { session } = await one.attach({ workspace });
    await two.attach({ workspace });
    const seen = new Promise((resolve) => two.onFacts(({ facts }) => resolve(facts[0])));
    await one.intent({ session, id: 'i1', command: 'prompt', params: { message: 'hello world' } });
    expect(await seen).toMatchObject({
      type: 'intent_accepted',
      origin: { id: one.origin.id, name: 'Neovim' },
    });
  });

  it('does an intent once, whoever sends its id again', async () => {
    const { join, all } = started();
    const [one, two] = [await join(), await join()];
    const workspace = folders.make('work');
    const { session } = await one.attach({ workspace });
    const intent = { session, id: 'same', command: 'prompt', params: { message: 'once' } };
    expect(await one.intent(intent)).toEqual({ intent: 'same' });
    expect(await one.intent(intent)).toEqual({ intent: 'same' });
    expect(await two.intent(intent)).toEqual({ intent: 'same' });
    expect(all[0]!.text).toBe('once');
  });

  it('keeps the session, its facts and its run when a peer is gone', async () => {
    const { join, all } = started();
    const one = await join();
    const workspace = folders.make('work');
    await one.attach({ workspace });
    all[0]!.busy = true;
    one.close();
    await gone(one);
    all[0]!.delta('went on');
    const two = await join();
    expect((await two.attach({ workspace })).snapshot?.title).toBe('went on');
    expect(all[0]!.stopped).toBe(0);
  });
});

describe('errors', () => {
  it('come with name, sentence and data', async () => {
    const { join } = started();
    const one = await join();
    const workspace = folders.make('work');
    const { session } = await one.attach({ workspace });
    await expect(one.intent({ session, id: '1', command: 'dance', params: {} })).rejects.toMatchObject({
      code: 'UnknownCommand',
      message: 'There is no command "dance".',
      data: { command: 'dance' },
    });
    await expect(one.read({ session: '9', command: 'get_state', params: {} })).rejects.toMatchObject({
      code: 'NoSuchSession',
      message: expect.stringMatching(/no session "9" now: attach/),
    });
    await expect(one.attach({ workspace: path.join(workspace, 'missing') })).rejects.toMatchObject({
      code: 'BadArguments',
      message: expect.stringMatching(/missing cannot be opened \(ENOENT\): open a folder/),
    });
    await expect(one.attach({ workspace: 'here' })).rejects.toMatchObject({
      message: expect.stringMatching(/not an absolute path/),
    });
    await expect(one.attach({} as never)).rejects.toMatchObject({
      code: 'BadArguments',
      message: expect.stringMatching(/"attach": "workspace"/),
    });
  });

  it('refuse another protocol in one sentence with the cure, even when the rest of the hello is strange', async () => {
    const { hub } = started();
    const [ours, theirs] = streamPair();
    hub.accept(theirs);
    const raw = createMessageConnection(new StreamMessageReader(ours), new StreamMessageWriter(ours));
    raw.listen();
    await expect(raw.sendRequest('hello', { protocol: 99, version: '9.0.0' })).rejects.toMatchObject({
      code: -32022,
      message:
        'The running hub is atomic-lsp 1.0.0 with protocol 1, and this is atomic-lsp 9.0.0 with protocol 99: end the hub with "atomic-lsp stop --when-idle" and start again.',
      data: { name: 'VersionSkew' },
    });
    await expect(raw.sendRequest('status', {})).rejects.toMatchObject({ data: { name: 'NotReady' } });
    await expect(raw.sendRequest('dance', {})).rejects.toMatchObject({ code: -32601 });
    raw.dispose();
    ours.destroy();
  });

  it('settle whatever waits when the connection is lost', async () => {
    const { join, hub } = started();
    const one = await join();
    const { session } = await one.attach({ workspace: folders.make('work') });
    const waiting = one.read({ session, command: 'hang', params: {} });
    // Answered after the read has arrived.
    await one.status();
    hub.stop({ force: true });
    await expect(waiting).rejects.toMatchObject({ code: 'HubUnreachable' });
    await expect(one.status()).rejects.toMatchObject({ code: 'HubUnreachable' });
  });

  it('let go of a connection that says nothing', async () => {
    const { hub, clock } = started();
    const [ours, theirs] = streamPair();
    hub.accept(theirs);
    const closed = new Promise((resolve) => ours.once('close', resolve));
    clock.advance(10_000);
    await closed;
  });
});

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

  it('is not used when the file is gone, or another living hub’s agent writes to it', async () => {
    const state = folders.make('state');
    const workspace = folders.make('work');
    const file = path.join(folders.make('agent'), 'session.jsonl');
    fs.writeFileSync(file, '');
    const first = started({ folder: state });
    const { folder } = await (await first.join()).attach({ workspace });
    first.all[0]!.journal.append({ type: 'state_changed', state: { sessionFile: file } });
    // The parent of this process stands for another hub, and this process for its agent.
    const { markOf } = await import('../../../server/src/hub/orphans.ts');
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

describe('what can be seen', () => {
  it('is who is there, what they watch and how far behind they are', async () => {
    const { join, hub, all } = started({ logFile: '/x/hub.log' });
    const one = await join('Neovim');
    const workspace = folders.make('work');
    await one.attach({ workspace });
    all[0]!.delta('x');
    const status = await one.status();
    expect(status).toMatchObject({
      pid: process.pid,
      version: '1.0.0',
      protocol: 1,
      log: '/x/hub.log',
      editors: [{ origin: one.origin, pid: 4711, sessions: ['1'] }],
      sessions: [
        {
          session: '1',
          workspace,
          name: 'default',
          seq: 1,
          editors: [{ origin: one.origin }],
          busy: false,
          dialogs: 0,
          journal: { facts: 1, bytes: JSON.stringify(all[0]!.journal.facts(1, 1)[0]).length },
        },
      ],
    });
    expect(hub.status().memory).toBeGreaterThan(1_000_000);
  });
});

it('a version comes after another by its numbers', () => {
  expect(isNewer('0.10.0', '0.9.9')).toBe(true);
  expect(isNewer('1.0.0', '1.0.0')).toBe(false);
  expect(isNewer('1.0.0', '1.0.1')).toBe(false);
  expect(isNewer('1.0.0-beta', '1.0.0')).toBe(false);
  expect(isNewer('?', '1.0.0')).toBe(false);
});
