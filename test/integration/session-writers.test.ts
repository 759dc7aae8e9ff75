// A session file that two agents write to: whoever is about to write is told who else does, with the real pi and other processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sessionWriters } from '../../server/src/agent/session-writers.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { testSession } from '../support/sessions.ts';

beforeAll(ensurePi, 600_000);
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A process that runs this script until the test is over; resolves when it has said that it is ready. */
async function other(script: string, ...args: string[]): Promise<number> {
  const child = spawn(
    process.execPath,
    ['-e', `${script}; console.log('ready'); setInterval(() => {}, 1e6)`, '--', ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    },
  );
  const ended = once(child, 'exit');
  closing.push(() => {
    child.kill('SIGKILL');
    return ended;
  });
  await once(child.stdout, 'data');
  return child.pid!;
}
function file(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sitzungen ü-')));
  closing.push(() => fs.rmSync(folder, { recursive: true }));
  const name = path.join(folder, 'a b.jsonl');
  fs.writeFileSync(name, '{"type":"session"}\n');
  return name;
}

describe.runIf(process.platform === 'linux')('a process', () => {
  it('that has the file open for writing counts, one that reads does not, nor does our own agent', async () => {
    const name = file();
    await other(`require('fs').openSync(${JSON.stringify(name)}, 'r')`);
    expect(await sessionWriters.other(name, {})).toBeUndefined();
    const pid = await other(`require('fs').openSync(${JSON.stringify(name)}, 'a')`);
    expect(await sessionWriters.other(name, {})).toBe(`process ${pid}, node, uses it`);
    expect(await sessionWriters.other(name, { own: pid })).toBeUndefined();
  });

  it('that was started as an agent for the file counts', async () => {
    const name = file();
    const pid = await other('', '--session', name);
    expect(await sessionWriters.other(name, {})).toContain(`process ${pid}`);
  });
});

it('a file that grew by messages counts, also where no process is to be seen', async () => {
  const name = file();
  const known = fs.statSync(name).size;
  fs.appendFileSync(name, '{"type":"label"}\n');
  expect(await sessionWriters.other(name, { known })).toBeUndefined();
  fs.appendFileSync(name, '{"type":"message","message":{"role":"user"}}\n');
  expect(await sessionWriters.other(name, { known })).toContain('added messages');
  expect(await sessionWriters.other('/is/not/there', { known })).toBeUndefined();
});

it('the real pi’s session: nobody else at first, then a notice before the next prompt, once', async () => {
  const model = await startModelServer([['One'], 'Two', 'Three', 'Four']);
  const agent = await piAgent({ model });
  const looks = new Set<Promise<unknown>>();
  const session = testSession(agent, undefined, undefined, undefined, {
    ...sessionWriters,
    size(path) {
      const look = sessionWriters.size(path);
      looks.add(look);
      return look;
    },
  });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => session.close(),
  );
  const notices = () => session.facts().filter(({ type }) => type === 'notice');
  await session.ran('one');
  await session.ran('two');
  expect(notices()).toEqual([]);
  const { sessionFile } = session.snapshot().state;
  // What is read at the end of a run has been read, and the file looked at, when later readings are done.
  for (let n = 0; n < 3; n += 1) await session.read('get_state', {});
  await Promise.all(looks);
  fs.appendFileSync(
    sessionFile!,
    `${JSON.stringify({ type: 'message', id: 'ffff0001', parentId: null, message: { role: 'user', content: 'x' } })}\n`,
  );
  await session.ran('three');
  expect(notices()).toMatchObject([{ level: 'warning', message: expect.stringContaining(sessionFile!) }]);
  await session.ran('four');
  expect(notices()).toHaveLength(1);
});
