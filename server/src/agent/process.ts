// The agent as a process: started in its own group, written to, read, ended. Guarantees: no shell; writing never throws;
// stderr is always drained and its end kept; the end is told once, after the output was read (or a short while after the exit
// where a grandchild keeps the pipe open). Must not know: what the lines say.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock } from '../session/ports.ts';

export interface ProcessEnd {
  code: number | null;
  signal: string | null;
}

export interface AgentProcess {
  readonly pid: number | undefined;
  /** Writes bytes to stdin; silently nothing once the process or its stdin is gone. Returns whether it was taken. */
  write(line: string): boolean;
  /** Closes stdin after what was written. */
  closeInput(): void;
  /** SIGTERM to the group. */
  terminate(): void;
  /** SIGKILL to the group and, where the system shows them, to everything that came from it. */
  kill(): void;
  /** Stops and continues reading stdout. */
  pause(): void;
  resume(): void;
  /** The last 64 KiB of stderr as text. */
  lastWords(): string;
  readonly ended: boolean;
}

export interface ProcessHandlers {
  output(chunk: Buffer): void;
  /** The process has ended and its output was read. */
  end(end: ProcessEnd): void;
}

export interface Command {
  path: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** Bytes of stderr that are kept. */
const stderrKept = 65_536;
/** Milliseconds that output is still waited for after the exit, where somebody else holds the pipe. */
const drainLimit = 1_000;
/** Milliseconds a child may take to leave after closing stdin, and after SIGTERM. */
export const ladder = { settle: 2_000, close: 5_000, terminate: 2_000 };

/**
 * Starts a program; resolves once it runs. Rejects with `AgentNotFound` when the program is not there or cannot be run, and
 * with `AgentStartFailed` when the folder is not there.
 */
export function startProcess(
  command: Command,
  clock: Clock,
  handlers: ProcessHandlers,
): Promise<AgentProcess> {
  if (!isFolder(command.cwd))
    return Promise.reject(
      new AtomicError(
        'AgentStartFailed',
        `The workspace folder ${command.cwd} does not exist or is not a folder: open a folder that exists.`,
      ),
    );
  return new Promise((resolve, reject) => {
    const child = spawn(command.path, command.args, {
      cwd: command.cwd,
      env: command.env,
      // Its own group, so that a Ctrl-C in the editor's terminal does not hit it and a stop reaches its children.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
    });
    const { stdin, stdout, stderr } = child;
    let end: ProcessEnd | undefined;
    let told = false;
    let cancelDrain = () => {};

    const tell = () => {
      if (told || !end) return;
      told = true;
      cancelDrain();
      handlers.end(end);
    };

    const words = tailOf(stderr, stderrKept);
    stdin.on('error', () => {});
    stdout.on('error', () => {});
    stderr.on('error', () => {});
    stdout.on('data', (chunk: Buffer) => handlers.output(chunk));
    const signalGroup = (name: 'SIGTERM' | 'SIGKILL') => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // The group is empty: everybody has left.
      }
    };
    child.on('exit', (code, signal) => {
      end = { code, signal };
      // What it left behind in its group serves nobody any more.
      signalGroup('SIGKILL');
      cancelDrain = clock.after(drainLimit, () => {
        stdout.destroy();
        stderr.destroy();
        tell();
      });
    });
    // After the exit, when both outputs have been read to their end.
    child.on('close', tell);
    child.once('error', (error: NodeJS.ErrnoException) => {
      // After the start this is a failed signal, which the exit tells better.
      if (child.pid !== undefined) return;
      reject(
        new AtomicError(
          'AgentNotFound',
          `The agent program ${command.path} could not be started (${startProblem(error)}): install it again, or name another with initializationOptions.agent.command.`,
          { command: command.path, code: error.code },
        ),
      );
    });
    child.once('spawn', () =>
      resolve({
        pid: child.pid,
        write(line) {
          if (end || stdin.destroyed || stdin.writableEnded) return false;
          stdin.write(line);
          return true;
        },
        closeInput() {
          if (!stdin.destroyed && !stdin.writableEnded) stdin.end();
        },
        terminate: () => signalGroup('SIGTERM'),
        kill() {
          if (end || child.pid === undefined) return;
          // An agent gives each shell a group of its own, and a killed agent cannot end them.
          const family = descendantsOf(child.pid);
          signalGroup('SIGKILL');
          for (const pid of family) killOne(pid);
        },
        pause: () => void stdout.pause(),
        resume: () => void stdout.resume(),
        lastWords: words,
        get ended() {
          return end !== undefined;
        },
      }),
    );
  });
}

/** Why the system refused to start a program, in words. */
function startProblem(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return 'it, or the interpreter that its first line names, does not exist';
    case 'EACCES':
      return 'permission denied';
    case 'ENOEXEC':
      return 'it is not a program';
    case 'E2BIG':
      return 'its arguments and environment are too large';
    default:
      return error.code ?? error.message;
  }
}

/** All processes that descend from this one, by /proc; none where there is no /proc. */
function descendantsOf(root: number): number[] {
  const children = new Map<number, number[]>();
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  for (const name of names) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The program's name, in parentheses, may hold anything; the parent is the second field after it.
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has just ended.
    }
  }
  const found: number[] = [];
  for (let next = [root]; next.length > 0; ) {
    next = next.flatMap((pid) => children.get(pid) ?? []);
    found.push(...next);
  }
  return found;
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Drains a stream and returns a function that gives its last `limit` bytes as text. */
function tailOf(stream: Readable, limit: number): () => string {
  let chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= 2 * limit) return;
    const kept = Buffer.from(Buffer.concat(chunks).subarray(-limit));
    chunks = [kept];
    bytes = kept.length;
  });
  return () => Buffer.concat(chunks).subarray(-limit).toString('utf8');
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
