// What an agent writes and reads: records, calls, messages, blocks, in the union of its dialects (protocol pages
// "RPC protocol" and "RPC extension UI protocol"). Guarantees: definitions only, every field that is not always there is
// optional, every enum is open. Must not know: facts, sessions, editors.

/** An enum that newer agents may add to. */
export type Open<T extends string> = T | (string & {});

/** One parsed line of the agent's stdout. */
export interface AgentRecord {
  type: string;
  [key: string]: unknown;
}

/** The answer to a call (protocol: "Responses"). Some answers of parse errors and old agents lack `id` or `command`. */
export interface ResponseRecord {
  type: 'response';
  id?: unknown;
  command?: unknown;
  success: boolean;
  data?: unknown;
  error?: string;
  errorCode?: string;
  errorDetails?: Record<string, unknown>;
}

/** A command for the agent, without its id: the transport adds that. */
export interface Call {
  type: string;
  [key: string]: unknown;
}

export type ThinkingLevel = Open<'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'>;
export type StopReason = Open<'pending' | 'stop' | 'length' | 'toolUse' | 'error' | 'aborted' | 'deferred'>;

export interface Model {
  id: string;
  name?: string;
  provider: string;
  api?: string;
  reasoning?: boolean;
  input?: string[];
  contextWindow?: number;
  maxTokens?: number;
  defaultContextWindow?: number;
  contextWindowOptions?: number[];
  [key: string]: unknown;
}

export interface Usage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
  totalTokens?: number;
  cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; total?: number };
  [key: string]: unknown;
}

export interface TextBlock {
  type: 'text';
  text: string;
  [key: string]: unknown;
}
export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  redacted?: boolean;
  [key: string]: unknown;
}
export interface ToolCallBlock {
  type: 'toolCall';
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  [key: string]: unknown;
}
export interface ImageBlock {
  type: 'image';
  data: string;
  mimeType: string;
  [key: string]: unknown;
}
export type Block = TextBlock | ThinkingBlock | ToolCallBlock | ImageBlock;

/** A message of the conversation; fields by `role` (protocol page, "Types"). */
export interface Message {
  role: Open<
    | 'user'
    | 'assistant'
    | 'toolResult'
    | 'bashExecution'
    | 'custom'
    | 'branchSummary'
    | 'compactionSummary'
    | 'system'
  >;
  content?: string | Block[];
  timestamp?: number;
  usage?: Usage;
  stopReason?: StopReason;
  errorMessage?: string;
  provider?: string;
  model?: string;
  toolCallId?: string;
  toolName?: string;
  details?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

/** `get_state` (protocol page, "State"): every field may be absent in some dialect. */
export interface AgentState {
  model?: Model | null;
  thinkingLevel?: ThinkingLevel;
  isStreaming?: boolean;
  isCompacting?: boolean;
  steeringMode?: Open<'all' | 'one-at-a-time'>;
  followUpMode?: Open<'all' | 'one-at-a-time'>;
  sessionFile?: string;
  sessionId?: string;
  sessionName?: string;
  autoCompactionEnabled?: boolean;
  messageCount?: number;
  pendingMessageCount?: number;
  queuedMessagesPaused?: boolean;
  modelFallbackMessage?: string;
  modelFallbackReason?: string;
  [key: string]: unknown;
}

/** One entry of `get_commands`; dialects say the place in different fields, all are kept. */
export interface AgentCommand {
  name: string;
  description?: string;
  source: Open<'extension' | 'prompt' | 'skill'>;
  hasArgumentCompletions?: boolean;
  [key: string]: unknown;
}

/** The content of a tool's (partial) result. */
export interface ToolResult {
  content?: Block[];
  details?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}
