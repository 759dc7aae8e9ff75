// What tests of the language server share: a hub of one session with a real journal and fold, and an editor that speaks
// JSON-RPC over a pair of streams. Guarantees that servers end after each test. Must not know what is tested.
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
import type { Connect } from '../../../server/src/editor/link.ts';
import { runLanguageServer, type ServerOptions } from '../../../server/src/editor/server.ts';
import type { HubClient } from '../../../server/src/hub/client.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { streamPair } from '../../../server/src/hub/memory.ts';
import type { Settings } from '../../../server/src/protocol/editor.ts';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import type { Dialog, Fact } from '../../../server/src/protocol/facts.ts';
import type { AttachParams, FactsBatch, IntentParams, ReadParams } from '../../../server/src/protocol/hub.ts';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { createJournal, type Journal } from '../../../server/src/session/journal.ts';
import { mergedFacts, nextBatch } from '../../../server/src/session/view.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

export interface FakeHub {
  connect: Connect;
  append(...facts: Fact[]): void;
  readonly journal: Journal;
  /** What came in, in order; the same id twice is kept twice. */
  intents: IntentParams[];
  reads: ReadParams[];
  attaches: AttachParams[];
  settings: Settings[];
  names: string[];
  /** What a reading command answers with. */
  data: Record<string, unknown>;
  /** Called for each intent; may throw, or keep it waiting. */
  onIntent: (intent: IntentParams) => void | Promise<void>;
  /** Called before each connection; may throw, or keep it waiting. */
  onConnect: () => void | Promise<void>;
  /** Every connection is lost; with `forget` the journal is, too. */
  die(how?: { forget?: boolean }): void;
  /** How many connections are open. */
  readonly open: number;
}

export const us = { id: 'p1', name: 'This editor' };
export const other = { id: 'p2', name: 'Helix' };

export function fakeHub(): FakeHub {
  let epoch = 1;
  let journal = createJournal(`e${epoch}`);
  let snapshot = emptySnapshot();
  const clients = new Set<{ lose(): void; pump(): void }>();

  const hub: FakeHub = {
    get journal() {
      return journal;
    },
    get open() {
      return clients.size;
    },
    intents: [],
    reads: [],
    attaches: [],
    settings: [],
    names: [],
    data: {},
    onIntent: () => {},
    onConnect: () => {},
    append(...facts) {
      for (const fact of facts) {
        snapshot = folded(snapshot, fact);
        journal.append(fact);
      }
      for (const client of clients) client.pump();
    },
    die({ forget = false } = {}) {
      if (forget) {
        epoch += 1;
        journal = createJournal(`e${epoch}`);
        snapshot = emptySnapshot();
      }
      for (const client of [...clients]) client.lose();
    },
    async connect(settings, name) {
      hub.settings.push(settings);
      hub.names.push(name);
      await hub.onConnect();
      const facts: ((batch: FactsBatch) => void)[] = [];
      const closes: (() => void)[] = [];
      let seq: number | undefined;
      let lost = false;
      const alive = () => {
        if (lost) throw new AtomicError('HubUnreachable', 'The connection to the hub was lost.');
      };
      const state = {
        lose() {
          if (lost) return;
          lost = true;
          clients.delete(state);
          for (const listener of closes) listener();
        },
        // As the real hub: in a later turn, neighbouring deltas merged.
        pump() {
          setImmediate(() => {
            while (!lost && seq !== undefined) {
              const batch = nextBatch(journal, seq, 65_536);
              if (batch === undefined || batch === 'resync') return;
              seq = batch.to;
              const merged = mergedFacts(batch.texts.map((text) => JSON.parse(text) as Fact));
              for (const listener of facts)
                listener({
                  session: '1',
                  epoch: journal.epoch,
                  from: batch.from,
                  to: batch.to,
                  facts: merged,
                });
            }
          });
        },
      };
      clients.add(state);
      const client: HubClient = {
        origin: us,
        version: '1.0.0',
        async attach(params) {
          alive();
          hub.attaches.push(params);
          const { cursor } = params;
          const continued = cursor?.epoch === journal.epoch && cursor.seq <= journal.last;
          seq = continued ? cursor.seq : journal.last;
          state.pump();
          return {
            session: '1',
            workspace: params.workspace,
            epoch: journal.epoch,
            seq,
            folder: '/nowhere',
            ...(!continued && { snapshot }),
          };
        },
        detach: async () => {},
        async intent(params) {
          alive();
          hub.intents.push(params);
          await hub.onIntent(params);
          alive();
          return { intent: params.id };
        },
        async read(params) {
          alive();
          hub.reads.push(params);
          if (!(params.command in hub.data))
            throw new AtomicError('AgentRefused', `The agent refused ${params.command}.`);
          return hub.data[params.command];
        },
        status: () => Promise.reject(new Error('not here')),
        stop: () => Promise.reject(new Error('not here')),
        onFacts: (listener) => void facts.push(listener),
        onResync: () => {},
        onClose: (listener) => void closes.push(listener),
        close: () => state.lose(),
      };
      return client;
    },
  };
  return hub;
}

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
