// What the end of a message need not say again. Guarantees: pure; what `briefFact` leaves out `wholeFact` puts back, given the same
// message in flight; text that was changed after it was streamed is never left out. Must not know: journals, readers.
import type { Fact, FactOf } from '../protocol/facts.ts';
import type { Block, Message } from '../protocol/records.ts';
import type { BlockInFlight, MessageInFlight } from '../protocol/snapshot.ts';

/** A block whose text is that of the block in flight says so in its place. */
interface Streamed {
  type: string;
  streamed?: unknown;
  [field: string]: unknown;
}

/** The field that a block's text is in bears the name of its kind. */
const saysText = (block: Streamed): boolean => block.type === 'text' || block.type === 'thinking';

function briefBlock(block: Streamed, flight: BlockInFlight | undefined): Streamed {
  const { [block.type]: text, ...rest } = block;
  const told = flight?.kind === block.type && flight.text !== '' && flight.text === text;
  return saysText(block) && told && !('streamed' in block)
    ? { ...rest, type: block.type, streamed: true }
    : block;
}

function wholeBlock(block: Streamed, flight: BlockInFlight | undefined): Streamed {
  if (!saysText(block) || block.streamed !== true || block[block.type] !== undefined) return block;
  const { streamed: _, ...rest } = block;
  return { ...rest, [block.type]: flight?.text ?? '' };
}

function withBlocks(
  message: Message,
  inFlight: MessageInFlight | null,
  changed: (block: Streamed, flight: BlockInFlight | undefined) => Streamed,
): Message {
  const { role, content } = message;
  if (role !== 'assistant' || !Array.isArray(content)) return message;
  const blocks = content.map((block, at) =>
    typeof block === 'object' && block !== null ? (changed(block, inFlight?.blocks[at]) as Block) : block,
  );
  return blocks.every((block, at) => block === content[at]) ? message : { ...message, content: blocks };
}

/** The message with its whole text, where the fact left out what was streamed. */
export const wholeMessage = (message: Message, inFlight: MessageInFlight | null): Message =>
  withBlocks(message, inFlight, wholeBlock);

/** The fact as it is told to readers, who have the message in flight before it. */
export const briefFact = (fact: Fact, inFlight: MessageInFlight | null): Fact =>
  fact.type === 'message_end' ? withMessage(fact, withBlocks(fact.message, inFlight, briefBlock)) : fact;

/** The fact with its whole text. */
export const wholeFact = (fact: Fact, inFlight: MessageInFlight | null): Fact =>
  fact.type === 'message_end' ? withMessage(fact, wholeMessage(fact.message, inFlight)) : fact;

const withMessage = <F extends FactOf<'message_end'>>(fact: F, message: Message): F =>
  message === fact.message ? fact : { ...fact, message };
