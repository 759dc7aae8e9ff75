// Finds and ends processes that the tests started. Guarantees that only processes named by the caller are ended, and
// that they are gone when it returns. Must not know what the processes are.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Every process that a run of the tests starts has this environment variable, with a value of the run's own. */
export const runMark = 'ATOMIC_TEST_RUN';

/** The ids of the living processes whose environment at their start had the entry `NAME=value`. */
export function processesWithEnvironment(entry: string): number[] {
  if (!fs.existsSync('/proc/self/environ')) return processesByPs(entry);
  const found: number[] = [];
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      // A zombie has an empty environment, so it does not count.
      if (fs.readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(entry))
        found.push(Number(name));
    } catch {
      // It ended in between, or is another user's.
    }
  }
  return found;
}

/** The same where there is no /proc. */
function processesByPs(entry: string): number[] {
  const list = execFileSync('ps', ['-Aww', '-E', '-o', 'pid=,command='], { encoding: 'utf8' });
  const lines = list.split('\n').filter((line) => line.includes(entry));
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== process.pid);
}

/** The id of a process's parent, undefined when it has ended. */
export function parentOf(pid: number): number | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=', '-p', `${pid}`], { encoding: 'utf8' });
    return Number(line);
  } catch {
    return undefined;
  }
}

/** Sends a signal; says whether the process was there. Never a group: 0 would be the one of the tests themselves. */
export function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (!(pid > 1)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Kills what `list` names until it names nothing: a killed parent may have started another child in between. */
export async function endProcesses(list: () => number[]): Promise<void> {
  for (let round = 0; round < 500; round++) {
    const pids = list();
    if (pids.length === 0) return;
    for (const pid of pids) signalled(pid, 'SIGKILL');
    // The kernel has no event for the end of a process that is not a child.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`processes do not end: ${list().join(', ')}`);
}
