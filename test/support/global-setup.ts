// Runs around all tests. Guarantees that no process of one run is left for the next, whatever a test forgot and however it ended.
// Must not know any test.
import { randomUUID } from 'node:crypto';
import { endProcesses, parentOf, processesWithEnvironment, runMark } from '../editors/processes.ts';

/** Called by vitest before the first file; the returned function runs after the last. */
export default function setup(): () => Promise<void> {
  // `.ci/run` gives its own, to end what is left even when this process is killed. The workers inherit the mark, and what they start inherits it from them.
  const run = process.env.ATOMIC_TEST_RUN_ID || randomUUID();
  process.env[runMark] = run;
  return async () => {
    // The workers are children of this process, and vitest's own to end.
    const left = () =>
      processesWithEnvironment(`${runMark}=${run}`).filter((pid) => parentOf(pid) !== process.pid);
    const forgotten = left();
    await endProcesses(left);
    if (forgotten.length > 0) console.error(`tests left ${forgotten.length} processes, which were ended`);
  };
}
