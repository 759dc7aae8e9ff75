// The real clock. Guarantees: its timers never keep the process alive. Must not know: who uses it.
import type { Clock } from '../session/ports.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
