// Characters of two UTF-16 units whose halves come apart.
import { expect, it } from 'vitest';
import { createTranslator } from '../../../server/src/agent/translate.ts';

it('deltas are never cut within a character, which readers could not put together again', () => {
  const { fact } = createTranslator(() => {});
  const told: string[] = [];
  const update = (assistantMessageEvent: object) => {
    const it = fact({ type: 'message_update', assistantMessageEvent });
    const event = (it as { assistantMessageEvent?: { delta?: string; content?: string } })
      ?.assistantMessageEvent;
    told.push(event?.delta ?? event?.content ?? '');
  };
  const delta = (text: string) => update({ type: 'text_delta', contentIndex: 0, delta: text });
  fact({ type: 'message_start', message: { role: 'assistant', content: [] } });
  for (const text of ['one \ud83d', '\ude00 two', ' \ud83d', ' alone \ud83d']) delta(text);
  expect(told).toEqual(['one ', '\u{1f600} two', ' ', '\ud83d alone ']);
  update({ type: 'text_end', contentIndex: 0, content: 'one \u{1f600} two \ud83d alone \ud83d' });
  expect(told.at(-1)).toBe('one \u{1f600} two \ud83d alone \ud83d');
});
