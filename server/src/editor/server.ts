// The language server. Guarantees: `initialize` waits for neither hub nor agent; every request has one answer, every error the
// one form; whatever the end is (exit, end of input, a dead editor, a signal), the connection to the hub is closed and
// the exit code told, once. Must not know: argv, the environment, how a hub is reached.
import type { Readable, Writable } from 'node:stream';
import { ResponseError } from 'vscode-jsonrpc/node';
import {
  type CancellationToken,
  createConnection,
  type InitializeParams,
  type InitializeResult,
  type ProtocolConnection,
  TextDocumentSyncKind,
  type WatchDog,
  type WorkspaceFoldersChangeEvent,
} from 'vscode-languageserver';
import { systemClock } from '../hub/clock.ts';
import { commandTable } from '../protocol/commands.ts';
import { editorMethods, executeParams, type Settings } from '../protocol/editor.ts';
import { AtomicError, errorShape, withLog } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import { checked } from './checked.ts';
import { createClient } from './client.ts';
import { type Traits, traitsOf } from './client-table.ts';
import { createEditor, type Editor, type SessionOf } from './editor.ts';
import { allQuestions, questionParams } from './features.ts';
import type { Connect } from './line.ts';
import { defaultSettings, settingsFrom } from './settings.ts';
import { createTransport } from './transport.ts';

export interface ServerOptions {
  connect: Connect;
  /** The editor's streams, e.g. stdin and stdout. */
  input: Readable;
  output: Writable;
  log: Log;
  /** The package's version. */
  version: string;
  /** Settings that the command line gives (`{hub: false}` for `--no-hub`). */
  settings?: Partial<Settings>;
  /** The working directory; where an editor that names no folder is taken to work. */
  folder: string;
  /** The session that a file belongs to, when it is one of ours. */
  sessionOf?: SessionOf;
  /** The folder of log files, named in every error. */
  logs?: string;
  clock?: Clock;
  /** Whether a process lives. */
  isAlive?: (pid: number) => boolean;
  /** Ends the server, as SIGTERM does. */
  signal?: AbortSignal;
  /** Resolves when everything that `connect` made has ended (a private hub's agents); waited for a few seconds. */
  ended?: () => Promise<unknown>;
}

/** Milliseconds between looks at the editor's process, and for which a private hub's end is waited. */
const watchEvery = 3000;
const farewell = 9000;

/**
 * Serves one editor until it is gone; resolves with the exit code: 0 after `shutdown`, otherwise 1 (LSP: "Exit
 * Notification"). Never rejects.
 */
export function runLanguageServer(options: ServerOptions): Promise<number> {
  const { log, logs, clock = systemClock, isAlive = processLives } = options;
  return new Promise((resolve) => {
    const transport = createTransport(options.input, options.output, log);
    let editor: Editor | undefined;
    let traits: Traits = traitsOf({ processId: null, rootUri: null, capabilities: {} }, undefined);
    let ending = false;
    let cancelWatch = () => {};
    const client = createClient({
      connection: transport.connection,
      clock,
      log,
      traits: () => traits,
      ...(logs !== undefined && { logs }),
    });

    const end = async (code: number, why: string) => {
      if (ending) return;
      ending = true;
      log.info({ code, why }, 'the server ends');
      cancelWatch();
      editor?.close();
      client.end();
      await transport.flushed();
      transport.dispose();
      if (options.ended)
        await Promise.race([
          options.ended().catch((error: unknown) => log.warn({ error }, 'a private hub did not end cleanly')),
          new Promise<void>((late) => void clock.after(farewell, late)),
        ]);
      resolve(code);
    };
    const watchDog: WatchDog = {
      shutdownReceived: false,
      initialize(params) {
        const pid = params.processId;
        if (typeof pid !== 'number') return;
        // In a container the editor's process may be invisible from the start: that says nothing.
        if (!isAlive(pid)) {
          params.processId = null;
          return;
        }
        const watch = () => {
          if (!isAlive(pid)) return void end(codeNow(), 'the editor’s process is gone');
          cancelWatch = clock.after(watchEvery, watch);
        };
        cancelWatch = clock.after(watchEvery, watch);
      },
      exit: (code) => void end(code, 'exit'),
    };
    const codeNow = () => (watchDog.shutdownReceived ? 0 : 1);

    const connection = createConnection(() => transport.connection as ProtocolConnection, watchDog);
    /** A handler whose requests to the editor wait for its answer, and whose errors have the one form. */
    const answered =
      <P>(handle: (editor: Editor, params: P) => unknown) =>
      async (params: P): Promise<unknown> => {
        const release = client.hold();
        try {
          if (!editor || watchDog.shutdownReceived) throw notReady(watchDog.shutdownReceived);
          return (await handle(editor, params)) ?? null;
        } catch (error) {
          const { code, message, data } = errorShape(error);
          if (data.name === 'Internal') log.error({ error }, 'a request failed');
          return logs === undefined
            ? new ResponseError(code, message, data)
            : new ResponseError(code, withLog(error, logs), { ...data, log: logs });
        } finally {
          // The answer is written in this turn.
          setImmediate(release);
        }
      };

    connection.onInitialize((params) => {
      if (editor) {
        const { code, message, data } = errorShape(initializedAlready());
        return new ResponseError(code, message, { ...data, retry: false });
      }
      const { settings } = settingsFrom(params.initializationOptions, defaultSettings, true);
      traits = traitsOf(params, settings.client);
      log.info({ editor: params.clientInfo, name: traits.name }, 'an editor has joined');
      editor = createEditor({
        params,
        client,
        transport,
        connect: options.connect,
        ...(options.settings && { settings: options.settings }),
        folder: options.folder,
        ...(options.sessionOf && { sessionOf: options.sessionOf }),
        clock,
        log,
        isAlive,
      });
      // Only now: vscode-languageserver takes these notifications for itself during initialize.
      connection.onNotification('window/workDoneProgress/cancel', ({ token }: { token: unknown }) =>
        editor?.cancelProgress(token),
      );
      connection.onNotification(
        'workspace/didChangeWorkspaceFolders',
        ({ event }: { event: WorkspaceFoldersChangeEvent }) => editor?.changeFolders(event),
      );
      return initializeResult(params, editor, options.version);
    });
    connection.onInitialized(() => editor?.begin());
    connection.onShutdown(() => {
      // The editor may not wait for more.
      editor?.close();
    });
    connection.onExecuteCommand(
      answered((it, params: unknown) => {
        const given = checked('workspace/executeCommand', executeParams, object(params));
        return it.execute(given.command, given.arguments ?? undefined);
      }),
    );
    for (const name of ['attach', 'detach', 'intent', 'read'] as const)
      connection.onRequest(
        editorMethods[name],
        answered((it, params: unknown) => it.rich[name](object(params))),
      );
    for (const method of allQuestions)
      connection.onRequest(method, (...given: unknown[]) => {
        // Without parameters the token comes first.
        const token = given.at(-1) as CancellationToken;
        const params = given.length > 1 ? given[0] : {};
        return answered((it) =>
          it.features.answer(method, checked(method, questionParams(method), params), signalOf(token)),
        )(params);
      });
    connection.onDidOpenTextDocument(({ textDocument: { uri, version, text, languageId } }) =>
      editor?.documents.opened(uri, version, text, languageId),
    );
    connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
      const last = contentChanges.at(-1);
      if (last) editor?.documents.changed(uri, version ?? 0, last.text);
    });
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => editor?.documents.closed(uri));
    connection.onDidSaveTextDocument(({ textDocument: { uri }, text }) => editor?.saved(uri, text));
    connection.onDidChangeConfiguration(({ settings }) => editor?.configure(settings));
    transport.onEnd(() => void end(codeNow(), 'the editor’s stream has ended'));
    const aborted = () => void end(codeNow(), 'a signal');
    if (options.signal?.aborted) aborted();
    else options.signal?.addEventListener('abort', aborted, { once: true });
    connection.listen();
  });
}

/** Parameters by name. An empty list, which is how some clients write an empty object, arrives as the token of the request. */
const object = (params: unknown): unknown =>
  Object.getPrototypeOf(params ?? {}) === Object.prototype ? params : {};

/** What we announce; registered statically, and without anything that is null (LSP: `InitializeResult`). */
function initializeResult(params: InitializeParams, { features }: Editor, version: string): InitializeResult {
  const encodings = params.capabilities.general?.positionEncodings;
  return {
    capabilities: {
      ...(encodings?.includes('utf-16') && { positionEncoding: 'utf-16' }),
      textDocumentSync: {
        openClose: true,
        // Some editors send changes out of order: only whole texts survive that.
        change: TextDocumentSyncKind.Full,
        willSave: false,
        save: { includeText: true },
      },
      ...features.capabilities,
      executeCommandProvider: { commands: commandTable.map(({ id }) => id) },
      workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
    },
    serverInfo: { name: 'atomic-lsp', version },
  };
}

/** A signal that aborts when the editor cancels the request. */
function signalOf(token: CancellationToken): AbortSignal {
  const abort = new AbortController();
  token.onCancellationRequested(() => abort.abort());
  return abort.signal;
}

const notReady = (after: boolean): AtomicError =>
  new AtomicError(
    'NotReady',
    after
      ? 'The server was shut down: start it again.'
      : 'The first request to the server must be initialize: send it first.',
  );

const initializedAlready = (): AtomicError =>
  new AtomicError('BadArguments', 'This server was initialized already: send initialize once.');

function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
