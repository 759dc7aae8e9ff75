import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsedLine } from '../../../server/src/agent/records.ts';

const parse = (text: string) => parsedLine(Buffer.from(text));
const recordOf = (text: string) => {
  const parsed = parse(text);
  if ('garbage' in parsed) throw new Error(parsed.garbage);
  return parsed.record;
};

describe('records', () => {
  it('survive what else is written to the same stream', () => {
    expect(parse('{"type":"agent_start"}')).toEqual({ record: { type: 'agent_start' } });
    expect(recordOf('\x1b]0;title\x07\x1b[?25l{"type":"agent_start"}\x1b[0m')).toEqual({
      type: 'agent_start',
    });
    expect(recordOf('\ufeff{"type":"agent_start"}')).toEqual({ type: 'agent_start' });
    expect(parse('Warning: old settings {"id":"c1","type":"response","success":true}')).toEqual({
      record: { id: 'c1', type: 'response', success: true },
    });
    for (const text of [
      '',
      '  ',
      'hello',
      '42',
      'null',
      '[]',
      '{"no":"type"}',
      '{"type":5}',
      '{"type":"x"',
      '\x1b[0m',
    ])
      expect(parse(text), text).toHaveProperty('garbage');
  });

  it('keep lone surrogates and separators', () => {
    expect(recordOf('{"type":"x","t":"\\ud83d|\u2028|\\u0000"}').t).toBe('\ud83d|\u2028|\u0000');
  });

  it('never show content in the reason', () => {
    expect(JSON.stringify(parse('my secret is 123'))).not.toContain('secret');
  });
});

const keys = fc.constantFrom(
  'partial',
  'assistantMessageEvent',
  'type',
  'delta',
  'message',
  'text',
  ',"partial":',
  '},"',
);
const words = fc.string({
  unit: fc.constantFrom('a', '"', '\\', ',', '{', '}', ':', 'é', '😀', '\ud83d', '"partial":', '\n'),
});
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.nat(),
    fc.constant({ type: 'text_delta', contentIndex: 7, delta: 'no', partial: { a: 1 } }),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
  ),
}));
const event = fc.oneof(
  fc.record({
    type: fc.constantFrom('text_delta', 'thinking_delta', 'toolcall_delta'),
    contentIndex: fc.nat(3),
    delta: words,
  }),
  fc.record({
    type: fc.constantFrom('text_start', 'thinking_start', 'toolcall_start'),
    contentIndex: fc.nat(3),
  }),
  fc.record({ type: fc.constantFrom('text_end', 'thinking_end'), contentIndex: fc.nat(3), content: words }),
  fc.record({
    type: fc.constant('toolcall_end'),
    contentIndex: fc.nat(3),
    toolCall: fc.record({
      type: fc.constant('toolCall'),
      id: words,
      name: words,
      arguments: fc.dictionary(keys, tree),
    }),
  }),
);

describe('cumulative updates', () => {
  it.each(['event first', 'message first', 'partial before delta'])(
    'give the same event as the whole line, %s',
    (layout) => {
      fc.assert(
        fc.property(event, fc.array(tree, { maxLength: 4 }), (bare, content) => {
          const message = { role: 'assistant', content, filler: 'x'.repeat(700) };
          const { type, contentIndex, ...rest } = bare;
          const full =
            layout === 'partial before delta'
              ? { type, contentIndex, partial: message, ...rest }
              : { ...bare, partial: message };
          const record =
            layout === 'message first'
              ? { type: 'message_update', message, assistantMessageEvent: full }
              : { type: 'message_update', assistantMessageEvent: full, message };
          const found = recordOf(JSON.stringify(record)).assistantMessageEvent as Record<string, unknown>;
          delete found.partial;
          expect(found).toEqual(JSON.parse(JSON.stringify(bare)));
        }),
        { numRuns: 500 },
      );
    },
  );

  it('are not parsed whole: a snapshot that is no JSON does no harm', () => {
    const snapshot = `{"role":"assistant","content":[${'x'.repeat(2_000)}]}`;
    for (const line of [
      `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"a\\"b","partial":${snapshot}},"message":${snapshot}}`,
      `{"type":"message_update","message":${snapshot},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"a\\"b","partial":${snapshot}}}`,
    ])
      expect(recordOf(line)).toEqual({
        type: 'message_update',
        snapshot: true,
        assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'a"b' },
      });
  });
});
