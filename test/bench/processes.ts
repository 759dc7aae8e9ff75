// What a process costs, by /proc (Linux). Guarantees: reads only. Must not know: which process.
import { readFileSync } from 'node:fs';
import type { EditorHome } from '../editors/home.ts';

/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const ticks = 100;

/** Processor seconds that the process has used so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

const memory = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
  1024;

/** Resident megabytes now. */
export const residentMemory = (pid: number): number => memory(pid, 'VmRSS');

/** The most resident megabytes so far. */
export const peakMemory = (pid: number): number => memory(pid, 'VmHWM');

/** The hub of a home. */
export function hubOf(home: EditorHome): number {
  const pid = home
    .processes()
    .find((it) => readFileSync(`/proc/${it}/cmdline`, 'utf8').includes('main.js\0hub\0'));
  if (pid === undefined) throw new Error('no hub runs in this home');
  return pid;
}
