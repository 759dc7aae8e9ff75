// What the core asks of the world: a clock, an agent, and what is kept on disk about a session. Guarantees: definitions only, so that
// the core stays free of input and output and tests can stand in for all of it. Must not know: processes, sockets, dialects.
import type { FileChange } from '../protocol/changes.ts';
import type { AgentFact, AgentIdentity, Dialog, DialogAnswer } from '../protocol/facts.ts';
import type { AgentChoice, StartOptions } from '../protocol/hub.ts';
import type { Call, ResponseRecord } from '../protocol/records.ts';

/** Time, injected. `after` returns a function that cancels the timer; timers never keep the process alive. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  after(milliseconds: number, run: () => void): () => void;
}

/** Where the bridge writes what a person may need later. Fields are data, never secrets; nothing is printed. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What is needed to start an agent for a session. */
export interface AgentSpec {
  /** Absolute path of the workspace folder. */
  workspace: string;
  /** The editor's choice; absent: `ATOMIC_LSP_AGENT`, `atomic`, `pi`, or the demo. */
  choice?: AgentChoice;
  /** The choice could not be understood, as this sentence says: nothing may be started. */
  refused?: string;
  start?: StartOptions;
  /** The editor's environment (agent/environment.ts says which part), under which the agent is searched and run. */
  env: Record<string, string>;
  /** Session file to continue, where the agent ran before. */
  resume?: string;
}

/** How an agent process ended. */
export interface AgentExit {
  code: number | null;
  signal: string | null;
  /** Whether we stopped it. */
  expected: boolean;
  /** One sentence for a person: what happened, the agent's own last words, and what to do. */
  message: string;
}

/** What an agent tells the session. All are called in the order of the agent's output, never re-entrantly. */
export interface AgentEvents {
  /** An event in canonical form, without its time. */
  fact(fact: AgentFact): void;
  /** A question; `openedAt`, `deadline` and `origin` are the session's to fill in. */
  dialog(dialog: Omit<Dialog, 'openedAt'>): void;
  /** The agent closed a question by itself (`oauth_manual_code_cancel`). */
  dialogWithdrawn(id: string): void;
  /** Once, after everything else: pending calls have been failed with `AgentGone` before. */
  exit(exit: AgentExit): void;
}

/** A running agent. */
export interface Agent {
  readonly identity: AgentIdentity;
  readonly pid: number | undefined;
  /**
   * Sends a call; resolves with the agent's response, a refusal included. Rejects with `AgentGone` (or
   * `AgentStartFailed`, when it never said a word) when the process ends first. Responses are matched by id, and by
   * command where an old agent leaves the id out.
   */
  call(call: Call): Promise<ResponseRecord>;
  /** Answers a dialog; false when it is not open at the agent any more. Gets no response (protocol: 5.2). */
  answer(dialog: Dialog, answer: DialogAnswer): boolean;
  /** Stop ladder: abort, close stdin, 5 s, SIGTERM, 2 s, SIGKILL to the group. Resolves after `exit` was told. */
  stop(): Promise<void>;
  /** SIGKILL to the group at once. */
  kill(): void;
}

/**
 * Starts an agent; resolves once the process is spawned (not once it is ready: calls may be sent at once). Rejects with
 * `AgentNotFound` when there is no such program.
 */
export type StartAgent = (spec: AgentSpec, events: AgentEvents) => Promise<Agent>;

/** An earlier session of a folder, as far as its file says. */
export interface SessionListing {
  path: string;
  id?: string;
  cwd?: string;
  name?: string;
  /** ISO 8601. */
  modified: string;
  firstMessage?: string;
}

/** The agent's session files, for agents that cannot list them themselves. */
export interface SessionFiles {
  /** Newest first; a relative path is taken from the workspace. Empty when the folder is not there. */
  list(folder: string): Promise<SessionListing[]>;
  exists(workspace: string, path: string): Promise<boolean>;
}

/** A prompt that the agent took, as the person wrote it. */
export interface KeptPrompt {
  text: string;
  /** Milliseconds since the epoch; 0 where nobody knows. */
  at: number;
}

/** The prompts that a session keeps. */
export interface PromptHistory {
  /** The newest first. */
  list(limit: number): Promise<KeptPrompt[]>;
}

/** What the agent changed in files. All reject with AtomicError; a path is absolute or below the workspace. */
export interface FileChanges {
  list(path?: string): Promise<{ files: FileChange[] }>;
  /** Takes back a whole file, or one hunk of it; `header` is the one that the hunk had when it was listed. */
  revert(what: { path: string; hunk?: number; header?: string }): Promise<{ path: string }>;
  /** What files are now is their original from now on. */
  accept(path?: string): Promise<{ paths: string[] }>;
}

/** Who writes to a session file besides our own agent. */
export interface SessionWriters {
  /** How far the file goes, in bytes; undefined where there is none. */
  size(path: string): Promise<number | undefined>;
  /**
   * Who else writes to it, in words for a person; undefined: nobody that can be seen. `known`: how far the file went when our own
   * agent was the last to write, in bytes; `own`: our agent's process.
   */
  other(path: string, ours: { known?: number; own?: number }): Promise<string | undefined>;
}
