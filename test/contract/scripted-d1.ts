// The words of D1 for the scripted agent. Guarantees: records in the shapes of the older protocol page: no `agent_settled`. Must
// not know: scenarios.
import type { Step } from '../support/scripted.ts';

const whole = (message: object): object[] => [
  { type: 'message_start', message },
  { type: 'message_end', message },
];
const userMessage = (text: string) => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });
const assistantMessage = (text: string, stopReason = 'stop', errorMessage?: string) => ({
  role: 'assistant',
  content: text ? [{ type: 'text', text }] : [],
  stopReason,
  ...(errorMessage !== undefined && { errorMessage }),
  timestamp: 1,
});
const toolMessage = (id: string, args: object) => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id, name: 'bash', arguments: args }],
  stopReason: 'toolUse',
  timestamp: 1,
});

export const agentStart = { type: 'agent_start' };
export const agentEnd = { type: 'agent_end', messages: [] };
export const turnStart = { type: 'turn_start' };
export const turnEnd = { type: 'turn_end', message: assistantMessage(''), toolResults: [] };

export const user = (text: string): object[] => whole(userMessage(text));
/** An assistant message, all at once. */
export const answer = (...message: Parameters<typeof assistantMessage>): object[] =>
  whole(assistantMessage(...message));

/** A run begins with this prompt. */
export const begin = (prompt: string): Step => ({ emit: [agentStart, turnStart, ...user(prompt)] });
/** An assistant message begins. */
export const open: Step = { emit: { type: 'message_start', message: assistantMessage('') } };
/** It ends with this text. */
export const closed = (text: string): object[] => [{ type: 'message_end', message: assistantMessage(text) }];

export const retryStart = (attempt: number): object => ({
  type: 'auto_retry_start',
  attempt,
  maxAttempts: 3,
  delayMs: 1,
  errorMessage: '500',
});
export const retryEnd = (success: boolean, attempt: number): object => ({
  type: 'auto_retry_end',
  success,
  attempt,
});

/** The assistant calls a tool, which begins to run. */
export const runningTool = (toolCallId: string, args: object): object[] => [
  ...whole(toolMessage(toolCallId, args)),
  { type: 'tool_execution_start', toolCallId, toolName: 'bash', args },
];
/** It ends in an error. */
export const failedTool = (toolCallId: string, text: string): object[] => {
  const result = { content: [{ type: 'text', text }] };
  const head = { toolCallId, toolName: 'bash', isError: true };
  return [
    { type: 'tool_execution_end', ...head, result },
    ...whole({ role: 'toolResult', ...head, ...result, timestamp: 1 }),
  ];
};

/** What a compaction comes to. */
export const compacted = { summary: 'The summary.', firstKeptEntryId: '3', tokensBefore: 120 };

/** User and assistant in turns. */
export const talk = (texts: string[]): object[] =>
  texts.map((text, at) => (at % 2 === 0 ? userMessage(text) : assistantMessage(text)));

const state = {
  thinkingLevel: 'off',
  isStreaming: false,
  isCompacting: false,
  steeringMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  sessionId: 'a',
  autoCompactionEnabled: true,
  messageCount: 0,
  pendingMessageCount: 0,
};
/** Answers to the first, the second … reading of the state; the last one stays. */
export const states = (...readings: [object][]): Step[][] =>
  readings.map(([more]) => [{ accept: { ...state, ...more } }]);
/** The same, by the ids of the sessions. */
export const stateBy = (ids: string[]): Step[][] =>
  states(...ids.map((sessionId): [object] => [{ sessionId }]));
