// A peer's end of the hub: what the language server and the terminal commands use. Guarantees: the same interface over a
// socket and over an in-memory pair. Must not know: LSP.
import type { Duplex } from 'node:stream';
import { ResponseError } from 'vscode-jsonrpc/node';
import { AtomicError, errorCodes, errorFromShape } from '../protocol/errors.ts';
import type { Origin } from '../protocol/facts.ts';
import {
  type AttachParams,
  type AttachResult,
  type FactsBatch,
  type HelloParams,
  type HelloResult,
  hubMethods,
  hubProtocol,
  type IntentParams,
  type KnownSession,
  type ReadParams,
  type Resync,
  type StatusResult,
} from '../protocol/hub.ts';
import type { Log } from '../session/ports.ts';
import { createWire } from './wire.ts';

/** A live connection to a hub. Every method rejects with `HubUnreachable` once the connection is closed. */
export interface HubClient {
  /** Who we are to the hub and the other editors. */
  readonly origin: Origin;
  /** The hub's package version. */
  readonly version: string;
  attach(params: AttachParams): Promise<AttachResult>;
  detach(session: string): Promise<void>;
  /** Resolves when the intent is accepted; its outcome comes as an `intent_settled` fact. */
  intent(params: IntentParams): Promise<{ intent: string }>;
  /** The data of the agent's answer. Rejects with `AgentRefused`, `CommandUnavailable`, `TimedOut`, `AgentGone`. */
  read(params: ReadParams): Promise<unknown>;
  /** The sessions that run or are remembered, the newest first; rejects with `Internal` at an older hub. */
  sessions(params: { workspace?: string }): Promise<{ sessions: KnownSession[] }>;
  status(): Promise<StatusResult>;
  stop(how: { whenIdle?: boolean; force?: boolean }): Promise<{ stopping: boolean; reason?: string }>;
  onFacts(listener: (batch: FactsBatch) => void): void;
  onResync(listener: (resync: Resync) => void): void;
  /** Once, when the connection is lost or closed; `stopped`: the hub was asked to stop. */
  onClose(listener: (stopped?: boolean) => void): void;
  close(): void;
}

/** What a peer says about itself. */
export type Hello = { [K in 'version' | 'name' | 'env']: HelloParams[K] } & {
  pid?: number;
  protocol?: number;
};

/**
 * Says hello over a connected stream and resolves with the client. Rejects with `VersionSkew` or `HubUnreachable`; the
 * stream is closed then. Listeners for facts are to be registered before the first attach.
 */
export async function connectHubClient(stream: Duplex, hello: Hello, log?: Log): Promise<HubClient> {
  const factsListeners: ((batch: FactsBatch) => void)[] = [];
  const resyncListeners: ((resync: Resync) => void)[] = [];
  const told = (batch: FactsBatch) => {
    for (const listener of factsListeners) listener(batch);
  };
  const wire = createWire(stream, log, (message) => {
    const { method, params } = message as { method?: string; params?: FactsBatch };
    if (method !== hubMethods.facts || !params) return false;
    try {
      told(params);
    } catch (error) {
      // A fault of whoever listens is none of the connection.
      log?.error({ error }, 'facts could not be taken');
    }
    return true;
  });
  const { connection } = wire;
  connection.onNotification(hubMethods.facts, told);
  connection.onNotification(hubMethods.resync, (resync: Resync) => {
    for (const listener of resyncListeners) listener(resync);
  });
  let stopped = false;
  connection.onNotification(hubMethods.stopped, () => {
    stopped = true;
  });
  connection.listen();

  const request = async <T>(method: string, params: object): Promise<T> => {
    if (wire.closed) throw lost();
    try {
      return await connection.sendRequest<T>(method, params);
    } catch (error) {
      throw asAtomicError(error, wire.closed);
    }
  };

  let welcome: HelloResult;
  try {
    welcome = await request<HelloResult>(hubMethods.hello, { protocol: hubProtocol, ...hello });
  } catch (error) {
    wire.close();
    throw error;
  }
  return {
    origin: welcome.origin,
    version: welcome.version,
    attach: (params) => request(hubMethods.attach, params),
    async detach(session) {
      await request(hubMethods.detach, { session });
    },
    intent: (params) => request(hubMethods.intent, params),
    read: (params) => request(hubMethods.read, params),
    sessions: (params) => request(hubMethods.sessions, params),
    status: () => request(hubMethods.status, {}),
    stop: (how) => request(hubMethods.stop, how),
    onFacts: (listener) => void factsListeners.push(listener),
    onResync: (listener) => void resyncListeners.push(listener),
    onClose: (listener) => wire.onClose(() => listener(stopped)),
    close: () => wire.close(),
  };
}

function asAtomicError(error: unknown, closed: boolean): AtomicError {
  if (error instanceof ResponseError) {
    if (typeof error.data?.name === 'string' && error.data.name in errorCodes) return errorFromShape(error);
    if (!closed) return new AtomicError('Internal', error.message);
  }
  // Everything else is jsonrpc's way to say that the connection is gone.
  return lost();
}

const lost = (): AtomicError =>
  new AtomicError(
    'HubUnreachable',
    'The connection to the hub was lost: it is started again on the next need.',
  );
