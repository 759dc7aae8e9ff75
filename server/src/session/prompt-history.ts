// Earlier prompts of a session: what the hub kept, then what the conversation has besides (one that was begun in a terminal).
// Guarantees: the newest first, each text once, as the person wrote it. Must not know: where they are kept.
import type { ResponseRecord } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { KeptPrompt, PromptHistory } from './ports.ts';

/** The answer to `list_history`. */
export async function listedHistory(
  history: PromptHistory | undefined,
  { messages }: Snapshot,
  limit: number,
): Promise<ResponseRecord> {
  const prompts: KeptPrompt[] = history ? await history.list(limit) : [];
  const known = (text: string) =>
    // A message may have more than the person wrote.
    prompts.some((prompt) => text === prompt.text || text.startsWith(`${prompt.text}\n\n`));
  for (const message of messages.toReversed()) {
    if (prompts.length >= limit) break;
    if (message.role !== 'user') continue;
    const text = textOf(message.content).trim();
    const at = typeof message.timestamp === 'number' ? message.timestamp : 0;
    if (text !== '' && !known(text)) prompts.push({ text, at });
  }
  return { type: 'response', success: true, data: { prompts } };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: { text?: unknown }) => (typeof block.text === 'string' ? block.text : ''))
    .join('');
}
