// Which dialect an agent speaks. Guarantees: seen from what it says anyway, no probe is sent (protocol reference, section 12);
// fields are still taken one by one and never by this name. Must not know: what the answer is used for.
import type { AgentRecord, ResponseRecord } from '../protocol/records.ts';

/** D1: cumulative updates. D2: deltas, Atomic's own state fields. D3: upstream pi of today, or Atomic with its shapes. */
export type Dialect = 'D1' | 'D2' | 'D3';

/** The dialect that this record shows; undefined when it could be any. */
export function dialectShown(record: AgentRecord): Dialect | undefined {
  switch (record.type) {
    case 'message_update':
      return 'snapshot' in record || 'message' in record || hasPartial(record.assistantMessageEvent)
        ? 'D1'
        : undefined;
    case 'model_changed':
      return 'D2';
    case 'context_window_changed':
      return 'D1';
    case 'agent_end':
      return 'willRetry' in record ? 'D3' : undefined;
    case 'message_start':
      return (record.message as { role?: unknown } | undefined)?.role === 'system' ? 'D3' : undefined;
    case 'response': {
      const { command, data } = record as unknown as ResponseRecord;
      if (typeof data !== 'object' || data === null) return undefined;
      if (command === 'get_state' && 'queuedMessagesPaused' in data) return 'D2';
      return command === 'prompt' && 'disposition' in data ? 'D3' : undefined;
    }
    default:
      return undefined;
  }
}

const hasPartial = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'partial' in event;
