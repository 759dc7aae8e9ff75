// A plain client of an agent process, for the tests of agents alone. Guarantees: waits for lines, never for time; the process is
// gone after `kill`. Must not know: what the product does with an agent.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

// biome-ignore lint/suspicious/noExplicitAny: records are looked at field by field
export type Line = Record<string, any>;

export interface Talk {
  readonly child: ChildProcessWithoutNullStreams;
  /** All bytes of stdout so far. */
  output(): Buffer;
  /** Text of stderr so far. */
  errors(): string;
  /** Lines of stdout so far; one that is no JSON object is `{garbage}`. */
  readonly lines: readonly Line[];
  /** Writes a record or a raw text as a line. */
  send(line: Line | string): void;
  /** Sends a command with an id of its own and resolves with its response. */
  call(command: Line): Promise<Line>;
  /** The next line that fits, after those that were waited for; rejects when the process ends without one. */
  until(fits: string | ((line: Line) => boolean)): Promise<Line>;
  /** Resolves when at least this many lines came in all, or the process has ended. */
  count(lines: number): Promise<void>;
  close(): void;
  /** How it ended, after its output was read. */
  readonly end: Promise<{ code: number | null; signal: string | null }>;
  kill(): Promise<void>;
}

/** Starts an agent in a folder. `rpc: false` leaves out `--mode rpc`. */
export function talkTo(
  agent: { command: string; args: string[]; env?: Record<string, string> },
  { cwd = process.cwd(), rpc = true } = {},
): Talk {
  const child = spawn(agent.command, [...agent.args, ...(rpc ? ['--mode', 'rpc'] : [])], {
    cwd,
    env: { ...process.env, ...agent.env },
    detached: true,
  });
  const chunks: Buffer[] = [];
  const lines: Line[] = [];
  let errors = '';
  let held: Buffer[] = [];
  let seen = 0;
  let ids = 0;
  let over = false;
  let news = () => {};
  let newsCome = new Promise<void>((resolve) => {
    news = resolve;
  });
  const tell = () => {
    const told = news;
    newsCome = new Promise((resolve) => {
      news = resolve;
    });
    told();
  };
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    let start = 0;
    for (let lf = chunk.indexOf(10); lf >= 0; lf = chunk.indexOf(10, start)) {
      held.push(chunk.subarray(start, lf));
      lines.push(asLine(Buffer.concat(held).toString('utf8')));
      held = [];
      start = lf + 1;
    }
    if (start < chunk.length) held.push(chunk.subarray(start));
    tell();
  });
  const end = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('error', () => resolve({ code: null, signal: null }));
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  void end.then(() => {
    over = true;
    tell();
  });

  const send = (line: Line | string) => {
    child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  };
  const until = async (fits: string | ((line: Line) => boolean)): Promise<Line> => {
    for (;;) {
      for (; seen < lines.length; seen += 1) {
        const line = lines[seen]!;
        if (typeof fits === 'string' ? line.type === fits : fits(line)) return lines[seen++]!;
      }
      if (over) {
        const last = JSON.stringify(lines.slice(-3)).slice(-2_000);
        throw new Error(`the agent ended before ${String(fits)}; stderr: ${errors}; last lines: ${last}`);
      }
      await newsCome;
    }
  };
  return {
    child,
    output: () => Buffer.concat(chunks),
    errors: () => errors,
    lines,
    send,
    call(command) {
      ids += 1;
      const id = `talk-${ids}`;
      send({ id, ...command });
      return until((line) => line.type === 'response' && line.id === id);
    },
    until,
    async count(wanted) {
      while (lines.length < wanted && !over) await newsCome;
    },
    close: () => child.stdin.end(),
    end,
    async kill() {
      try {
        if (child.pid !== undefined && !over) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has left.
      }
      await end;
    },
  };
}

function asLine(text: string): Line {
  try {
    const value = JSON.parse(text) as Line | null;
    return value !== null && typeof value === 'object' ? value : { garbage: text };
  } catch {
    return { garbage: text };
  }
}
