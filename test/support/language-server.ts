// The built language server as a process, spoken to as a rich client would. Guarantees: a private home, so that the hub and every
// agent it starts are gone after `close`; waiting is for messages and never for time. Must not know: what is tested.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import type { EditorAttachResult } from '../../server/src/protocol/editor.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { AgentChoice, FactsBatch } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { projectFolder } from '../editors/project.ts';

/** The built program. */
export const program = join(import.meta.dirname, '../../dist/main.js');

export interface LanguageServer {
  home: EditorHome;
  workspace: string;
  child: ChildProcess;
  /** The answer to its `atomic/attach`, which begins the events. */
  attached: EditorAttachResult;
  /** Bytes that the server has written. */
  written(): number;
  /** Batches of `atomic/events` so far. */
  batches: FactsBatch[];
  facts(): Fact[];
  request<T = unknown>(method: string, params?: object): Promise<T>;
  notify(method: string, params: object): Promise<void>;
  execute<T = unknown>(command: string, ...args: unknown[]): Promise<T>;
  /** Answers requests of the server. */
  onRequest(method: string, answer: (params: never) => unknown): void;
  /** Notifications of the server, all of this method so far. */
  notified(method: string): unknown[];
  /** The first fact, past or future, that matches. */
  fact(matches: (fact: Fact) => boolean): Promise<Fact>;
  /** The first notification, past or future, that matches. */
  notification(method: string, matches?: (params: never) => boolean): Promise<unknown>;
  close(): Promise<void>;
}

export interface LanguageServerOptions {
  agent?: AgentChoice;
  home?: EditorHome;
  args?: string[];
  initializationOptions?: object;
  capabilities?: object;
}

/** Peak resident memory of a process in bytes (Linux). */
export const peakMemory = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;

/** Starts the server, introduces itself and follows the session of the workspace. */
export async function startLanguageServer(options: LanguageServerOptions = {}): Promise<LanguageServer> {
  const home = options.home ?? createEditorHome();
  const workspace = projectFolder(home, undefined);
  const child = spawn(process.execPath, [program, ...(options.args ?? ['--stdio'])], {
    env: home.env,
    cwd: home.path,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout!),
    new StreamMessageWriter(child.stdin!),
  );
  child.stdin!.on('error', () => {});
  child.stderr!.resume();
  let written = 0;
  child.stdout!.on('data', (chunk: Buffer) => {
    written += chunk.length;
  });
  const notifications: { method: string; params: unknown }[] = [];
  const batches: FactsBatch[] = [];
  const listeners = new Set<() => void>();
  connection.onNotification((method, params) => {
    notifications.push({ method, params });
    if (method === 'atomic/events') batches.push(params as unknown as FactsBatch);
    for (const listener of [...listeners]) listener();
  });
  connection.onError(() => {});
  connection.listen();
  /** `read` is asked again after each notification, with nothing that it has seen before. */
  const until = <T>(read: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = () => {
        const found = read();
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
    });
  const server: LanguageServer = {
    home,
    workspace,
    child,
    attached: undefined as never,
    written: () => written,
    batches,
    facts: () => batches.flatMap((batch) => batch.facts),
    request: (method, params) => connection.sendRequest(method, params),
    notify: (method, params) => connection.sendNotification(method, params),
    execute: (command, ...args) =>
      connection.sendRequest('workspace/executeCommand', { command, arguments: args }),
    onRequest: (method, answer) => void connection.onRequest(method, answer as never),
    notified: (method) => notifications.filter((it) => it.method === method).map((it) => it.params),
    fact(matches) {
      let seen = 0;
      return until(() => {
        while (seen < batches.length) {
          const found = batches[seen]!.facts.find(matches);
          seen += 1;
          if (found) return found;
        }
      });
    },
    notification(method, matches = () => true) {
      let seen = 0;
      return until(() => {
        while (seen < notifications.length) {
          const it = notifications[seen]!;
          seen += 1;
          if (it.method === method && matches(it.params as never)) return it.params ?? {};
        }
      });
    },
    async close() {
      connection.dispose();
      const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.stdin!.end();
      await exited;
      if (!options.home) await home.close();
    },
  };
  await server.request('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(workspace).href,
    capabilities: options.capabilities ?? { window: { workDoneProgress: true, showMessage: {} } },
    clientInfo: { name: 'test' },
    initializationOptions: {
      ...(options.agent && { agent: options.agent }),
      client: { name: 'test', events: true, dialogs: true },
      ...options.initializationOptions,
    },
  });
  await connection.sendNotification('initialized', {});
  server.attached = await server.request<EditorAttachResult>('atomic/attach', {});
  return server;
}

/** An id for an intent. */
export const intentId = (): string => randomUUID();
