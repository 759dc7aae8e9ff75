// Facts for the tests of the core: short to write, of every type, and at random. Knows the definitions only.
import fc from 'fast-check';
import type { Dialog, Fact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import type { Snapshot } from '../../../server/src/protocol/snapshot.ts';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { briefFact } from '../../../server/src/session/streamed.ts';

/** The snapshot after these facts. */
export const foldedAll = (facts: readonly Fact[], from: Snapshot = emptySnapshot()): Snapshot =>
  facts.reduce(folded, from);

/** The facts as readers are told them. */
export function toldOf(facts: readonly Fact[]): Fact[] {
  let snapshot = emptySnapshot();
  return facts.map((fact) => {
    const told = briefFact(fact, snapshot.message);
    snapshot = folded(snapshot, fact);
    return told;
  });
}

/** Freezes a value and everything in it, so that a change throws. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
}

export const neovim = { id: 'c1', name: 'Neovim' };
export const helix = { id: 'c2', name: 'Helix' };
export const identity = { command: 'atomic --mode rpc', name: 'atomic', demo: false };

export const user = (text: string): Message => ({ role: 'user', content: text });
export const assistant = (text: string, usage?: Message['usage']): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  ...(usage && { usage }),
});
export const said = (message: Message): Fact => ({ type: 'message_end', message });
export const begun = (at?: number): Fact => ({
  type: 'message_start',
  message: { role: 'assistant', content: [] },
  ...(at !== undefined && { at }),
});
export const delta = (text: string, contentIndex = 0, kind: 'text' | 'thinking' = 'text'): Fact => ({
  type: 'message_update',
  assistantMessageEvent: { type: `${kind}_delta`, contentIndex, delta: text },
});
export const toolStart = (toolCallId: string, toolName = 'bash'): Fact => ({
  type: 'tool_execution_start',
  toolCallId,
  toolName,
  args: { command: 'ls' },
  at: 5,
});
export const toolUpdate = (toolCallId: string, text: string, reset?: true): Fact => ({
  type: 'tool_execution_update',
  toolCallId,
  delta: text,
  ...(reset && { reset }),
});
export const toolEnd = (toolCallId: string, text = 'done', isError = false): Fact => ({
  type: 'tool_execution_end',
  toolCallId,
  toolName: 'bash',
  result: { content: [{ type: 'text', text }] },
  isError,
  at: 9,
});
export const settled: Fact = { type: 'agent_settled', outcome: { stopReason: 'stop' }, at: 90 };
export const accepted = (intent: string, command: string, more: object = {}): Fact => ({
  type: 'intent_accepted',
  intent,
  command,
  ...more,
});
export const ended = (intent: string, command: string, outcome: 'done' | 'refused' = 'done'): Fact => ({
  type: 'intent_settled',
  intent,
  command,
  outcome,
});
export const ui = (method: string, fields: object): Fact => ({
  type: 'extension_ui_request',
  method,
  ...fields,
});
export const question = (id: string): Dialog => ({ id, method: 'input', title: id, openedAt: 1 });
export const exited: Fact = {
  type: 'agent_exited',
  code: 1,
  signal: null,
  expected: false,
  message: 'It ended.',
  at: 80,
};
export const replaced = (sessionId: string, more: object = {}): Fact => ({
  type: 'session_replaced',
  state: { sessionId },
  messages: [],
  olderMessages: 0,
  reason: 'a new session',
  ...more,
});

const id = fc.constantFrom('a', 'b', '1', '__proto__', 'constructor');
const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '😀', '\ud83d', '\ude00'),
);
const index = fc.constantFrom(0, 0, 1, 2, 5, -1, 1e9);
const at = fc.option(fc.nat(99), { nil: undefined });
const message = fc.oneof(
  word.map(user),
  fc.tuple(word, fc.nat(9)).map(([text, input]) => assistant(text, { input, cost: { total: 1 } })),
);
const origin = fc.option(fc.constantFrom(neovim, helix), { nil: undefined });
const command = fc.constantFrom('prompt', 'steer', 'bash', 'set_model');
const always = <T>(value: T) => fc.constant(value);

const streamed = fc.oneof(
  fc.record({
    type: always('message_update'),
    assistantMessageEvent: fc.oneof(
      fc.record({
        type: fc.constantFrom('text_delta', 'thinking_delta', 'toolcall_delta'),
        contentIndex: index,
        delta: word,
      }),
      fc.record({ type: fc.constantFrom('text_start', 'thinking_start'), contentIndex: index }),
      fc.record({ type: always('toolcall_start'), contentIndex: index, id, toolName: word }),
      fc.record({
        type: fc.constantFrom('text_end', 'thinking_end'),
        contentIndex: index,
        content: fc.option(word, { nil: undefined }),
      }),
      fc.record({
        type: always('toolcall_end'),
        contentIndex: index,
        toolCall: fc.record({
          type: always('toolCall'),
          id,
          name: word,
          arguments: fc.dictionary(word, word),
        }),
      }),
    ),
  }),
  fc.record({
    type: always('tool_execution_update'),
    toolCallId: id,
    delta: fc.oneof(
      word,
      word.map((text) => text.repeat(9_000)),
    ),
    reset: fc.constantFrom(undefined, undefined, true),
  }),
  fc.record({
    type: always('bash_execution_update'),
    id: fc.option(id, { nil: undefined }),
    delta: word,
    channel: fc.constantFrom(undefined, 'stderr'),
  }),
);

const others = fc.oneof(
  fc.record({ type: fc.constantFrom('agent_start', 'turn_start', 'turn_end', 'agent_end'), at }),
  fc.record({ type: always('agent_settled'), outcome: always({ stopReason: 'stop' }), at }),
  fc.record({ type: fc.constantFrom('message_start', 'message_end'), message, at }),
  fc.record({ type: always('tool_execution_start'), toolCallId: id, toolName: word, args: always({}), at }),
  fc.record({
    type: always('tool_execution_end'),
    toolCallId: id,
    toolName: word,
    result: word.map((text) => ({ content: [{ type: 'text', text }] })),
    isError: fc.boolean(),
    at,
  }),
  fc.record({ type: always('queue_update'), steering: fc.array(word), followUp: fc.array(word) }),
  fc.record({ type: always('session_info_changed'), name: fc.option(word, { nil: undefined }) }),
  fc.record({ type: always('thinking_level_changed'), level: word }),
  fc.record({ type: always('model_changed'), model: fc.constantFrom(null, { id: 'm', provider: 'p' }) }),
  fc.record({ type: always('context_window_changed'), contextWindow: fc.nat() }),
  fc.record({ type: always('compaction_start'), reason: fc.option(word, { nil: undefined }), at }),
  fc.record({ type: always('compaction_end'), result: fc.constantFrom(undefined, { summary: 's' }), at }),
  fc.record({
    type: fc.constantFrom('auto_retry_start', 'summarization_retry_scheduled'),
    attempt: fc.nat(3),
    maxAttempts: always(3),
    delayMs: always(10),
    at,
  }),
  fc.record({
    type: fc.constantFrom(
      'auto_retry_end',
      'summarization_retry_attempt_start',
      'summarization_retry_finished',
      'extension_error',
      'entry_appended',
      'unknown_event',
      'queue_returned',
      'notice',
      'not_invented_yet',
    ),
  }),
  fc.record({
    type: always('extension_ui_request'),
    method: fc.constantFrom('setStatus', 'setWidget', 'setTitle', 'notify'),
    statusKey: id,
    statusText: fc.option(word, { nil: undefined }),
    widgetKey: id,
    widgetLines: fc.option(fc.array(word), { nil: undefined }),
    title: word,
  }),
  fc.record({ type: always('agent_started'), agent: always(identity), pid: fc.nat(), at }),
  always(exited),
  fc.record({
    type: always('state_changed'),
    state: fc.dictionary(fc.constantFrom('thinkingLevel', 'sessionName'), word),
    removed: fc.option(fc.uniqueArray(fc.constantFrom('thinkingLevel', 'sessionName', 'x')), {
      nil: undefined,
    }),
  }),
  fc.record({
    type: always('session_replaced'),
    state: fc.record({ sessionId: id }),
    messages: fc.array(message),
    olderMessages: fc.nat(9),
    reason: word,
  }),
  fc.record({ type: always('command_unavailable'), command: word }),
  fc.record({ type: always('intent_accepted'), intent: id, command, origin, text: word }),
  fc.record({
    type: always('intent_settled'),
    intent: id,
    command,
    outcome: fc.constantFrom('done', 'refused', 'failed', 'unknown'),
    error: fc.option(word, { nil: undefined }),
  }),
  fc.record({ type: always('dialog_opened'), dialog: id.map(question) }),
  fc.record({ type: always('dialog_settled'), id, outcome: always('answered'), by: origin }),
  fc.record({ type: always('file_touched'), path: word, toolName: always('edit') }),
);

/** Rows of facts of all types, many of them of a stream, as they come out of a journal. */
export const anyFacts: fc.Arbitrary<Fact[]> = fc
  .array(fc.oneof({ weight: 3, arbitrary: streamed }, { weight: 2, arbitrary: others }), { maxLength: 60 })
  .map((facts) => JSON.parse(JSON.stringify(facts)) as Fact[]);
