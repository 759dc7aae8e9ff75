// Records of any dialect into canonical facts. Guarantees: what an agent says is told in its order and once; nothing that
// repeats an earlier fact is told again; what is not known is passed through whole and mentioned in the log once. Must not
// know: lines, processes, calls, when a run is over.
import type { AgentFact } from '../protocol/facts.ts';
import type { AgentRecord, AgentState } from '../protocol/records.ts';
import { createMessages } from './messages.ts';
import { isObject, shapedMessage, worded } from './shape.ts';
import { createTools } from './tools.ts';

export interface Translator {
  /** The fact that a record stands for; undefined when it says nothing new. Not for responses and UI requests. */
  fact(record: AgentRecord): AgentFact | NativeSettled | undefined;
}

/** The agent's own `agent_settled`, as it came; the settler makes the fact. */
export interface NativeSettled {
  type: 'native_settled';
  aborted?: boolean;
}

/** Protocol reference, section 4. `onUnknown` is called once for each unknown event type. */
export function createTranslator(onUnknown: (type: string) => void): Translator {
  const told = new Set<string>();
  const unknown = (type: string) => {
    if (told.has(type)) return;
    told.add(type);
    onUnknown(type);
  };
  const messages = createMessages(unknown);
  const tools = createTools();

  return {
    fact(record) {
      switch (record.type) {
        case 'agent_start':
        case 'turn_start':
        // The messages in these are those of message_end and tool_execution_end.
        case 'turn_end':
        case 'summarization_retry_finished':
          return { type: record.type };
        case 'agent_end':
          tools.clear();
          return { type: 'agent_end', ...pick(record, { willRetry: 'boolean' }) };
        case 'agent_settled':
          return { type: 'native_settled', ...pick(record, { aborted: 'boolean' }) };
        case 'message_start':
          return messages.start(shapedMessage(record.message));
        case 'message_update':
          return messages.update(record);
        case 'message_end':
          return messages.end(shapedMessage(record.message));
        case 'tool_execution_start':
          return tools.start(record);
        case 'tool_execution_update':
          return tools.update(record);
        case 'tool_execution_end':
          return tools.end(record);
        default:
          return otherFact(record, unknown);
      }
    },
  };
}

function otherFact(record: AgentRecord, unknown: (type: string) => void): AgentFact | undefined {
  switch (record.type) {
    case 'bash_execution_update': {
      const delta = typeof record.delta === 'string' ? record.delta : '';
      return delta === ''
        ? undefined
        : { type: 'bash_execution_update', ...pick(record, { id: 'string', channel: 'string' }), delta };
    }
    case 'queue_update':
      return { type: 'queue_update', steering: texts(record.steering), followUp: texts(record.followUp) };
    case 'entry_appended':
      return { type: 'entry_appended', entry: object(record.entry) };
    case 'session_info_changed':
      return { type: 'session_info_changed', ...pick(record, { name: 'string' }) };
    case 'thinking_level_changed':
      return { type: 'thinking_level_changed', level: worded(record.level) };
    case 'model_changed':
      return {
        type: 'model_changed',
        model: (isObject(record.model) ? record.model : null) as NonNullable<AgentState['model']> | null,
        ...pick(record, { source: 'string' }),
      };
    case 'context_window_changed':
      return { type: 'context_window_changed', contextWindow: number(record.contextWindow) };
    // Older agents named the automatic kind apart.
    case 'auto_compaction_start':
    case 'compaction_start':
      return { type: 'compaction_start', ...pick(record, { reason: 'string' }) };
    case 'auto_compaction_end':
    case 'compaction_end':
      return {
        type: 'compaction_end',
        ...pick(record, {
          reason: 'string',
          aborted: 'boolean',
          willRetry: 'boolean',
          errorMessage: 'string',
        }),
        ...(isObject(record.result) && { result: record.result }),
      };
    case 'auto_retry_start':
    case 'summarization_retry_scheduled':
      return {
        type: record.type,
        attempt: number(record.attempt),
        maxAttempts: number(record.maxAttempts),
        delayMs: number(record.delayMs),
        ...pick(record, { errorMessage: 'string' }),
      };
    case 'auto_retry_end':
      return {
        type: 'auto_retry_end',
        success: record.success === true,
        ...pick(record, { attempt: 'number', finalError: 'string' }),
      };
    case 'summarization_retry_attempt_start':
      return {
        type: 'summarization_retry_attempt_start',
        ...pick(record, { source: 'string', reason: 'string' }),
      };
    case 'extension_error':
      return {
        type: 'extension_error',
        ...pick(record, { extensionPath: 'string', event: 'string' }),
        error: typeof record.error === 'string' ? record.error : worded(record.error ?? 'unknown'),
      };
    default:
      unknown(record.type);
      return { type: 'unknown_event', event: record };
  }
}

interface Types {
  string: string;
  number: number;
  boolean: boolean;
}

/** Those of the named fields that are there and of the right type. */
function pick<F extends Record<string, keyof Types>>(
  record: AgentRecord,
  fields: F,
): { [K in keyof F]?: Types[F[K]] } {
  const picked: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(fields))
    if (typeof record[name] === type) picked[name] = record[name];
  return picked as { [K in keyof F]?: Types[F[K]] };
}

const object = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(worded) : []);
