// What an agent says in the shape that everybody relies on. Guarantees: fields of a message that are there have their types, blocks are blocks; a message that
// has it already is given back as it is. Must not know: where a message comes from, what becomes of it.
import type { Block, Message } from '../protocol/records.ts';

const types: Record<string, 'string' | 'number'> = {
  timestamp: 'number',
  stopReason: 'string',
  errorMessage: 'string',
  provider: 'string',
  model: 'string',
  toolCallId: 'string',
  toolName: 'string',
  command: 'string',
  output: 'string',
  summary: 'string',
  customType: 'string',
};
/** What a block of a known kind must have. */
const needed: Record<string, Record<string, string>> = {
  text: { text: 'string' },
  thinking: { thinking: 'string' },
  toolCall: { id: 'string', name: 'string', arguments: 'object' },
  image: { data: 'string', mimeType: 'string' },
};

/** An object that is no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any value as a text; what is none is shown as it was written. */
export const worded = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** Anything that an agent calls a message. */
export function shapedMessage(value: unknown): Message {
  if (!isObject(value)) return { role: 'custom', content: [] };
  const wrong = Object.keys(value).filter(
    (key) => types[key] !== undefined && typeof value[key] !== types[key],
  );
  const { role, content } = value;
  const fits =
    content === undefined ||
    typeof content === 'string' ||
    (Array.isArray(content) && content.every(isBlock));
  if (wrong.length === 0 && fits && typeof role === 'string') return value as unknown as Message;
  const copy: Record<string, unknown> = { ...value, role: typeof role === 'string' ? role : 'custom' };
  for (const key of wrong) delete copy[key];
  if (!fits) copy.content = Array.isArray(content) ? content.filter(isBlock) : [];
  return copy as unknown as Message;
}

/** Blocks of kinds that are not known may have anything. */
function isBlock(value: unknown): value is Block {
  if (!isObject(value) || typeof value.type !== 'string') return false;
  const fields = Object.hasOwn(needed, value.type) ? needed[value.type]! : {};
  return Object.entries(fields).every(([name, type]) => kindOf(value[name]) === type);
}

const kindOf = (value: unknown): string =>
  typeof value !== 'object' || isObject(value) ? typeof value : 'other';
