// A language client that costs next to nothing, so that what is measured is the server. Guarantees: answers are parsed, notifications
// only looked at as bytes; what it started is gone after `close`. Must not know: what is measured.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { frame, frameSplitter } from '../../server/src/hub/frames.ts';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { projectFolder } from '../editors/project.ts';

/** The built program. */
export const program = join(import.meta.dirname, '../../dist/main.js');
const here = (name: string) => join(import.meta.dirname, name);

/** The benchmarks' own agent. */
export const benchAgent = (dialect = 'D2'): AgentChoice => ({
  command: process.execPath,
  args: [here('bench-agent.mjs'), dialect],
});

/** A prompt for the benchmarks' agent: see bench-agent.mjs. */
export interface Job {
  job: 'paced' | 'flood' | 'tool';
  [how: string]: unknown;
}

export interface BenchEditor {
  home: EditorHome;
  child: ChildProcess;
  pid: number;
  /** Bytes that came so far. */
  bytes(): number;
  /** Each chunk with the time of its arrival in nanoseconds. */
  onChunk(listener: (chunk: Buffer, at: bigint) => void): void;
  /** Each notification or request of the server, as text. */
  onText(listener: (text: string) => void): void;
  request<T = unknown>(method: string, params: object): Promise<T>;
  notify(method: string, params: object): void;
  /** Sends a job and waits until its end is told, by a fact or in a snapshot. */
  run(job: Job): Promise<void>;
  /** The next notification with this text. */
  seen(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface BenchEditorOptions {
  agent?: AgentChoice;
  /** Shared with other editors; absent: its own. */
  home?: EditorHome;
  hub?: boolean;
  /** Whether it takes `atomic/events`. */
  events?: boolean;
  capabilities?: object;
  clientName?: string;
  /** The Node that runs the server. */
  node?: string;
  /** Another program than the server, started like it. */
  command?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Starts a server; resolves when `initialize` is answered. */
export async function startedServer(options: BenchEditorOptions = {}): Promise<BenchEditor> {
  const home = options.home ?? createEditorHome();
  const workspace = projectFolder(home, undefined);
  const [command, ...args] = options.command ?? [
    options.node ?? process.execPath,
    program,
    ...(options.hub === false ? ['--no-hub'] : []),
    '--stdio',
  ];
  const child = spawn(command!, args, {
    cwd: workspace,
    env: { ...home.env, ...options.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const stdin = child.stdin!;
  stdin.on('error', () => {});
  const chunkListeners: ((chunk: Buffer, at: bigint) => void)[] = [];
  const textListeners = new Set<(text: string) => void>();
  const waiting = new Map<number, (message: { result?: unknown; error?: { message: string } }) => void>();
  let bytes = 0;
  let ids = 0;
  let jobs = 0;
  const send = (message: object) => stdin.write(frame(JSON.stringify({ jsonrpc: '2.0', ...message })));
  const split = frameSplitter((text) => {
    if (text.startsWith('{"jsonrpc":"2.0","id":')) {
      const message = JSON.parse(text);
      // A request of the server is agreed to.
      if (message.method) {
        send({ id: message.id, result: message.method === 'workspace/applyEdit' ? { applied: true } : null });
      } else {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
        return;
      }
    }
    for (const listener of [...textListeners]) listener(text);
  });
  child.stdout!.on('data', (chunk: Buffer) => {
    const at = process.hrtime.bigint();
    bytes += chunk.length;
    for (const listener of chunkListeners) listener(chunk, at);
    split(chunk);
  });
  const request = <T>(method: string, params: object): Promise<T> =>
    new Promise((resolve, reject) => {
      ids += 1;
      waiting.set(ids, ({ result, error }) => {
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result as T);
      });
      send({ id: ids, method, params });
    });
  const seen = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = (text: string) => {
        if (!text.includes(wanted)) return;
        textListeners.delete(look);
        resolve();
      };
      textListeners.add(look);
    });
  child.once('exit', (code) => {
    for (const answer of waiting.values()) answer({ error: { message: `the server ended with ${code}` } });
  });
  const editor: BenchEditor = {
    home,
    child,
    pid: child.pid!,
    bytes: () => bytes,
    onChunk: (listener) => void chunkListeners.push(listener),
    onText: (listener) => void textListeners.add(listener),
    request,
    notify: (method, params) => void send({ method, params }),
    async run(job) {
      jobs += 1;
      const end = seen(`"ended ${jobs}"`);
      const argument = { message: JSON.stringify({ ...job, end: jobs }) };
      await request('workspace/executeCommand', { command: 'atomic.prompt', arguments: [argument] });
      await end;
    },
    seen,
    async close() {
      const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      stdin.end();
      await exited;
      if (!options.home) await home.close();
    },
  };
  await request('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(workspace).href,
    capabilities: options.capabilities ?? {},
    clientInfo: { name: options.clientName ?? 'bench' },
    initializationOptions: {
      ...(options.agent && { agent: options.agent }),
      ...(options.events !== false && { client: { name: 'bench', events: true, dialogs: true } }),
    },
  });
  return editor;
}

/** Starts a server that follows the session of its workspace. */
export async function startEditor(options: BenchEditorOptions = {}): Promise<BenchEditor> {
  const editor = await startedServer({ agent: benchAgent(), ...options });
  editor.notify('initialized', {});
  if (options.events !== false) await editor.request('atomic/attach', {});
  return editor;
}
