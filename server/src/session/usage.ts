// Tokens and cost in a few words. Guarantees: pure; nothing is said where the agent does not tell. Must not know: who shows it.
import type { Message } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { noUsage, usageWith } from './fold-message.ts';

/** `1,234 tokens in, 56 out · 12 % of the context · $0.0123`: what was used, and how full the context is after the last message. */
export function usageLine(
  used: Snapshot['usage'],
  last: Message | undefined,
  contextWindow: number | undefined,
): string {
  const sent = used.input + used.cacheRead + used.cacheWrite;
  if (sent + used.output === 0) return '';
  const part = last && contextWindow ? contextTokens(last) / contextWindow : undefined;
  return [
    `${number(sent)} tokens in, ${number(used.output)} out`,
    ...(part === undefined ? [] : [`${Math.round(part * 100)} % of the context`]),
    ...(used.cost > 0 ? [`$${used.cost.toFixed(used.cost < 0.1 ? 4 : 2)}`] : []),
  ].join(' · ');
}

/** The same for everything since the last prompt. */
export function turnUsage({ messages, state }: Snapshot): string {
  const from = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const answers = messages.slice(from).filter(({ role }) => role === 'assistant');
  return usageLine(answers.reduce(usageWith, noUsage()), answers.at(-1), state.model?.contextWindow);
}

/** Tokens of the context after this message of the model. */
function contextTokens(message: Message): number {
  const { input, output, cacheRead, cacheWrite } = usageWith(noUsage(), message);
  return input + output + cacheRead + cacheWrite;
}

const number = (count: number): string => count.toLocaleString('en');
