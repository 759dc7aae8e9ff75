// A clock that stands still until a test moves it. Guarantees that timers run in the order of their times, and that
// nothing waits for real time. Must not know who uses it.
import type { Clock } from '../../server/src/session/ports.ts';

export interface FakeClock extends Clock {
  /** Moves the time forward and runs what falls due. */
  advance(milliseconds: number): void;
  /** How many timers are set. */
  readonly pending: number;
}

export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let now = start;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((it) => it !== timer);
      };
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        timers = timers.filter((it) => it !== next);
        now = next.at;
        next.run();
      }
      now = end;
    },
    get pending() {
      return timers.length;
    },
  };
}
