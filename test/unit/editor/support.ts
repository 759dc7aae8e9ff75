// What tests of the language server share: an editor that speaks JSON-RPC over a pair of streams, and facts. Guarantees that
// servers end after each test. Must not know what is tested.
import type { Duplex } from 'node:stream';
import { afterEach } from 'vitest';
import {
  type CancellationToken,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { runLanguageServer, type ServerOptions } from '../../../server/src/editor/server.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { streamPair } from '../../../server/src/hub/memory.ts';
import type { Dialog, Fact } from '../../../server/src/protocol/facts.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';
import { type FakeHub, fakeHub, us } from './fake-hub.ts';

export { fakeHub, other, us } from './fake-hub.ts';

export interface Received {
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  params: any;
}

export interface FakeEditor {
  connection: MessageConnection;
  clock: FakeClock;
  hub: FakeHub;
  /** Notifications and requests that came, in order. */
  received: Received[];
  exit: Promise<number>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  initialized: any;
  /** Our end of the pair of streams. */
  stream: Duplex;
  execute(command: string, ...args: unknown[]): Promise<unknown>;
  /** The error of a request that has to fail. */
  failure(request: Promise<unknown>): Promise<{ code: number; message: string; data: { name: string } }>;
  /** What came of a method so far. */
  of(method: string): Received['params'][];
  /** Resolves with what came of a method, when there are so many. */
  until(method: string, count?: number): Promise<Received['params'][]>;
  /** Resolves when it holds; looked at whenever something has come or a turn has passed. */
  when(holds: () => boolean): Promise<void>;
  messages(): string[];
  /** How requests of the server are answered; a method without an answer is unknown. */
  answers: Record<string, (params: Received['params'], token: CancellationToken) => unknown>;
}

const servers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of servers.splice(0)) await end();
});

export interface EditorHow {
  name?: string;
  capabilities?: object;
  options?: object;
  params?: object;
  answers?: FakeEditor['answers'];
  hub?: FakeHub;
  server?: Partial<ServerOptions>;
  /** Does not send `initialized`. */
  quiet?: boolean;
}

/** An editor that has sent `initialize` and `initialized`. */
export async function startEditor(how: EditorHow = {}): Promise<FakeEditor> {
  const hub = how.hub ?? fakeHub();
  const clock = fakeClock();
  const [ours, theirs] = streamPair();
  const exit = runLanguageServer({
    connect: hub.connect,
    input: theirs,
    output: theirs,
    log: silentLog,
    version: '1.2.3',
    folder: '/cwd',
    clock,
    ...how.server,
  });
  const connection = createMessageConnection(new StreamMessageReader(ours), new StreamMessageWriter(ours));
  const received: Received[] = [];
  const editor: FakeEditor = {
    connection,
    clock,
    hub,
    received,
    exit,
    initialized: undefined,
    stream: ours,
    answers: { 'window/workDoneProgress/create': () => null, ...how.answers },
    execute: (command, ...args) =>
      connection.sendRequest('workspace/executeCommand', {
        command,
        ...(args.length > 0 && { arguments: args }),
      }),
    failure: (request) =>
      request.then(
        (value) => {
          throw new Error(`did not fail: ${JSON.stringify(value)}`);
        },
        (error) => error,
      ),
    of: (method) => received.filter((it) => it.method === method).map(({ params }) => params),
    async until(method, count = 1) {
      await editor.when(() => editor.of(method).length >= count);
      return editor.of(method);
    },
    async when(holds) {
      while (!holds()) await turn();
    },
    messages: () => editor.of('window/showMessage').map(({ message }) => message),
  };
  connection.onNotification((method, params) => void received.push({ method, params }));
  // vscode-jsonrpc keeps progress from the handler of everything.
  connection.onNotification('$/progress', (params) => void received.push({ method: '$/progress', params }));
  connection.onRequest((method, params, token) => {
    received.push({ method, params });
    const answer = editor.answers[method];
    if (answer) return answer(params, token);
    return new ResponseError(-32601, 'unknown method');
  });
  connection.onError(() => {});
  connection.listen();
  servers.push(async () => {
    ours.destroy();
    await exit;
    connection.dispose();
  });
  editor.initialized = await connection.sendRequest('initialize', {
    processId: null,
    rootUri: 'file:///project',
    capabilities: { window: { workDoneProgress: true, showMessage: {} }, ...how.capabilities },
    clientInfo: { name: how.name ?? 'Neovim' },
    ...(how.options && { initializationOptions: how.options }),
    ...how.params,
  });
  if (!how.quiet) await connection.sendNotification('initialized', {});
  return editor;
}

/** Resolves when the editor follows the session. */
export const attached = (editor: FakeEditor): Promise<void> =>
  editor.when(() => editor.hub.attaches.length > 0).then(turn);

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const delta = (text: string): Fact => ({
  type: 'message_update',
  assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: text },
});
export const opened = (dialog: Partial<Dialog> & { id: string }): Fact => ({
  type: 'dialog_opened',
  dialog: { method: 'select', title: 'Which?', openedAt: 1, ...dialog },
});
export const settled = (id: string, by = us, outcome: 'answered' | 'expired' = 'answered'): Fact => ({
  type: 'dialog_settled',
  id,
  outcome,
  ...(outcome === 'answered' && { by }),
});
