// Agents that outlived their hub. Guarantees: only a process that is surely the recorded one (number, start time and boot),
// and whose owner is surely gone, is ended. Must not know: sessions, how agents are started.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import * as z from 'zod';
import type { Clock, Log } from '../session/ports.ts';

/** A process that cannot be mistaken for a later one of the same number. */
export const processMark = z.object({ pid: z.number(), started: z.string() });
export type ProcessMark = z.infer<typeof processMark>;

/** The mark of a living process; undefined when there is none, or its start cannot be told. */
export function markOf(pid: number): ProcessMark | undefined {
  const started = startOf(pid);
  return started === undefined ? undefined : { pid, started };
}

function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The program's name stands in parentheses and may hold anything; field 3 is the state, field 22 the start.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
      return `${boot}/${fields[19]}`;
    }
    if (process.platform === 'win32') return undefined;
    const options = { encoding: 'utf8' as const, stdio: 'pipe' as const, env: { LC_ALL: 'C' } };
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], options).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Bytes of memory of a process; undefined where the system does not tell them without another program. */
export function memoryOf(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/** Whether exactly this process lives. */
export const lives = (mark: ProcessMark): boolean => startOf(mark.pid) === mark.started;

/** Milliseconds between SIGTERM and SIGKILL. */
const grace = 2000;

/** Milliseconds between two looks whether they have gone, which nobody tells. */
const lookAgain = 20;

/**
 * Ends the agents of hubs that are gone: their stdin ended with the hub, so whoever still runs does not listen to that. Resolves when
 * none of them is left, so that a new agent of a session finds all that the old one wrote, and the file to itself.
 */
export async function sweepOrphans(
  agents: readonly { agent: ProcessMark; owner: ProcessMark }[],
  clock: Clock,
  log: Log,
): Promise<void> {
  const orphans = agents.filter(({ agent, owner }) => !lives(owner) && lives(agent));
  for (const { agent } of orphans) {
    log.warn({ pid: agent.pid }, 'an agent outlived its hub and is ended');
    signalGroup(agent.pid, 'SIGTERM');
    clock.after(grace, () => {
      if (lives(agent)) signalGroup(agent.pid, 'SIGKILL');
    });
  }
  for (const end = clock.now() + 2 * grace; orphans.some(({ agent }) => lives(agent)) && clock.now() < end; )
    await new Promise<void>((resolve) => void clock.after(lookAgain, resolve));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // No such group, or it has just gone.
    }
  }
}
