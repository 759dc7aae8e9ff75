// A herd: sixteen programs that want the hub at the same moment, on the socket that a killed hub left, while starters and hubs are
// killed by chance. Guarantees: what is killed when is drawn from the seed; what is wrong is told in sentences; no process is left
// after `close`. Must not know: the product's verbs, vitest.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hubAddress } from '../../server/src/hub/address.ts';
import { endProcesses, signalled } from '../editors/processes.ts';
import { bundled } from '../support/bundle.ts';
import type { EntryOptions } from '../support/hub-entry.ts';
import { randomOf } from './random.ts';

export interface HerdReport {
  problems: string[];
  /** Hub processes that were started, starters and hubs that were killed. */
  started: number;
  killed: { starters: number; hubs: number };
}
export interface Herds {
  /** One herd; the hub of the one before is killed first, so that its socket is in the way. */
  run(seed: number): Promise<HerdReport>;
  close(): Promise<void>;
}

const size = 16;
/** More killed hubs than a starter has patience for would be a failure that it may tell. */
const mostHubs = 2;
/** Milliseconds that a hub which is not needed may take to leave. */
const leaving = 60_000;

interface Kill {
  /** After so many signs of life: hubs that began, starters that ended. */
  after: number;
  /** Milliseconds after that. */
  pause: number;
  whom: 'starter' | 'hub';
}

export async function createHerds(): Promise<Herds> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'a herd-'));
  const entry = path.join(folder, 'entry.mjs');
  const options: EntryOptions = {
    runtimeDir: path.join(folder, 'run'),
    state: path.join(folder, 'state'),
    started: path.join(folder, 'pids', 'started'),
  };
  for (const made of [options.runtimeDir, path.dirname(options.started)]) fs.mkdirSync(made, { mode: 0o700 });
  const address = hubAddress({
    platform: process.platform,
    uid: process.getuid?.(),
    runtimeDir: options.runtimeDir,
  });
  await bundled(path.join(import.meta.dirname, '../support/hub-entry.ts'), entry);

  /** Every living hub, whoever started it. */
  const hubs = () => processesOf(entry, 'hub');
  const shown = () =>
    fs.existsSync(options.started)
      ? fs.readFileSync(options.started, 'utf8').split('\n').slice(0, -1).map(Number)
      : [];
  const starter = () => {
    const child = spawn(process.execPath, [entry, 'start', JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, error] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (error += chunk));
    const ended = once(child, 'close').then(([code]) => ({ child, code: code as number | null, out, error }));
    return { child, ended };
  };
  const one = async () => {
    const { code, out, error } = await starter().ended;
    if (code !== 0) throw new Error(`a starter alone failed: ${error}`);
    return Number(out);
  };

  return {
    async run(seed) {
      const random = randomOf(seed);
      const kills: Kill[] = Array.from({ length: random.below(10) }, () => ({
        after: random.below(size + 2),
        pause: random.below(random.pick([2, 40, 300])),
        whom: random.chance(0.3) ? 'hub' : 'starter',
      }));
      const order = Array.from({ length: size }, () => random.below(size));
      const problems: string[] = [];
      const killed = new Map<number, number>();
      let killedStarters = 0;

      await killedHub(hubs().length > 0 ? hubs() : [await one()], address.socket);
      const before = shown().length;
      const starters = Array.from({ length: size }, starter);
      let signs = 0;
      const waiting = [...kills];
      const strike = async ({ pause, whom }: Kill) => {
        await new Promise((resolve) => setTimeout(resolve, pause));
        if (whom === 'starter') {
          const child = starters[order.pop() ?? 0]!.child;
          if (running(child) && child.kill('SIGKILL')) killedStarters += 1;
          return;
        }
        const pid = shown().slice(before).at(-1);
        if (pid === undefined || killed.size >= mostHubs || !hubs().includes(pid)) return;
        killed.set(pid, Date.now());
        signalled(pid, 'SIGKILL');
      };
      const strikes: Promise<void>[] = [];
      const sign = () => {
        for (const kill of waiting.filter(({ after }) => after <= signs)) {
          waiting.splice(waiting.indexOf(kill), 1);
          strikes.push(strike(kill));
        }
        signs += 1;
      };
      let seen = before;
      const look = () => {
        for (; seen < shown().length; seen += 1) sign();
      };
      const watcher = fs.watch(path.dirname(options.started), look);
      sign();
      const ended = await Promise.all(starters.map(({ ended: end }) => end.finally(sign)));
      await Promise.all(strikes);
      watcher.close();

      const pid = await one();
      problems.push(...starterProblems(ended, pid, killed));
      const alone = await until(() => hubs().every((it) => it === pid), leaving);
      if (!alone) problems.push(`besides the hub ${pid} there are: ${hubs().join(', ')}`);
      problems.push(...overlaps(path.join(options.state, 'log', 'hub.log'), shown().slice(before), killed));
      const left = fs
        .readdirSync(path.dirname(address.socket))
        .filter((name) => name !== path.basename(address.socket));
      if (left.length > 0) problems.push(`beside the socket lies: ${left.join(', ')}`);
      return {
        problems,
        started: shown().length - before,
        killed: { starters: killedStarters, hubs: killed.size },
      };
    },
    async close() {
      await endProcesses(() => [...processesOf(entry, 'start'), ...hubs()]);
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const running = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

async function killedHub(pids: number[], socket: string): Promise<void> {
  await endProcesses(() => pids.filter((pid) => fs.existsSync(`/proc/${pid}/exe`) && signalled(pid, 0)));
  if (!fs.existsSync(socket)) throw new Error('a killed hub left no socket, so there is nothing to try');
}

/** What became of the starters that were not killed; `pid` is the hub that whoever comes later is led to. */
export function starterProblems(
  ended: readonly { child: { killed: boolean }; code: number | null; out: string; error: string }[],
  pid: number,
  killed: ReadonlyMap<number, number>,
): string[] {
  return ended.flatMap(({ child, code, out, error }) => {
    if (child.killed) return [];
    if (code !== 0)
      return killed.size > 0 && /connection to the hub was lost/.test(error)
        ? []
        : [`a starter failed: ${error.trim()}`];
    return Number(out) === pid || killed.has(Number(out))
      ? []
      : [`a starter was led to ${out.trim()}, which was never killed, another to ${pid}`];
  });
}

/** Hubs that began to listen while an earlier one of this herd still lived, by their log. `killed`: when, by process. */
export function overlaps(log: string, pids: number[], killed: Map<number, number>): string[] {
  const listened = fs
    .readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const { pid, msg, time } = JSON.parse(line) as { pid: number; msg: string; time: string };
        return msg === 'the hub listens' && pids.includes(pid) ? [{ pid, time: Date.parse(time) }] : [];
      } catch {
        return [];
      }
    })
    .sort((a, b) => a.time - b.time);
  return listened.slice(1).flatMap(({ pid, time }, index) => {
    const before = listened[index]!.pid;
    const end = killed.get(before);
    return end !== undefined && end <= time ? [] : [`the hub ${pid} began to listen while ${before} lived`];
  });
}

/** Looks again and again: the end of a process that is no child has no event. */
async function until(holds: () => boolean, patience: number): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    if (holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return holds();
}

function processesOf(entry: string, verb: string): number[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    try {
      const words = /^\d+$/.test(name) ? fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') : [];
      return words[1] === entry && words[2] === verb ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
