// The fold of what is said: messages, the one in flight, use of tokens. Guarantees: pure, shares structure; the kept messages
// are bounded in number and size, those that fell off are counted. Must not know: runs, tools, intents.
import type { AssistantDelta } from '../protocol/facts.ts';
import type { Message } from '../protocol/records.ts';
import {
  type BlockInFlight,
  type MessageInFlight,
  messageTail,
  type Snapshot,
} from '../protocol/snapshot.ts';

/** No message has so many blocks; a wilder number must not cost memory. */
const blockLimit = 4096;

const sizes = new WeakMap<object, number>();

/** UTF-16 units of a value's JSON text; counted once for each object. */
export function sizeOf(value: object): number {
  let size = sizes.get(value);
  if (size === undefined) {
    size = JSON.stringify(value).length;
    sizes.set(value, size);
  }
  return size;
}

/** The newest messages within {@link messageTail}, at least one if there is any; `dropped` counts the others. */
export function newestMessages(all: readonly Message[]): { messages: Message[]; dropped: number } {
  let units = 0;
  let start = all.length;
  while (start > 0 && all.length - start < messageTail.count) {
    units += sizeOf(all[start - 1]!);
    if (units > messageTail.units && start < all.length) break;
    start -= 1;
  }
  return { messages: all.slice(start), dropped: start };
}

/** The snapshot with a message that is complete. */
export function withMessage(snapshot: Snapshot, message: Message): Snapshot {
  const { messages, dropped } = newestMessages([...snapshot.messages, message]);
  return {
    ...snapshot,
    messages,
    olderMessages: snapshot.olderMessages + dropped,
    usage: usageWith(snapshot.usage, message),
  };
}

export const noUsage = (): Snapshot['usage'] => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: 0,
});

/** What was used so far and what this message used: tokens, and the cost in the agent's currency. */
export function usageWith(sum: Snapshot['usage'], { usage }: Message): Snapshot['usage'] {
  if (typeof usage !== 'object' || usage === null) return sum;
  return {
    input: sum.input + amount(usage.input),
    output: sum.output + amount(usage.output),
    cacheRead: sum.cacheRead + amount(usage.cacheRead),
    cacheWrite: sum.cacheWrite + amount(usage.cacheWrite),
    cost: sum.cost + amount(usage.cost?.total),
  };
}

const amount = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** The message in flight after one update; begun here where its start was not told. */
export function messageUpdated(
  message: MessageInFlight | null,
  event: AssistantDelta,
  at: number,
): MessageInFlight | null {
  const index = event.contentIndex;
  if (!Number.isInteger(index) || index < 0 || index >= blockLimit) return message;
  const before = message ?? { role: 'assistant', startedAt: at, blocks: [] };
  const blocks = [...before.blocks];
  while (blocks.length < index) blocks.push({ kind: 'text', text: '', done: true });
  const block = blockUpdated(blocks[index], event);
  if (!block) return message;
  blocks[index] = block;
  return { ...before, blocks };
}

function blockUpdated(block: BlockInFlight | undefined, event: AssistantDelta): BlockInFlight | undefined {
  switch (event.type) {
    case 'text_start':
    case 'thinking_start':
    case 'toolcall_start':
      return {
        kind: kindOf(event.type),
        text: '',
        ...(event.id !== undefined && { id: event.id }),
        ...(event.toolName !== undefined && { toolName: event.toolName }),
        done: false,
      };
    case 'text_delta':
    case 'thinking_delta':
    case 'toolcall_delta':
      return { ...block, kind: kindOf(event.type), text: (block?.text ?? '') + event.delta, done: false };
    case 'text_end':
    case 'thinking_end':
      return { ...block, kind: kindOf(event.type), text: event.content ?? block?.text ?? '', done: true };
    case 'toolcall_end': {
      const { id, name, arguments: args } = event.toolCall;
      return { kind: 'toolcall', text: JSON.stringify(args ?? {}), id, toolName: name, done: true };
    }
    default:
      return undefined;
  }
}

const kindOf = (type: AssistantDelta['type']): BlockInFlight['kind'] =>
  type.slice(0, type.indexOf('_')) as BlockInFlight['kind'];
