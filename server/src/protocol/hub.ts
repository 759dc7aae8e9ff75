// What a server or terminal and the hub say to each other: JSON-RPC with Content-Length frames over a private socket (or
// an in-memory pair). Guarantees: definitions only; `hubProtocol` changes when an older peer would misunderstand. Must not
// know: LSP, dialects.
import * as z from 'zod';
import type { Fact, Origin } from './facts.ts';
import type { Snapshot } from './snapshot.ts';

/** The number of this protocol; it is part of the socket's name. */
export const hubProtocol = 1;

/** Which agent to run, from the editor's own configuration or the user's; never from a workspace's files. */
export const agentChoice = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
export type AgentChoice = z.infer<typeof agentChoice>;

/** Start options of the agent as settings (agent's page "Starting RPC mode"); agent/ turns them into arguments. */
export const startOptions = z.strictObject({
  provider: z.string().optional(),
  model: z.string().optional(),
  name: z.string().optional(),
  sessionDir: z.string().optional(),
  noSession: z.boolean().optional(),
  contextWindow: z.union([z.string(), z.number()]).optional(),
  extensions: z.array(z.string()).optional(),
  noExtensions: z.boolean().optional(),
  projectTrust: z.enum(['approve', 'deny']).optional(),
  storage: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  storageFile: z.string().optional(),
  continueLast: z.boolean().optional(),
});
export type StartOptions = z.infer<typeof startOptions>;

/** The name of the session that editors of a folder share when they name none. */
export const defaultSession = 'default';

export const whileBusy = z.enum(['steer', 'followUp']);
export const restart = z.enum(['onPrompt', 'atOnce']);

export const helloParams = z.looseObject({
  protocol: z.number(),
  version: z.string(),
  /** What a person calls this peer. */
  name: z.string(),
  pid: z.number().optional(),
  /** The peer's environment, as far as agents need it (agent/environment.ts says which variables). */
  env: z.record(z.string(), z.string()),
});
export type HelloParams = z.infer<typeof helloParams>;
export interface HelloResult {
  protocol: number;
  version: string;
  pid: number;
  origin: Origin;
}

export const cursor = z.strictObject({ epoch: z.string(), seq: z.int().min(0) });
export type Cursor = z.infer<typeof cursor>;

export const attachParams = z.looseObject({
  /** Absolute path of the workspace folder: the agent's working directory. */
  workspace: z.string().min(1),
  /** Session (tab) within the workspace; absent: the shared default one. */
  session: z.string().optional(),
  cursor: cursor.optional(),
  agent: agentChoice.optional(),
  /** Why no agent may be started: what was chosen cannot be understood. */
  agentRefused: z.string().optional(),
  start: startOptions.optional(),
  whileBusy: whileBusy.optional(),
  restart: restart.optional(),
});
export type AttachParams = z.infer<typeof attachParams>;
export interface AttachResult {
  /** The number by which this connection names the session from now on. */
  session: string;
  workspace: string;
  epoch: string;
  /** The snapshot's number; facts after it follow as notifications. */
  seq: number;
  /** Absent where the cursor could be continued. */
  snapshot?: Snapshot;
  /** The session's folder of state files. */
  folder: string;
  /** A sentence for the person who attached. */
  note?: string;
}

export const intentParams = z.strictObject({
  session: z.string(),
  /** Chosen by the sender; the same id twice is the same intent. */
  id: z.string().min(1),
  command: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type IntentParams = z.infer<typeof intentParams>;

export const readParams = z.strictObject({
  session: z.string(),
  command: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type ReadParams = z.infer<typeof readParams>;

export const sessionsParams = z.looseObject({
  /** Only those of this folder. */
  workspace: z.string().optional(),
});
/** A session that runs in the hub or that it remembers. */
export interface KnownSession {
  workspace: string;
  name: string;
  /** The hub has it open. */
  running: boolean;
  busy: boolean;
  dialogs: number;
  /** Names of those who watch it. */
  editors: string[];
  sessionName?: string;
  /** Milliseconds since the epoch. */
  updated?: number;
}

export const sessionParams = z.strictObject({ session: z.string() });
export const statusParams = z.looseObject({});
export const stopParams = z.strictObject({ whenIdle: z.boolean().optional(), force: z.boolean().optional() });

/** A range of facts of one session: `from` is the first number, `to` the last; neighbouring deltas may be merged. */
export interface FactsBatch {
  session: string;
  epoch: string;
  from: number;
  to: number;
  facts: Fact[];
}

/** Sent instead of a range when the reader fell out of the journal's ring: everything anew. */
export interface Resync {
  session: string;
  epoch: string;
  seq: number;
  snapshot: Snapshot;
}

export interface SessionInfo {
  session: string;
  workspace: string;
  name: string;
  epoch: string;
  seq: number;
  editors: { origin: Origin; lag: number }[];
  agent: Snapshot['agent'];
  busy: boolean;
  dialogs: number;
  /** Bytes of the agent's process, where the system tells them. */
  agentMemory?: number;
  /** What the agent does not have of what editors gave since it started: `agent`, `start`, `environment`. */
  outdated?: readonly string[];
  sessionFile?: string;
  sessionName?: string;
  journal: { facts: number; bytes: number };
}

export interface StatusResult {
  pid: number;
  version: string;
  protocol: number;
  startedAt: number;
  memory: number;
  log: string;
  editors: { origin: Origin; pid?: number; sessions: string[] }[];
  sessions: SessionInfo[];
}

/** JSON-RPC method names. */
export const hubMethods = {
  hello: 'hello',
  attach: 'attach',
  detach: 'detach',
  intent: 'intent',
  read: 'read',
  sessions: 'sessions',
  status: 'status',
  stop: 'stop',
  /** Hub → peer notifications. */
  facts: 'facts',
  resync: 'resync',
  /** The last words of a hub that somebody asked to stop. */
  stopped: 'stopped',
} as const;
