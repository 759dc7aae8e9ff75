// Text of others made fit for the transcript.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bounded,
  cleaned,
  closingOf,
  codeSpan,
  createCleaner,
  createFences,
  fenced,
  oneLine,
} from '../../../server/src/session/transcript-text.ts';

describe('cleaned', () => {
  it.each([
    ['a colour', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title', 'a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c', 'abc'],
    ['a character set', 'a\u001b(Bb', 'ab'],
    ['line ends', 'a\r\nb\rc\r', 'a\nb\nc\n'],
    ['controls', 'a\u0000\u0008\u007f\u0085b\tc', 'ab\tc'],
    ['an escape without end', 'a\u001b]0;title\nb', 'a\nb'],
    ['halves of characters', 'a\ud83db\ude00c😀\ud83d', 'a\ufffdb\ufffdc😀\ufffd'],
    ['the mark', '◈', '◇'],
  ])('%s', (_, text, clean) => expect(cleaned(text)).toBe(clean));

  it('is the same however the text is cut', () => {
    const wild = fc.string({
      unit: fc.constantFrom(
        'a',
        ' ',
        '\n',
        '\r',
        '\u001b',
        '[',
        ']',
        '3',
        'm',
        '\u0007',
        '\\',
        '(',
        '◈',
        '\ud83d',
        '\ude00',
        '\u009b',
      ),
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.array(wild, { maxLength: 8 }), (pieces) => {
        const clean = createCleaner();
        expect(pieces.map((piece) => clean(piece)).join('') + clean()).toBe(cleaned(pieces.join('')));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('fences', () => {
  it.each([
    ['```', '```'],
    ['```js\n``', '```js'.slice(0, 3)],
    ['~~~~\n~~~', '~~~~'],
    ['```\na\n````', undefined],
    ['``` a`b', undefined],
    ['   ```', '   ```'],
    ['1. a\n   ```', '   ```'],
    ['- ```', '  ```'],
    ['> ```', undefined],
    ['```\n``` no', '```'],
  ])('%j is closed by %j', (text, closing) => expect(closingOf(text)).toBe(closing));

  it('are followed the same however the text is cut, and one closing closes', () => {
    const wild = fc.stringMatching(/^[`~ \n\-a1.]{0,12}$/);
    fc.assert(
      fc.property(fc.array(wild, { maxLength: 8 }), (pieces) => {
        const fences = createFences();
        for (const piece of pieces) fences.read(piece);
        const whole = pieces.join('');
        const closing = closingOf(whole);
        expect(fences.closing()).toBe(closing);
        if (closing !== undefined) expect(closingOf(`${whole}\n${closing}\n`)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('of ours hold any text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[`~ \na]{0,40}$/), (text) => {
        const lines = fenced(text).split('\n');
        const [open] = lines;
        const inner = new RegExp(`^ {0,3}\`{${open!.length},}[ \\t]*$`);
        expect(lines.slice(1).findIndex((line) => inner.test(line))).toBe(lines.length - 2);
      }),
    );
  });
});

it('cuts lines and texts at whole characters', () => {
  expect(oneLine('a\n b\t c')).toBe('a b c');
  expect(oneLine('ab😀😀', 4)).toBe('ab…');
  expect(bounded('a\nb\nc\nd\ne', { head: 1, tail: 1, width: 9 })).toBe('a\n… 3 lines left out\ne');
  expect(bounded('a\nb\nc', { head: 1, tail: 1, width: 9 })).toBe('a\nb\nc');
  expect(bounded('a😀b', { head: 1, tail: 1, width: 2 })).toBe('a…');
  expect(bounded('1%\r2%\r\n\u001b[31mred\u001b[0m\n', { head: 2, tail: 2, width: 9 })).toBe('1%\n2%\nred');
  const long = `a${'\u001b[31mx\n'.repeat(1_000_000)}`;
  expect(bounded(long, { head: 1, tail: 1, width: 9 })).toBe('ax\n… 999998 lines left out\nx');
  expect(codeSpan('a`b')).toBe('``a`b``');
  expect(codeSpan('`')).toBe('`` ` ``');
});
