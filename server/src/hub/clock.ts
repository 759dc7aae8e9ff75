// The real clock. Guarantees: its timers never keep the process alive, and none comes early, however far away it is. Must not
// know: who uses it.
import type { Clock } from '../session/ports.ts';

/** Milliseconds of the longest timer; Node takes a longer one for none at all. */
const longest = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      timer = setTimeout(
        () => (left > longest ? wait(left - longest) : run()),
        Math.min(left, longest),
      ).unref();
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
