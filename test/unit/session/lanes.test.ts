// Order on the serial lane, freedom beside it, limits that are fair.
import { describe, expect, it } from 'vitest';
import { createLanes } from '../../../server/src/session/lanes.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A call that the test answers. */
function pendingCall(name: string, started: string[]) {
  let resolve: (value: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<string>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return {
    run: () => {
      started.push(name);
      return promise;
    },
    resolve: () => resolve(name),
    reject: () => reject(new Error(name)),
  };
}

function lanesWith(...names: string[]) {
  const clock = fakeClock();
  const started: string[] = [];
  const calls = names.map((name) => pendingCall(name, started));
  return { clock, started, calls, lanes: createLanes(clock) };
}

describe('the serial lane', () => {
  it('sends a call only after the one before was answered, whatever the answer', async () => {
    const { lanes, started, calls } = lanesWith('a', 'b', 'c');
    const [a, b, c] = calls as [(typeof calls)[0], (typeof calls)[0], (typeof calls)[0]];
    const answers = calls.map(({ run }) => lanes.serial(run));
    const outcomes = Promise.allSettled(answers);
    expect(started).toEqual(['a']);
    expect(lanes.serialBusy).toBe(true);
    a.reject();
    await settle();
    expect(started).toEqual(['a', 'b']);
    b.resolve();
    await settle();
    c.resolve();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    await settle();
    expect(started).toEqual(['a', 'b', 'c']);
    expect(lanes.serialBusy).toBe(false);
  });

  it('is held back until everybody has let go', async () => {
    const { lanes, started, calls } = lanesWith('a');
    const [first, second] = [lanes.hold(), lanes.hold()];
    const answer = lanes.serial(calls[0]!.run);
    first();
    first();
    await settle();
    expect(started, 'letting go twice counts once').toEqual([]);
    second();
    expect(started).toEqual(['a']);
    calls[0]!.resolve();
    expect(await answer).toBe('a');
  });

  it('does not interrupt a call that was sent when it is held', async () => {
    const { lanes, started, calls } = lanesWith('a', 'b');
    const first = lanes.serial(calls[0]!.run);
    const release = lanes.hold();
    const second = lanes.serial(calls[1]!.run);
    calls[0]!.resolve();
    expect(await first).toBe('a');
    await settle();
    expect(started).toEqual(['a']);
    release();
    expect(started).toEqual(['a', 'b']);
    calls[1]!.resolve();
    await second;
  });

  it('gives back the texts of what was not sent, and goes on afterwards', async () => {
    const { lanes, started, calls } = lanesWith('a', 'b', 'c', 'd');
    const first = lanes.serial(calls[0]!.run, { text: 'sent' });
    const waiting = [lanes.serial(calls[1]!.run, { text: 'mine' }), lanes.serial(calls[2]!.run)];
    const refused = Promise.allSettled(waiting);
    expect(lanes.giveUp()).toEqual(['mine']);
    for (const outcome of await refused)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AtomicError' } });
    expect(lanes.giveUp()).toEqual([]);
    const later = lanes.serial(calls[3]!.run);
    calls[0]!.resolve();
    expect(await first).toBe('a');
    await settle();
    expect(started).toEqual(['a', 'd']);
    calls[3]!.resolve();
    expect(await later).toBe('d');
  });

  it('gives back what has its turn and is only being prepared, and does not send it', async () => {
    const { lanes, started, calls } = lanesWith('a', 'b', 'c');
    const preparing = pendingCall('first', started);
    const [a, b] = [
      lanes.serial(calls[0]!.run, { text: 'mine', first: preparing.run }),
      lanes.serial(calls[1]!.run, { text: 'too' }),
    ];
    const outcomes = Promise.allSettled([a, b]);
    expect(lanes.giveUp()).toEqual(['mine', 'too']);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(lanes.giveUp()).toEqual([]);
    preparing.resolve();
    await settle();
    const later = lanes.serial(calls[2]!.run, { first: async () => {} });
    await settle();
    expect(started).toEqual(['first', 'c']);
    calls[2]!.resolve();
    expect(await later).toBe('c');
  });
});

describe('the free lane', () => {
  const limit = { milliseconds: 30_000, what: 'get_state' };

  it('waits for nothing', async () => {
    const { lanes, started, calls } = lanesWith('slow', 'free', 'limited');
    const slow = lanes.serial(calls[0]!.run);
    const release = lanes.hold();
    const free = lanes.free(calls[1]!.run);
    const limited = lanes.free(calls[2]!.run, limit);
    expect(started).toEqual(['slow', 'free', 'limited']);
    calls[2]!.resolve();
    calls[1]!.resolve();
    expect(await Promise.all([free, limited])).toEqual(['free', 'limited']);
    release();
    calls[0]!.resolve();
    await slow;
  });

  it('rejects by name when no answer came within the limit', async () => {
    const { lanes, clock, calls } = lanesWith('a');
    const answer = lanes.free(calls[0]!.run, limit);
    const outcome = expect(answer).rejects.toThrow(/get_state within 30 s/);
    clock.advance(29_999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    await outcome;
    await expect(answer).rejects.toMatchObject({ name: 'AtomicError' });
  });

  it('gives a whole limit more while the agent may be held up', async () => {
    const { lanes, clock, calls } = lanesWith('slow', 'read');
    const slow = lanes.serial(calls[0]!.run);
    let rejected = false;
    const answer = lanes.free(calls[1]!.run, limit).catch(() => {
      rejected = true;
    });
    clock.advance(30_000);
    await settle();
    expect(rejected).toBe(false);
    calls[0]!.resolve();
    await slow;
    await settle();
    clock.advance(29_999);
    await settle();
    expect(rejected).toBe(false);
    clock.advance(1);
    await answer;
    expect(rejected).toBe(true);
  });

  it.each(['resolve', 'reject'] as const)('leaves no timer behind after %s', async (end) => {
    const { lanes, clock, calls } = lanesWith('a');
    const outcome = Promise.allSettled([lanes.free(calls[0]!.run, limit)]);
    expect(clock.pending).toBe(1);
    calls[0]![end]();
    expect((await outcome)[0]!.status).toBe(end === 'resolve' ? 'fulfilled' : 'rejected');
    await settle();
    expect(clock.pending).toBe(0);
  });
});
