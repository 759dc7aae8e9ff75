// Stand-ins for the agent's tests: a clock that is moved by hand, a process that is none, a recorder of what the session hears.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createLink } from '../../../server/src/agent/link.ts';
import type { AgentProcess } from '../../../server/src/agent/process.ts';
import type { AgentFact, Dialog } from '../../../server/src/protocol/facts.ts';
import type { AgentEvents, AgentExit, Clock, Log } from '../../../server/src/session/ports.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs what is due, in order, letting promises settle in between. */
  advance(milliseconds: number): Promise<void>;
  advanceTo(time: number): Promise<void>;
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function manualClock(): ManualClock {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const advanceTo = async (time: number) => {
    for (;;) {
      const due = timers.filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      now = Math.max(now, due.at);
      timers = timers.filter((timer) => timer !== due);
      due.run();
      await turn();
    }
    now = Math.max(now, time);
  };
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advanceTo,
    advance: (milliseconds) => advanceTo(now + milliseconds),
  };
}

export const realClock: Clock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Everything that a log was told, as one text. */
export function recordingLog(): Log & { text(): string } {
  const entries: unknown[] = [];
  const note =
    (level: string) =>
    (...about: unknown[]) =>
      void entries.push([level, ...about]);
  return {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    text: () => entries.map((entry) => JSON.stringify(entry)).join('\n'),
  };
}

export type Heard =
  | { fact: AgentFact }
  | { dialog: Omit<Dialog, 'openedAt'> }
  | { withdrawn: string }
  | { exit: AgentExit };

export function recorder(also: (heard: Heard) => void = () => {}): AgentEvents & { heard: Heard[] } {
  const heard: Heard[] = [];
  const note = (entry: Heard) => {
    heard.push(entry);
    also(entry);
  };
  return {
    heard,
    fact: (fact) => note({ fact }),
    dialog: (dialog) => note({ dialog }),
    dialogWithdrawn: (id) => note({ withdrawn: id }),
    exit: (exit) => note({ exit }),
  };
}

export const factsOf = (heard: Heard[]): AgentFact[] =>
  heard.flatMap((entry) => ('fact' in entry ? [entry.fact] : []));

/** A link to an agent that is this test. */
export function fakeAgent(log: Log = silent, also?: (heard: Heard) => void) {
  const clock = manualClock();
  const events = recorder(also);
  const link = createLink({ clock, log }, events);
  const written: Record<string, unknown>[] = [];
  let inputClosed = false;
  const process: AgentProcess = {
    pid: 1,
    write(line) {
      if (inputClosed) return false;
      written.push(JSON.parse(line) as Record<string, unknown>);
      return true;
    },
    closeInput() {
      inputClosed = true;
    },
    terminate() {},
    kill() {},
    pause() {},
    resume() {},
    lastWords: () => '',
    ended: false,
  };
  const agent = link.agent(process, { command: 'atomic', name: 'atomic', demo: false });
  return {
    clock,
    agent,
    written,
    heard: events.heard,
    facts: () => factsOf(events.heard),
    end: link.end,
    output: link.output,
    /** What the agent writes: records, one a line; resolves when everything was heard. */
    async says(...records: object[]) {
      for (const record of records) {
        link.output(Buffer.from(`${JSON.stringify(record)}\n`));
        await turn();
      }
    },
  };
}

export interface TraceLine {
  t: number;
  dir: 'in' | 'out';
  line: string;
  note?: string;
}

const tracesRoot = fileURLToPath(new URL('../../traces/', import.meta.url));

/** Names of the recordings, `atomic-0.9.15/tool-bash`. */
export const traceNames = (): string[] =>
  ['atomic-0.9.15', 'pi-1.6.0', 'pi-0.58.3'].flatMap((folder) =>
    readdirSync(`${tracesRoot}${folder}`)
      .filter((file) => file.endsWith('.jsonl'))
      .map((file) => `${folder}/${file.slice(0, -'.jsonl'.length)}`),
  );

/** The lines of a recording in the order of time. */
export const trace = (name: string): TraceLine[] =>
  readFileSync(`${tracesRoot}${name}.jsonl`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TraceLine)
    .sort((a, b) => a.t - b.t);
