// The real clock: no timer comes early.
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../server/src/hub/clock.ts';

afterEach(() => vi.useRealTimers());

it('waits as long as it is told, also for longer than a timer of Node can', () => {
  vi.useFakeTimers();
  const rung: string[] = [];
  systemClock.after(10, () => rung.push('soon'));
  systemClock.after(3 * 2 ** 31, () => rung.push('late'));
  const cancel = systemClock.after(2 ** 32, () => rung.push('never'));
  vi.advanceTimersByTime(2 ** 31);
  expect(rung).toEqual(['soon']);
  cancel();
  vi.advanceTimersByTime(2 ** 32 - 1);
  expect(rung).toEqual(['soon']);
  vi.advanceTimersByTime(1);
  expect(rung).toEqual(['soon', 'late']);
});
