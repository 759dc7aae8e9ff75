// Five editors on one session in which much is said. Guarantees: real servers and one hub in a private home; what each is told and when is
// kept in numbers; no process is left after `close`. Must not know: who is stopped, what is expected.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { hubAddress } from '../../server/src/hub/address.ts';
import type { HubClient } from '../../server/src/hub/client.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { createEditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { projectFolder } from '../editors/project.ts';
import { program } from '../support/language-server.ts';
import { createEditor, type Editor } from './editor.ts';

const hook = pathToFileURL(path.join(import.meta.dirname, 'live-memory.mjs')).href;

export interface Five {
  readonly editors: readonly Editor[];
  readonly problems: string[];
  /** Milliseconds from an agent's writing to an editor's reading, of every delta of the first four since the last call. */
  latencies(): number[];
  /** A peer that watches no session. */
  readonly hub: HubClient;
  /** Megabytes that the hub holds when garbage is collected. */
  held(): Promise<number>;
  /** Has so many deltas said. */
  say(deltas: number): Promise<unknown>;
  /** Resolves when it holds; it is asked whenever an editor was told something. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** `rate`: deltas a second; `size`: UTF-16 units of one. */
export async function fiveEditors(rate: number, size: number): Promise<Five> {
  const home = createEditorHome();
  const workspace = projectFolder(home, undefined);
  const agent = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, '../agents/steady.mjs'), `${rate}`, `${size}`],
  };
  const problems: string[] = [];
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  let latencies: number[] = [];
  const hub = await openHub({
    address: hubAddress({
      platform: process.platform,
      uid: process.getuid?.(),
      runtimeDir: home.env.XDG_RUNTIME_DIR,
    }),
    clock: systemClock,
    hello: { version: '0.0.0', name: 'watcher', env: {} },
    program: {
      command: process.execPath,
      args: ['--expose-gc', '--import', hook, program, 'hub', '--ready-descriptor=3'],
      env: { ...home.env, LIVE_MEMORY: home.path },
    },
  });
  const hubPid = (await hub.status()).pid;
  const editors = Array.from({ length: 5 }, (_, slot) =>
    createEditor({
      slot,
      env: home.env,
      workspace,
      agent,
      problem: (sentence) => void problems.push(sentence),
      heard(fact) {
        if (slot === 4 || fact.type !== 'message_update' || !('delta' in fact.assistantMessageEvent)) return;
        const now = performance.timeOrigin + performance.now();
        for (const [, written] of fact.assistantMessageEvent.delta.matchAll(/@([\d.]+) /g))
          latencies.push(now - Number(written));
      },
      changed,
    }),
  );
  const until: Five['until'] = (holds) =>
    new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  await until(() => editors.every(({ attached }) => attached));
  return {
    editors,
    problems,
    latencies() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    hub,
    async held() {
      const file = path.join(home.path, 'live-memory');
      fs.rmSync(file, { force: true });
      signalled(hubPid, 'SIGUSR2');
      while (!fs.existsSync(file)) await setTimeout(10);
      return Number(fs.readFileSync(file, 'utf8')) / 1e6;
    },
    say: (deltas) => editors[0]!.intent(randomUUID(), 'prompt', { message: `Say ${deltas}` }),
    until,
    async close() {
      hub.close();
      for (const editor of editors) editor.leave('drop');
      await home.close();
    },
  };
}
