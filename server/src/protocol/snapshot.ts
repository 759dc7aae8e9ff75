// The snapshot: what a session looks like after all facts so far; what a late editor gets. Guarantees: plain JSON,
// bounded (older messages are counted, live output is a tail). Must not know: how it came about (session/fold.ts).
import type { AgentIdentity, Dialog, DialogOutcome, Origin, RunOutcome } from './facts.ts';
import type { AgentState, Message, ToolResult } from './records.ts';

export interface ToolRun {
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  status: 'running' | 'done' | 'failed';
  /** The tail of the live output, at most {@link liveTail} UTF-16 units. */
  output: string;
  startedAt: number;
  endedAt?: number;
  result?: ToolResult;
}

export interface BashRun {
  id: string;
  command?: string;
  output: string;
}

/** An assistant message that is being written; tool arguments are raw JSON text until their end. */
export interface MessageInFlight {
  role: string;
  startedAt: number;
  blocks: BlockInFlight[];
}
export interface BlockInFlight {
  kind: 'text' | 'thinking' | 'toolcall';
  text: string;
  id?: string;
  toolName?: string;
  done: boolean;
}

export type Phase = 'idle' | 'waiting' | 'thinking' | 'writing' | 'tool' | 'compacting' | 'retrying';

export interface Run {
  startedAt: number;
  turns: number;
  origin?: Origin;
}

export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  errorMessage?: string;
  since: number;
}

export interface IntentOutcome {
  intent: string;
  command: string;
  origin?: Origin;
  outcome: 'pending' | 'done' | 'refused' | 'failed' | 'unknown';
  error?: string;
}

export interface SettledDialog {
  id: string;
  outcome: DialogOutcome;
  by?: Origin;
}

export interface Snapshot {
  agent: {
    status: 'absent' | 'running' | 'exited';
    identity?: AgentIdentity;
    pid?: number;
    exit?: { code: number | null; signal: string | null; expected: boolean; message: string };
    /** RPC commands that this agent said it does not know. */
    unavailable: string[];
  };
  state: AgentState;
  /** The newest messages, oldest first. */
  messages: Message[];
  /** How many older ones the agent has besides. */
  olderMessages: number;
  message: MessageInFlight | null;
  /** Tool calls of the run, by id, in the order they started. */
  tools: Record<string, ToolRun>;
  bash: Record<string, BashRun>;
  run: Run | null;
  lastRun: (RunOutcome & { endedAt: number }) | null;
  queue: { steering: string[]; followUp: string[] };
  compaction: { reason?: string; since: number } | null;
  retry: Retry | null;
  summarization: { attempt?: number; maxAttempts?: number } | null;
  statuses: Record<string, string>;
  widgets: Record<string, { lines: string[]; placement: string }>;
  title: string | null;
  /** Open questions, oldest first. */
  dialogs: Dialog[];
  settledDialogs: SettledDialog[];
  intents: IntentOutcome[];
  files: string[];
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number; cost: number };
}

/** UTF-16 units of live tool and bash output that a snapshot keeps. */
export const liveTail = 65_536;
/** How many messages, and how many UTF-16 units of their JSON text, a snapshot keeps. */
export const messageTail = { count: 400, units: 2_000_000 };
