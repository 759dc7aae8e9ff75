// A peer's end of the hub: what the language server and the terminal commands use. Guarantees: the same interface over a
// socket and over an in-memory pair. Must not know: LSP.
import type { Origin } from '../protocol/facts.ts';
import type {
  AttachParams,
  AttachResult,
  FactsBatch,
  IntentParams,
  ReadParams,
  Resync,
  StatusResult,
} from '../protocol/hub.ts';

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
  status(): Promise<StatusResult>;
  stop(how: { whenIdle?: boolean; force?: boolean }): Promise<{ stopping: boolean; reason?: string }>;
  onFacts(listener: (batch: FactsBatch) => void): void;
  onResync(listener: (resync: Resync) => void): void;
  /** Once, when the connection is lost or closed. */
  onClose(listener: () => void): void;
  close(): void;
}
