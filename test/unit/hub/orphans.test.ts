// Agents of dead hubs are ended, and nobody else is.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../server/src/hub/log.ts';
import { lives, markOf, type ProcessMark, sweepOrphans } from '../../../server/src/hub/orphans.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that waits, in a group of its own as agents are. */
async function waiting(stubborn = false): Promise<{ child: ChildProcess; mark: ProcessMark }> {
  const code = `${stubborn ? "process.on('SIGTERM', () => process.stdout.write('no'));" : ''} setInterval(() => {}, 1e6); process.stdout.write('up')`;
  const child = spawn(process.execPath, ['-e', code], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  await once(child.stdout!, 'data');
  return { child, mark: markOf(child.pid!)! };
}
/** The mark of a process that was, whose number may be used again. */
const deadMark = (): ProcessMark => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { pid, started: 'long ago' };
};
const ownMark = markOf(process.pid)!;

describe('a mark', () => {
  it('is one process’s and no other’s of the same number', async () => {
    const { child, mark } = await waiting();
    expect(lives(mark)).toBe(true);
    expect(lives({ ...mark, started: ownMark.started })).toBe(false);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    expect(lives(mark)).toBe(false);
    expect(markOf(mark.pid)).toBeUndefined();
  });
});

describe('the sweep', () => {
  it('ends an agent whose hub is gone', async () => {
    const { child, mark } = await waiting();
    const exit = once(child, 'exit');
    sweepOrphans([{ agent: mark, owner: deadMark() }], fakeClock(), silentLog);
    expect(await exit).toEqual([null, 'SIGTERM']);
  });
  it('ends one that does not listen', async () => {
    const { child, mark } = await waiting(true);
    const clock = fakeClock();
    const exit = once(child, 'exit');
    const heard = once(child.stdout!, 'data');
    sweepOrphans([{ agent: mark, owner: deadMark() }], clock, silentLog);
    await heard;
    clock.advance(2000);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });
  it('is over when they have gone, and at once where there are none', async () => {
    await sweepOrphans([{ agent: deadMark(), owner: deadMark() }], fakeClock(), silentLog);
    const { child, mark } = await waiting(true);
    const clock = fakeClock();
    const heard = once(child.stdout!, 'data');
    let over = false;
    const swept = sweepOrphans([{ agent: mark, owner: deadMark() }], clock, silentLog).then(() => {
      over = true;
    });
    await heard;
    clock.advance(1000);
    expect(over).toBe(false);
    const exit = once(child, 'exit');
    clock.advance(1000);
    await exit;
    clock.advance(1000);
    await swept;
  });
  it('leaves alone the agent of a living hub, and a process that only has the number', async () => {
    const { child, mark } = await waiting();
    const clock = fakeClock();
    sweepOrphans(
      [
        { agent: mark, owner: ownMark },
        { agent: { ...mark, started: 'another time' }, owner: deadMark() },
        { agent: deadMark(), owner: deadMark() },
      ],
      clock,
      silentLog,
    );
    expect(clock.pending).toBe(0);
    expect([lives(mark), child.exitCode, child.signalCode]).toEqual([true, null, null]);
  });
});
