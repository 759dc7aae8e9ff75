// The grammar of mentions: what is one, what is none, and that what is written by us is read back.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeZones } from '../../../server/src/prompt/code-zones.ts';
import { commandIn, mentionOf, mentionsIn, writingAt } from '../../../server/src/prompt/mentions.ts';
import { mention } from '../../../server/src/prompt/reference.ts';

/** Each mention as it would be written plainly. */
const read = (text: string) =>
  mentionsIn(text).map(({ kind, name, lines, symbol }) =>
    [kind[0], name, ...(lines ? [lines.from, lines.to] : []), ...(symbol ? [symbol] : [])].join(' '),
  );

describe('mentionsIn', () => {
  it.each([
    ['Look at @src/a.ts.', ['f src/a.ts']],
    ['@src/a.ts:12', ['f src/a.ts 12 12']],
    ['(@src/a.ts:12-20), and @src/', ['f src/a.ts 12 20', 'f src/']],
    ['@a.ts:20-12', ['f a.ts 12 20']],
    ['@a.ts#L3-L5 @a.ts:7:2', ['f a.ts 3 5', 'f a.ts 7 7']],
    ['@"my file.ts":3-4!', ['f my file.ts 3 4']],
    ['@"say \\"hi\\".md"', ['f say "hi".md']],
    ['@größe/日本.md', ['f größe/日本.md']],
    ['@app/(group)/[id].tsx and (see @a.ts)', ['f app/(group)/[id].tsx', 'f a.ts']],
    ['@~/notes.md @/etc/hosts @../up.ts', ['f ~/notes.md', 'f /etc/hosts', 'f ../up.ts']],
    ['see:@a.ts,@b.ts', ['f a.ts,@b.ts']],
    [
      '#editor.ts #editor.ts:createEditor #a.md:12-13',
      ['d editor.ts', 'd editor.ts createEditor', 'd a.md 12 13'],
    ],
    ['#"my notes.md":first-steps', ['d my notes.md first-steps']],
    ['@a.ts:createEditor', ['f a.ts:createEditor']],
    ['# Heading\n## Other\nC# and F#', []],
    ['write to me@example.org or git@github.com:x', []],
    ['`@a.ts` and ``a ` @b.ts`` but @c.ts', ['f c.ts']],
    ['```ts\n@Injectable()\n```\n@a.ts', ['f a.ts']],
    ['~~~\n@a\n```\n@b\n~~~\n@c', ['f c']],
    ['```\n@never closed', []],
    ['a ` alone @a.ts\n\nand ` another', ['f a.ts']],
    ['@ alone, @. and @…', []],
  ])('%j', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('says where each stands', () => {
    const text = 'ß🎉 @"a b.ts":2, #x';
    expect(mentionsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(['@"a b.ts":2', '#x']);
  });

  it('reads back what is written of any path', () => {
    const path = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((it) => !/[\r\n\\]/.test(it) && it.trim() !== '');
    fc.assert(
      fc.property(path, fc.boolean(), fc.constantFrom('@' as const, '#' as const), (name, quoted, sign) => {
        const text = `before ${mentionOf(sign, name, quoted)} after`;
        expect(mentionsIn(text)).toMatchObject([{ name, kind: sign === '@' ? 'file' : 'document' }]);
        expect(mentionsIn(text)[0]).not.toHaveProperty('lines');
      }),
    );
  });

  it('reads back the mentions of references', () => {
    const part = fc.stringMatching(/^[\w.äß-]*[\wäß]$/);
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const lines = fc.option(
      fc.tuple(fc.nat(9999), fc.nat(9999)).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
      { nil: undefined },
    );
    fc.assert(
      fc.property(path, lines, fc.constantFrom('', ' ', '"'), (plain, numbers, sign) => {
        const name = `${sign === '"' ? 'a"' : `a${sign}`}${plain}`;
        const [found] = mentionsIn(`${mention(name, numbers)}\n`);
        expect(found?.name).toBe(name);
        expect(found?.lines).toEqual(numbers);
      }),
    );
  });

  it('takes a long text in linear time, whatever is in it', () => {
    for (const piece of ['@a ', '`', '@"', '` @a\n\n', ')', '@))))', '```\n', '#x:'])
      expect(() => mentionsIn(piece.repeat(200_000))).not.toThrow();
    expect(() => mentionsIn(`@${')'.repeat(500_000)}`)).not.toThrow();
    expect(() => mentionsIn(Array.from({ length: 2000 }, (_, n) => '`'.repeat(n)).join(' '))).not.toThrow();
  });

  it('never overlaps, and never lies in code', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('@a', '`', '```\n', '\n', ' ', '"', '#b', ':1', '~~~', '(', ')')),
        (parts) => {
          const text = parts.join('');
          let last = 0;
          for (const { start, end } of mentionsIn(text)) {
            expect(start).toBeGreaterThanOrEqual(last);
            expect(end).toBeGreaterThan(start);
            expect(codeZones(text).some(([from, to]) => from <= start && start < to)).toBe(false);
            last = end;
          }
        },
      ),
    );
  });
});

describe('commandIn', () => {
  it.each([
    ['/review src', 'review'],
    ['\n  /skill:pdf', 'skill:pdf'],
    ['/usr/bin is a path', undefined],
    ['text /review', undefined],
    ['/', undefined],
  ])('%j', (text, name) => {
    expect(commandIn(text)?.name).toBe(name);
  });
});

describe('writingAt', () => {
  // The place is where the bar stands.
  const writing = (text: string) => {
    const at = text.indexOf('|');
    const whole = text.replace('|', '');
    const found = writingAt(whole, at);
    return found && [found.kind, found.typed, whole.slice(found.start, found.end)];
  };
  it.each([
    ['/|', ['command', '', '/']],
    ['/rev|', ['command', 'rev', '/rev']],
    ['/model anthropic/cl|', ['argument', 'anthropic/cl', 'anthropic/cl']],
    ['/review @sr|', ['file', 'sr', '@sr']],
    ['see @|', ['file', '', '@']],
    ['see (@src/a|', ['file', 'src/a', '@src/a']],
    ['see @"my fi|', ['file', 'my fi', '@"my fi']],
    ['see @"my fi|"', ['file', 'my fi', '@"my fi"']],
    ['#ed|', ['document', 'ed', '#ed']],
    ['#editor.ts:cre|', ['document', 'editor.ts:cre', '#editor.ts:cre']],
    ['me@exam|', undefined],
    ['`x @a|', ['file', 'a', '@a']],
    ['`x @a|`', undefined],
    ['```\n@a|', undefined],
    ['plain wo|', undefined],
    ['text\n/no|', undefined],
  ])('%j', (text, expected) => {
    expect(writing(text)).toEqual(expected);
  });
});
