// The session core as the hub sees it. Guarantees: types only; the hub can be tested with a small stand-in. Must not know:
// how a session does its work.
import type { Origin } from '../protocol/facts.ts';
import type { AgentChoice, StartOptions } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Journal } from '../session/journal.ts';
import type { AgentSpec, Clock, Log, StartAgent } from '../session/ports.ts';

/** What a later attach may change for the next start of the agent. */
export interface SessionUpdate {
  choice?: AgentChoice;
  start?: StartOptions;
  whileBusy?: 'steer' | 'followUp';
  env?: Record<string, string>;
}

export interface Session {
  readonly journal: Journal;
  /** The fold up to `journal.last`. */
  snapshot(): Snapshot;
  /** Accepts an intent; the same id twice is the same intent. Throws AtomicError. */
  intent(intent: { id: string; command: string; params: Record<string, unknown>; origin?: Origin }): {
    intent: string;
  };
  read(command: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  /** A run, a shell command, or an intent that is not settled. */
  readonly busy: boolean;
  /** How many questions are open. */
  readonly dialogs: number;
  update(how: SessionUpdate): void;
  /** Ends the agent. */
  stop(): Promise<void>;
}

export interface SessionParts {
  startAgent: StartAgent;
  clock: Clock;
  log: Log;
  spec: AgentSpec;
  whileBusy?: 'steer' | 'followUp';
  epoch: string;
}

export type CreateSession = (parts: SessionParts) => Session;
