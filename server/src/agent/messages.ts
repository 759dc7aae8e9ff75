// Messages in canonical form. Guarantees: a message's updates are deltas only and begin with empty blocks; text that the agent
// repeats (snapshots, block ends) is told again only where it differs; time and bytes grow with the answer. Must not know:
// the other events.
import type { AgentFact, AssistantDelta } from '../protocol/facts.ts';
import type { AgentRecord, Message, ToolCallBlock } from '../protocol/records.ts';
import { worded } from './shape.ts';

type EventRecord = Record<string, unknown> & { type?: unknown; contentIndex?: unknown };

export interface Messages {
  start(message: Message): AgentFact;
  /** The canonical update, or undefined when the record adds nothing or is not understood. */
  update(record: AgentRecord): AgentFact | undefined;
  end(message: Message): AgentFact;
}

/** Translates `message_start`, `message_update`, `message_end` of every dialect (protocol reference 4.3). */
export function createMessages(onUnknown: (type: string) => void): Messages {
  /** What the deltas of each block add up to. */
  let blocks = new Map<number, string>();
  /** The first half of a character whose second half comes with the next delta: readers decode each fact alone. */
  let halves = new Map<number, string>();
  const anew = () => {
    blocks = new Map();
    halves = new Map();
  };

  const begun = (
    type: 'text_start' | 'thinking_start' | 'toolcall_start',
    at: number,
    record: AgentRecord,
  ) => {
    blocks.set(at, '');
    halves.delete(at);
    const event = record.assistantMessageEvent as EventRecord;
    const shown = type === 'toolcall_start' ? toolNamed(event, at, record) : {};
    return update({ type, contentIndex: at, ...shown });
  };

  const ended = (type: 'text_end' | 'thinking_end', at: number, content: unknown) => {
    const same = typeof content !== 'string' || content === (blocks.get(at) ?? '');
    if (!same) blocks.set(at, content);
    return update({ type, contentIndex: at, ...(!same && { content }) });
  };

  return {
    start(message) {
      anew();
      // The content is there again in the deltas, or comes whole at the end (protocol reference 4.3: begin with empty blocks).
      return { type: 'message_start', message: announced(message) };
    },
    update(record) {
      const event = (record.assistantMessageEvent ?? {}) as EventRecord;
      const at = typeof event.contentIndex === 'number' ? event.contentIndex : 0;
      switch (event.type) {
        case 'text_start':
        case 'thinking_start':
        case 'toolcall_start':
          return begun(event.type, at, record);
        case 'text_delta':
        case 'thinking_delta':
        case 'toolcall_delta': {
          if (typeof event.delta !== 'string') return undefined;
          const half = halves.get(at) ?? '';
          const text = half + withDropped(event, (blocks.get(at) ?? '') + half, blockOf(record, event, at));
          const delta = endsHalf.test(text) ? text.slice(0, -1) : text;
          halves.set(at, text.slice(delta.length));
          if (delta === '') return undefined;
          blocks.set(at, (blocks.get(at) ?? '') + delta);
          return update({ type: event.type, contentIndex: at, delta });
        }
        case 'text_end':
        case 'thinking_end':
          return ended(event.type, at, event.content);
        case 'toolcall_end':
          return update({
            type: 'toolcall_end',
            contentIndex: at,
            toolCall: (event.toolCall ?? blockOf(record, event, at) ?? unnamedCall) as ToolCallBlock,
          });
        // Documented, never seen; message_start and message_end say the same.
        case 'start':
        case 'done':
        case 'error':
          return undefined;
        default:
          onUnknown(`message_update/${worded(event.type)}`);
          return undefined;
      }
    },
    end(message) {
      anew();
      return { type: 'message_end', message };
    },
  };
}

const endsHalf = /[\ud800-\udbff]$/;

/** A message as it begins: what only its end says for certain is left to that. */
function announced(message: Message): Message {
  switch (message.role) {
    case 'assistant':
      return { ...message, content: [] };
    case 'toolResult': {
      const { details: _, structuredContent: __, ...rest } = message;
      return { ...rest, content: [] };
    }
    case 'system':
      return {
        role: 'system',
        content: [],
        ...(message.timestamp !== undefined && { timestamp: message.timestamp }),
      };
    default:
      return message;
  }
}

/**
 * The delta with what was dropped before it, where a snapshot shows that; `told` is what was told of the block. A snapshot may also
 * be ahead of its delta: what comes after it is left to the deltas that follow.
 */
function withDropped(event: EventRecord, told: string, block: Record<string, unknown> | undefined): string {
  const delta = event.delta as string;
  const shown = event.type === 'text_delta' ? block?.text : block?.thinking;
  if (typeof shown !== 'string' || !shown.startsWith(told)) return delta;
  const end = shown.indexOf(delta, told.length) + delta.length;
  return end > told.length + delta.length ? shown.slice(told.length, end) : delta;
}

const unnamedCall: ToolCallBlock = { type: 'toolCall', id: '', name: '', arguments: {} };

const update = (assistantMessageEvent: AssistantDelta): AgentFact => ({
  type: 'message_update',
  assistantMessageEvent,
});

/** The block that a cumulative update shows at this place. */
function blockOf(record: AgentRecord, event: EventRecord, at: number): Record<string, unknown> | undefined {
  const snapshot = (event.partial ?? record.message) as { content?: unknown } | undefined;
  return Array.isArray(snapshot?.content) ? snapshot.content[at] : undefined;
}

/** Id and name of a tool call: in the event itself, or in the snapshot of older dialects. */
function toolNamed(event: EventRecord, at: number, record: AgentRecord): { id?: string; toolName?: string } {
  const block = blockOf(record, event, at);
  const id = event.id ?? block?.id;
  const toolName = event.toolName ?? block?.name;
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(typeof toolName === 'string' && toolName !== '' && { toolName }),
  };
}
