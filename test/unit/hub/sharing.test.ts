// Sessions and who shares them, intents, errors, what can be seen.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { streamPair } from '../../../server/src/hub/memory.ts';
import { isNewer } from '../../../server/src/hub/open.ts';
import { gone, hubStarter, testFolders } from './support.ts';

const folders = testFolders();
const started = hubStarter(folders);

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

  it('lists the sessions that run and those that it remembers, of one folder or of all', async () => {
    const { join, folder } = started();
    const [one, two] = [await join('Neovim'), await join('Helix')];
    const [workspace, elsewhere] = [folders.make('work'), folders.make('work')];
    await one.attach({ workspace });
    await two.attach({ workspace });
    await one.attach({ workspace: elsewhere, session: 'far' });
    const next = started({ folder });
    const three = await next.join('Emacs');
    await three.attach({ workspace, session: 'tab' });
    const running = { running: true, busy: false, dialogs: 0 };
    expect((await one.sessions({ workspace })).sessions).toMatchObject([
      { name: 'default', editors: ['Neovim', 'Helix'], ...running },
      { name: 'tab', running: false, updated: expect.any(Number) },
    ]);
    const link = path.join(folders.make('links'), 'link');
    fs.symlinkSync(workspace, link);
    expect((await three.sessions({ workspace: link })).sessions.map(({ name }) => name)).toEqual([
      'tab',
      'default',
    ]);
    expect((await three.sessions({})).sessions).toHaveLength(3);
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

  it('tells the session who comes and goes', async () => {
    const { join, all } = started();
    const [one, two] = [await join('Neovim'), await join('Helix')];
    const workspace = folders.make('work');
    const { session } = await one.attach({ workspace });
    await two.attach({ workspace });
    await one.detach(session);
    two.close();
    await gone(two);
    expect(all[0]!.present).toEqual([
      [one.origin.id, true],
      [two.origin.id, true],
      [one.origin.id, false],
      [two.origin.id, false],
    ]);
  });

  it('tells whoever attaches with settings that the running agent does not have', async () => {
    const { join, all, hub } = started();
    const [one, two] = [await join('Neovim'), await join('Helix')];
    const workspace = folders.make('work');
    await one.attach({ workspace, agent: { command: 'pi' }, restart: 'atOnce' });
    expect(all[0]!.parts.restart).toBe('atOnce');
    all[0]!.outdated = ['agent', 'environment'];
    expect(await two.attach({ workspace })).not.toHaveProperty('note');
    const { note } = await two.attach({ workspace, agent: { command: 'atomic' } });
    expect(note).toMatch(/another "agent" than yours: restart it with atomic\.restartAgent/);
    expect(hub.status().sessions[0]!.outdated).toEqual(['agent', 'environment']);
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
