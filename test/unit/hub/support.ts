// What tests of the hub share. Guarantees that folders are gone after the tests of a file. Must not know what is tested.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach } from 'vitest';
import type { HubClient } from '../../../server/src/hub/client.ts';
import { createHub, type Hub, type HubOptions } from '../../../server/src/hub/hub.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { connectInMemory } from '../../../server/src/hub/memory.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';
import { type FakeSession, fakeSessions } from '../../support/fake-session.ts';

/** Fresh folders, by their real paths, removed after the last test of the file. */
export function testFolders(): { make(name: string): string } {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hub-')));
  let count = 0;
  afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
  return {
    make(name) {
      count += 1;
      const folder = path.join(root, String(count), name);
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
  };
}

export interface StartedHub {
  hub: Hub;
  clock: FakeClock;
  /** The sessions that it made. */
  all: FakeSession[];
  folder: string;
  options: HubOptions;
  /** A new peer. */
  join(name?: string, env?: Record<string, string>): Promise<HubClient>;
}

/** A function that starts hubs with stand-in sessions; they are stopped after each test. */
export function hubStarter(
  folders: ReturnType<typeof testFolders>,
): (more?: Partial<HubOptions>) => StartedHub {
  const hubs: Hub[] = [];
  afterEach(async () => {
    for (const hub of hubs.splice(0)) {
      hub.stop({ force: true });
      await hub.closed;
    }
  });
  return (more = {}) => {
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
  };
}

/** Resolves when the client's connection is closed. */
export const gone = (client: HubClient): Promise<void> =>
  new Promise((resolve) => client.onClose(() => resolve()));
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
