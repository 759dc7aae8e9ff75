// Start locks: one holder, freed by the kernel, and nobody sleeps while waiting.
import { describe, expect, it } from 'vitest';
import { fileLock, type LockPlace, socketLock } from '../../../server/src/hub/lock.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const never = new AbortController().signal;
let count = 0;
const place = (): LockPlace => {
  count += 1;
  return socketLock(`\0atomic-lsp-test-${process.pid}-${count}`);
};

describe.runIf(process.platform === 'linux')('a socket lock', () => {
  it('has one holder, and another after it', async () => {
    const lock = place();
    const held = await lock.take();
    expect(held).toBeDefined();
    expect(await lock.take()).toBeUndefined();
    await held!.release();
    const next = await lock.take();
    expect(next).toBeDefined();
    await next!.release();
  });
  it('has exactly one holder of many that ask at once', async () => {
    const lock = place();
    const all = await Promise.all(Array.from({ length: 20 }, () => lock.take()));
    const held = all.filter((it) => it !== undefined);
    expect(held).toHaveLength(1);
    await held[0]!.release();
  });
  it('wakes who waits when it is released', async () => {
    const lock = place();
    const held = await lock.take();
    const woken = lock.changed(never);
    await held!.release();
    await woken;
  });
  it('wakes who waits when the holder has answered a knock, also one that came before the answer was given', async () => {
    const lock = place();
    const held = (await lock.take())!;
    const early = lock.changed(never);
    let knocks = 0;
    held.onKnock(async () => {
      knocks += 1;
    });
    await early;
    await lock.changed(never);
    expect(knocks).toBe(2);
    expect(await lock.take()).toBeUndefined();
    await held.release();
  });
  it('lets go of who waits no longer', async () => {
    const lock = place();
    const held = (await lock.take())!;
    const stop = new AbortController();
    const woken = lock.changed(stop.signal);
    stop.abort();
    await woken;
    await lock.changed(stop.signal);
    await held.release();
  });
  it('does not wait for a lock that nobody holds', async () => {
    await place().changed(never);
  });
});

describe('a file lock', () => {
  it('is held while the system says so, and looked at again by the clock', async () => {
    const clock = fakeClock();
    const asked: { file: string; flags: number; mode: number }[] = [];
    const lock = fileLock('/x/hub.lock', clock, (file, flags, mode) => {
      asked.push({ file, flags, mode });
      throw Object.assign(new Error('busy'), { code: 'EAGAIN' });
    });
    expect(await lock.take()).toBeUndefined();
    // O_RDWR, O_NONBLOCK, O_CREAT and O_EXLOCK as macOS and the BSDs number them.
    expect(asked).toEqual([{ file: '/x/hub.lock', flags: 0x226, mode: 0o600 }]);
    const woken = lock.changed(never);
    clock.advance(50);
    await woken;
  });
  it('says what to do when the file cannot be opened', async () => {
    const lock = fileLock('/x/hub.lock', fakeClock(), () => {
      throw Object.assign(new Error('EROFS: read-only'), { code: 'EROFS' });
    });
    await expect(lock.take()).rejects.toMatchObject({
      code: 'SocketRefused',
      message: expect.stringMatching(/cannot be opened \(EROFS.*set ATOMIC_LSP_SOCKET/),
    });
  });
});
