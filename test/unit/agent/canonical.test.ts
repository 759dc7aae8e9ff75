// Bytes told against bytes heard, and the repair of texts that differ.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTools, whatWasAdded } from '../../../server/src/agent/tools.ts';
import { createTranslator } from '../../../server/src/agent/translate.ts';
import { fakeAgent } from './support.ts';

/** A cumulative answer of `count` deltas, 20 characters each, in the layout of D0 or D1. */
async function toldOf(
  count: number,
  layout: 'D0' | 'D1',
): Promise<{ heard: number; told: number; text: string }> {
  const fake = fakeAgent();
  let heard = 0;
  const say = async (record: object) => {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    heard += line.length;
    fake.output(line);
  };
  let text = '';
  const message = () => ({ role: 'assistant', content: [{ type: 'text', text }], usage: { input: 1 } });
  await say({ type: 'agent_start' });
  await say({ type: 'message_start', message: message() });
  for (let at = 0; at < count; at++) {
    const delta = `word ${String(at).padStart(14)} `;
    text += delta;
    const assistantMessageEvent = { type: 'text_delta', contentIndex: 0, delta, partial: message() };
    await say(
      layout === 'D0'
        ? { type: 'message_update', assistantMessageEvent, message: message() }
        : { type: 'message_update', message: message(), assistantMessageEvent },
    );
  }
  await say({
    type: 'message_update',
    assistantMessageEvent: { type: 'text_end', contentIndex: 0, content: text, partial: message() },
    message: message(),
  });
  await say({ type: 'message_end', message: message() });
  const facts = fake.facts();
  return {
    heard,
    told: JSON.stringify(facts).length,
    text: facts
      .flatMap((fact) =>
        fact.type === 'message_update' && fact.assistantMessageEvent.type === 'text_delta'
          ? [fact.assistantMessageEvent.delta]
          : [],
      )
      .join(''),
  };
}

describe('cumulative messages', () => {
  it.each(['D0', 'D1'] as const)('of %s are told in bytes that grow with the answer', async (layout) => {
    const small = await toldOf(200, layout);
    const large = await toldOf(800, layout);
    expect(large.heard / small.heard).toBeGreaterThan(12);
    expect(large.told / small.told).toBeLessThan(4.1);
    expect(large.text).toHaveLength(800 * 20);
  });

  it('say the text of a block again only where it differs', () => {
    const { fact } = createTranslator(() => {});
    const update = (assistantMessageEvent: object) => fact({ type: 'message_update', assistantMessageEvent });
    fact({
      type: 'message_start',
      message: { role: 'assistant', content: [{ type: 'text', text: 'already' }] },
    });
    update({ type: 'text_start', contentIndex: 0 });
    update({ type: 'text_delta', contentIndex: 0, delta: 'one ' });
    update({ type: 'text_delta', contentIndex: 0, delta: 'two' });
    expect(update({ type: 'text_end', contentIndex: 0, content: 'one two' })).toEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'text_end', contentIndex: 0 },
    });
    update({ type: 'text_delta', contentIndex: 1, delta: 'cut' });
    expect(update({ type: 'text_end', contentIndex: 1, content: 'uncut' })).toEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'text_end', contentIndex: 1, content: 'uncut' },
    });
  });

  it('are told with what was dropped, and never with what a snapshot has ahead of its delta', async () => {
    const piece = fc.record({
      delta: fc.string({
        unit: fc.constantFrom('a', 'b', ' ', '\n', '"', 'ä', '😀'),
        minLength: 1,
        maxLength: 4,
      }),
      dropped: fc.boolean(),
      ahead: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 30 }),
        fc.constantFrom('D0', 'D1'),
        fc.constantFrom(0, 700),
        async (pieces, layout, filler) => {
          const fake = fakeAgent();
          const upTo = (count: number) =>
            pieces
              .slice(0, count)
              .map(({ delta }) => delta)
              .join('');
          const message = (count: number) => ({
            role: 'assistant',
            content: [{ type: 'text', text: upTo(count) }],
            filler: 'x'.repeat(filler),
          });
          const told = () =>
            fake
              .facts()
              .flatMap((fact) =>
                fact.type === 'message_update' && fact.assistantMessageEvent.type === 'text_delta'
                  ? [fact.assistantMessageEvent.delta]
                  : [],
              )
              .join('');
          await fake.says({ type: 'message_start', message: message(0) });
          for (const [at, { delta, dropped, ahead }] of pieces.entries()) {
            if (dropped) continue;
            const partial = message(at + 1 + ahead);
            const assistantMessageEvent = { type: 'text_delta', contentIndex: 0, delta, partial };
            await fake.says(
              layout === 'D0'
                ? { type: 'message_update', assistantMessageEvent, message: partial }
                : { type: 'message_update', message: partial, assistantMessageEvent },
            );
            // With neither, what is told is all there is; with both, it is a beginning of it where the snapshot can tell.
            if (pieces.every((each) => !each.dropped)) expect(told()).toBe(upTo(at + 1));
            else if (pieces.every((each) => each.ahead === 0)) {
              expect(upTo(at + 1).startsWith(told())).toBe(true);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('begin without what their end says again, but for what a person wrote', () => {
    const { fact } = createTranslator(() => {});
    const begun = (message: object) =>
      (fact({ type: 'message_start', message }) as unknown as { message: object }).message;
    const content = [{ type: 'text', text: 'x' }];
    expect(begun({ role: 'assistant', content, model: 'm' })).toEqual({
      role: 'assistant',
      content: [],
      model: 'm',
    });
    expect(begun({ role: 'toolResult', content, details: { a: 1 }, toolCallId: 'c' })).toEqual({
      role: 'toolResult',
      content: [],
      toolCallId: 'c',
    });
    expect(begun({ role: 'system', content, sections: {}, timestamp: 1 })).toEqual({
      role: 'system',
      content: [],
      timestamp: 1,
    });
    expect(begun({ role: 'user', content })).toEqual({ role: 'user', content });
  });

  it('name a tool as soon as the snapshot does', () => {
    const { fact } = createTranslator(() => {});
    const partial = {
      role: 'assistant',
      content: [{ type: 'toolCall', id: 'call_1', name: 'bash', arguments: {} }],
    };
    expect(
      fact({
        type: 'message_update',
        assistantMessageEvent: { type: 'toolcall_start', contentIndex: 0, partial },
        message: partial,
      }),
    ).toEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'toolcall_start', contentIndex: 0, id: 'call_1', toolName: 'bash' },
    });
  });
});

describe('tool output', () => {
  it('of a growing text or a moving window adds up to all of it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(9_999), { minLength: 1, maxLength: 30 }), { minLength: 1 }),
        fc.integer({ min: 400, max: 2_000 }),
        (batches, window) => {
          let all = '';
          let before = '';
          let told = '';
          let line = 0;
          for (const batch of batches) {
            for (const number of batch) all += `${(line++).toString(36)}:${number}\n`;
            const next = all.slice(-window);
            const { delta, reset } = whatWasAdded(before, next);
            told = (reset ? '' : told) + delta;
            before = next;
            expect(all.endsWith(told)).toBe(true);
            expect(told.endsWith(next)).toBe(true);
          }
          // Thirty lines are always shorter than the window, so nothing was ever missed.
          expect(told).toBe(all);
        },
      ),
    );
  });

  it('begins anew where nothing is left of what was shown', () => {
    expect(whatWasAdded('abc', 'xyz')).toEqual({ delta: 'xyz', reset: true });
    expect(whatWasAdded('abc', '')).toEqual({ delta: '', reset: true });
    expect(whatWasAdded('abc', 'abc')).toEqual({ delta: '' });
    expect(whatWasAdded('abc', 'ab')).toEqual({ delta: 'ab', reset: true });
  });

  it('is told in bytes that grow with the output', () => {
    const bytes = (lines: number) => {
      const tools = createTools();
      let text = '';
      let told = 0;
      for (let at = 0; at < lines; at++) {
        text += `line ${String(at).padStart(10)}\n`;
        const partialResult = { content: [{ type: 'text', text: text.slice(-5_000) }] };
        told += JSON.stringify(
          tools.update({ type: 'tool_execution_update', toolCallId: 'c', partialResult }),
        ).length;
      }
      return told;
    };
    expect(bytes(4_000) / bytes(1_000)).toBeLessThan(4.1);
  });

  it('failed where any of three places says so', () => {
    const tools = createTools();
    const failed = (record: object) =>
      (
        tools.end({ type: 'tool_execution_end', toolCallId: 'c', toolName: 'bash', ...record }) as {
          isError: boolean;
        }
      ).isError;
    expect(failed({ result: {}, isError: false })).toBe(false);
    expect(failed({ result: {}, isError: true })).toBe(true);
    expect(failed({ result: { isError: true }, isError: false })).toBe(true);
    expect(failed({ result: { details: { exitCode: 3 } }, isError: false })).toBe(true);
    expect(failed({ result: { structuredContent: { exit_code: 3 } } })).toBe(true);
    expect(failed({ result: { details: { exitCode: 0 } }, isError: false })).toBe(false);
  });
});

describe('other events', () => {
  it('keep old names out and unknown ones in', () => {
    const unknown: string[] = [];
    const { fact } = createTranslator((type) => unknown.push(type));
    expect(fact({ type: 'auto_compaction_start', reason: 'threshold' })).toEqual({
      type: 'compaction_start',
      reason: 'threshold',
    });
    expect(fact({ type: 'auto_compaction_end', aborted: true, willRetry: false, result: null })).toEqual({
      type: 'compaction_end',
      aborted: true,
      willRetry: false,
    });
    const event = { type: 'model_fallback_start', from: 'a', to: 'b' };
    expect(fact(event)).toEqual({ type: 'unknown_event', event });
    fact(event);
    expect(unknown).toEqual(['model_fallback_start']);
  });

  it('survive missing and wrong fields', () => {
    const { fact } = createTranslator(() => {});
    const types = [
      'agent_end',
      'message_start',
      'message_update',
      'message_end',
      'tool_execution_start',
      'tool_execution_update',
      'tool_execution_end',
      'bash_execution_update',
      'queue_update',
      'entry_appended',
      'session_info_changed',
      'model_changed',
      'compaction_end',
      'auto_retry_start',
      'extension_error',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.object(), (type, fields) => {
        expect(() => fact({ ...fields, type })).not.toThrow();
      }),
    );
  });
});
