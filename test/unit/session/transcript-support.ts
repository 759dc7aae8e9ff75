// Facts of a conversation for the tests of the transcript, and what they add to it. Knows the definitions only.
import type { Fact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { createTranscript, type Transcript } from '../../../server/src/session/transcript.ts';
import { timeOf } from '../../../server/src/session/transcript-blocks.ts';
import { settled } from './fold-support.ts';

/** What facts add, and the transcript for more. */
export function written(facts: readonly Fact[], transcript: Transcript = createTranscript()): string {
  let snapshot = emptySnapshot();
  return facts
    .map((fact) => {
      snapshot = folded(snapshot, fact);
      return transcript.appended(fact, snapshot);
    })
    .join('');
}

export const at = Date.UTC(2026, 0, 2, 3, 4, 5);
export const time = timeOf(at);
export const user = (text: string): Fact => ({
  type: 'message_end',
  message: { role: 'user', content: text, timestamp: at },
});
export const begins: Fact = {
  type: 'message_start',
  message: { role: 'assistant', content: [], timestamp: at },
};
export const piece = (
  delta: string,
  type: 'text_delta' | 'thinking_delta' = 'text_delta',
  contentIndex = 0,
): Fact => ({
  type: 'message_update',
  assistantMessageEvent: { type, contentIndex, delta },
});
export const ends = (content: Message['content'], more: Partial<Message> = {}): Fact => ({
  type: 'message_end',
  message: { role: 'assistant', content: content as never, timestamp: at, stopReason: 'stop', ...more },
});
export const text = (value: string) => ({ type: 'text' as const, text: value });
export const toolResult = (id: string, output: string, more: object = {}): Message => ({
  role: 'toolResult',
  toolCallId: id,
  toolName: 'bash',
  content: [text(output)],
  isError: false,
  timestamp: at,
  ...more,
});
export const toolFacts = (id: string, command: string, output: string, more: object = {}): Fact[] => [
  { type: 'tool_execution_start', toolCallId: id, toolName: 'bash', args: { command } },
  { type: 'tool_execution_update', toolCallId: id, delta: output },
  {
    type: 'tool_execution_end',
    toolCallId: id,
    toolName: 'bash',
    result: { content: [text(output)], ...more },
    isError: false,
  },
  { type: 'message_end', message: toolResult(id, output, more) },
];
export const call = (id: string, command: string) => ({
  type: 'toolCall' as const,
  id,
  name: 'bash',
  arguments: { command },
});

export const conversation: Fact[] = [
  { type: 'agent_start' },
  user('Run `ls`, please.'),
  begins,
  piece('I shall ', 'thinking_delta'),
  piece('look.\n\nNow.\n', 'thinking_delta'),
  piece('\n\nLook', 'text_delta', 1),
  piece('ing.', 'text_delta', 1),
  ends([{ type: 'thinking', thinking: 'I shall look.\n\nNow.\n' }, text('\n\nLooking.'), call('a', 'ls -l')]),
  ...toolFacts('a', 'ls -l', 'one\ntwo\n'),
  begins,
  piece('Two files.'),
  ends([text('Two files.')]),
  settled,
];
