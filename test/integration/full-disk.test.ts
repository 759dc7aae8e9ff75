// The state folder on a disk without room: work goes on, each thing that is not kept is said with its cure, and what was said
// meanwhile is written when there is room again.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Fact } from '../../server/src/protocol/facts.ts';
import { createDisk } from '../chaos/disk.ts';
import { createEditorHome } from '../editors/home.ts';
import { program, startLanguageServer } from '../support/language-server.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

/** The file's text, once it has this in it. */
function written(folder: string, name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  return new Promise((resolve) => {
    const look = () => {
      const now = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
      if (!now.includes(text)) return;
      watcher.close();
      resolve(now);
    };
    const watcher = fs.watch(folder, look);
    look();
  });
}

it('a full disk of the state folder stops nobody’s work and is told in a sentence', async ({ skip }) => {
  await ensurePi();
  const home = createEditorHome();
  const state = path.join(home.env.XDG_STATE_HOME!, 'atomic-lsp');
  const disk = createDisk(state);
  skip(!disk.fills, 'this system gives no disk that can be full');
  const model = await startModelServer(['First answer.', 'Second answer.']);
  const agent = await piAgent({ model });
  disk.fill();
  const server = await startLanguageServer({ home, agent });
  try {
    const settled = (count: number) => {
      let seen = 0;
      return server.fact(({ type }) => type === 'agent_settled' && ++seen === count);
    };
    await server.execute('atomic.prompt', 'One');
    await settled(1);
    const warns = (fact: Fact) =>
      fact.type === 'notice' && /chat\.md cannot be written.*free some space/.test(fact.message);
    await server.fact(warns);
    await server.execute('atomic.addToPrompt', { text: 'A draft. '.repeat(1000) });
    await server.notification('window/showMessage', ({ message }: { message: string }) =>
      /prompt\.md could not be written .*see to its folder and its disk, then try again/.test(message),
    );
    const doctor = () =>
      spawnSync(process.execPath, [program, 'doctor'], {
        cwd: home.path,
        env: { ...home.env, ...agent.env },
        encoding: 'utf8',
      }).stdout;
    expect(doctor()).toMatch(/is on a full disk \(\d+ bytes left\)[\s\S]*free some space/);

    disk.free();
    await server.execute('atomic.prompt', 'Two');
    await settled(2);
    const [folder] = fs.readdirSync(state).filter((name) => name !== 'log');
    const session = path.join(state, folder!, 'default');
    const chat = await written(session, 'chat.md', 'Second answer.');
    const parts = ['One', 'First answer.', 'Two', 'Second answer.'];
    expect(parts.map((part) => chat.split(part).length - 1)).toEqual([1, 1, 1, 1]);
    expect(server.facts().filter(warns)).toHaveLength(1);
  } finally {
    await server.close();
    disk.close();
    await home.close();
    agent.dispose();
    await model.close();
  }
}, 120_000);
