// Facts: what happened in a session, past tense, in canonical form, numbered by the journal. Guarantees: the agent's own
// events keep Atomic's names and newest shape (delta-only `message_update`, one `agent_settled` a run); what repeats an
// earlier fact (messages inside `turn_end` and `agent_end`, the text inside an unsurprising `text_end` or `message_end`) is
// left out, so that bytes grow with the answer. Must not know: dialects, editors, sockets.
import type { AgentState, Message, Open, StopReason, ToolCallBlock, ToolResult } from './records.ts';

/** Who wants something or did something: one attached editor or terminal. */
export interface Origin {
  /** Unique within the hub. */
  id: string;
  /** What a person calls it: "Neovim", "Helix", "terminal". */
  name: string;
}

/** A question of the agent. Options are answered by index: labels may repeat, be empty or span lines. */
export interface Dialog {
  id: string;
  method: Open<
    'select' | 'confirm' | 'input' | 'editor' | 'oauth_prompt' | 'oauth_select' | 'oauth_manual_code'
  >;
  title: string;
  /** `confirm`: the question's second line. */
  message?: string;
  /** `select`, `oauth_select`: labels in order. */
  options?: string[];
  placeholder?: string;
  prefill?: string;
  /** Milliseconds the agent waits before it decides by itself, without telling. */
  timeout?: number;
  /** Milliseconds since the epoch: when this dialog opened, by the hub's clock. */
  openedAt: number;
  /** Milliseconds since the epoch; absent where the agent waits for ever. */
  deadline?: number;
  /** Whoever asked for the work that led to this question, when that is known. */
  origin?: Origin;
  /** Everybody is asked, because the origin has gone or did not answer for a while. */
  offered?: true;
  /** The answer must not be echoed or logged. */
  secret?: boolean;
}

/** An answer to a dialog. `index` for options, `confirmed` for confirm, `value` for text, `cancelled` for a refusal. */
export interface DialogAnswer {
  index?: number;
  value?: string;
  confirmed?: boolean;
  cancelled?: boolean;
}

export type DialogOutcome = 'answered' | 'cancelled' | 'expired' | 'withdrawn';

/** How a run ended: the last assistant message's stop reason and error text. */
export interface RunOutcome {
  stopReason: StopReason;
  errorMessage?: string;
}

/** What the bridge knows of the agent program. */
export interface AgentIdentity {
  /** The command line, for people. */
  command: string;
  /** "atomic", "pi", "demo", or the program's base name. */
  name: string;
  /** The built-in demo agent stands in. */
  demo: boolean;
}

export type AssistantDelta =
  | {
      type: 'text_start' | 'thinking_start' | 'toolcall_start';
      contentIndex: number;
      id?: string;
      toolName?: string;
    }
  | { type: 'text_delta' | 'thinking_delta' | 'toolcall_delta'; contentIndex: number; delta: string }
  /** `content` only where the block differs from the sum of its deltas. */
  | { type: 'text_end' | 'thinking_end'; contentIndex: number; content?: string }
  | { type: 'toolcall_end'; contentIndex: number; toolCall: ToolCallBlock };

interface Timed {
  /** Milliseconds since the epoch, by the hub's clock; absent on the facts of a stream. */
  at?: number;
}

/** The agent's own events in canonical form. */
export type AgentFact = Timed &
  (
    | { type: 'agent_start' }
    | { type: 'agent_end'; willRetry?: boolean }
    | { type: 'agent_settled'; outcome: RunOutcome; aborted?: boolean }
    | { type: 'turn_start' }
    | { type: 'turn_end' }
    | { type: 'message_start'; message: Message }
    | { type: 'message_update'; assistantMessageEvent: AssistantDelta }
    /** As readers get it, a block whose text was streamed exactly so is `{type, streamed: true}` without its text. */
    | { type: 'message_end'; message: Message }
    | { type: 'tool_execution_start'; toolCallId: string; toolName: string; args: Record<string, unknown> }
    /** Canonical: the text that was added to the tool's output; `reset` when it begins anew. */
    | { type: 'tool_execution_update'; toolCallId: string; delta: string; reset?: true }
    | {
        type: 'tool_execution_end';
        toolCallId: string;
        toolName: string;
        result: ToolResult;
        isError: boolean;
        durationMs?: number;
      }
    | { type: 'bash_execution_update'; id?: string; delta: string; channel?: Open<'stdout' | 'stderr'> }
    | { type: 'queue_update'; steering: string[]; followUp: string[] }
    | { type: 'entry_appended'; entry: Record<string, unknown> }
    | { type: 'session_info_changed'; name?: string }
    | { type: 'thinking_level_changed'; level: string }
    | { type: 'model_changed'; model: AgentState['model']; source?: string }
    | { type: 'context_window_changed'; contextWindow: number }
    | { type: 'compaction_start'; reason?: string }
    | {
        type: 'compaction_end';
        reason?: string;
        aborted?: boolean;
        willRetry?: boolean;
        errorMessage?: string;
        result?: Record<string, unknown>;
      }
    | {
        type: 'auto_retry_start' | 'summarization_retry_scheduled';
        attempt: number;
        maxAttempts: number;
        delayMs: number;
        errorMessage?: string;
      }
    | { type: 'auto_retry_end'; success: boolean; attempt?: number; finalError?: string }
    | { type: 'summarization_retry_attempt_start'; source?: string; reason?: string }
    | { type: 'summarization_retry_finished' }
    | { type: 'extension_error'; extensionPath?: string; event?: string; error: string }
    /** Fire-and-forget requests of extensions and logins (notify, setStatus, setWidget, setTitle, set_editor_text, oauth_*). */
    | { type: 'extension_ui_request'; method: string; id?: string; [key: string]: unknown }
    /** An event that this bridge does not know, passed through whole. */
    | { type: 'unknown_event'; event: Record<string, unknown> }
  );

/** What the hub itself saw. */
export type HubFact = Timed &
  (
    | { type: 'agent_started'; agent: AgentIdentity; pid?: number; resumed?: string }
    | { type: 'agent_exited'; code: number | null; signal: string | null; expected: boolean; message: string }
    /** State that was read from the agent; only what changed, and the fields that are gone (some clients cannot see a null). */
    | { type: 'state_changed'; state: AgentState; removed?: string[] }
    /** The conversation is another one now: everything about the old one is void. */
    | {
        type: 'session_replaced';
        state: AgentState;
        messages: Message[];
        olderMessages: number;
        reason: string;
        /** Entries, widgets and title that belong to the new session already; absent: none. */
        statuses?: Record<string, string>;
        widgets?: Record<string, { lines: string[]; placement: string }>;
        title?: string;
      }
    | { type: 'command_unavailable'; command: string }
    | { type: 'intent_accepted'; intent: string; command: string; origin?: Origin; text?: string }
    | {
        type: 'intent_settled';
        intent: string;
        command: string;
        outcome: 'done' | 'refused' | 'failed' | 'unknown';
        error?: string;
        data?: unknown;
      }
    | { type: 'dialog_opened'; dialog: Dialog }
    /** Everybody is asked now. */
    | { type: 'dialog_offered'; id: string }
    | { type: 'dialog_settled'; id: string; outcome: DialogOutcome; by?: Origin; answer?: string }
    /** Queued texts that a stop took back, for the one who stopped. */
    | { type: 'queue_returned'; texts: string[]; origin?: Origin }
    | { type: 'file_touched'; path: string; toolName: string; toolCallId?: string }
    /** A sentence of the bridge for the person. */
    | { type: 'notice'; level: 'info' | 'warning' | 'error'; message: string }
  );

export type Fact = AgentFact | HubFact;
export type FactType = Fact['type'];
/** The facts of a type, also where one shape has several types. */
export type FactOf<T extends FactType, F = Fact> = F extends { type: infer U }
  ? T extends U
    ? F
    : never
  : never;

/** Facts of a stream carry no time and may be merged with their neighbours. */
export const streamFacts: ReadonlySet<string> = new Set([
  'message_update',
  'tool_execution_update',
  'bash_execution_update',
]);
