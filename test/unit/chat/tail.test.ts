// The newest turns of a transcript, and what a document that shows some of it lacks.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyView, headLine, headPattern, missingIn, tailStart } from '../../../server/src/chat/tail.ts';
import { mark } from '../../../server/src/session/transcript-text.ts';

const turn = (n: number, more = '') =>
  `## You ${mark} 2026-01-02 03:04\n\nquestion ${n}${more}\n\n## Atomic ${mark}\n\nanswer ${n}\n\n`;
const turns = (count: number) => Array.from({ length: count }, (_, n) => turn(n)).join('');

describe('the tail', () => {
  it('is everything where there is little', () => {
    expect(tailStart(turns(3))).toEqual({ at: 0, left: 0 });
    expect(tailStart('')).toEqual({ at: 0, left: 0 });
    expect(tailStart(`${mark} hello\n`)).toEqual({ at: 0, left: 0 });
  });
  it('begins with a turn and is bounded in turns and in size', () => {
    const text = turns(10);
    expect(tailStart(text, { turns: 4, units: 100_000 })).toEqual({ at: turns(6).length, left: 6 });
    expect(tailStart(text, { turns: 40, units: turn(0).length * 3 })).toEqual({
      at: turns(7).length,
      left: 7,
    });
  });
  it('has the last turn, however long it is', () => {
    const text = turns(3) + turn(3, 'x'.repeat(10_000));
    expect(tailStart(text, { turns: 4, units: 1000 })).toEqual({ at: turns(3).length, left: 3 });
  });
  it('cannot be cut within a text that looks like a turn', () => {
    const text = turn(0, '\n\n## You ◇ 2026\n\nx') + turn(1);
    expect(tailStart(text, { turns: 1, units: 10 }).left).toBe(1);
  });
  it('has a first line that is found again', () => {
    for (const left of [1, 2, 1234])
      expect(headPattern.exec(`a\n${headLine(left)}\n\nb`)?.[0]).toBe(headLine(left));
  });
});

describe('what is missing', () => {
  it('is everything in an empty document and in one where nothing was said', () => {
    expect(missingIn('', turns(1))).toEqual({ text: turns(1), breaks: 0 });
    expect(missingIn(emptyView, turns(1))).toEqual({ text: turns(1), breaks: 2 });
  });
  it('is nothing where all is there, with another line break at the end, and with the line ends of another system', () => {
    const text = `${turns(2)}${mark} 20 tokens\n`;
    expect(missingIn(text, text)).toEqual({ text: '', breaks: 1 });
    expect(missingIn(`${text}\n`, text)).toEqual({ text: '', breaks: 1 });
    expect(missingIn(text.replaceAll('\n', '\r\n'), text)).toEqual({ text: '', breaks: 1 });
  });
  it('leaves out remarks of the moment', () => {
    expect(missingIn(`${turns(1)}${mark} Queued: x\n`, turns(1) + turn(1))).toEqual({
      text: `\n${turn(1)}`,
      breaks: 1,
    });
  });
  it('passes over what a person wrote at the end, and above where nothing was said yet', () => {
    expect(missingIn(`${turns(1)}my own\nwords`, turns(2))).toEqual({
      text: `\n\n${turn(1)}`,
      breaks: 0,
    });
    expect(missingIn(`mine\n${emptyView}`, turns(1))).toEqual({ text: turns(1), breaks: 2 });
  });
  it('cannot be told of another conversation', () => {
    expect(missingIn('# My notes\n', turns(2))).toBeUndefined();
  });
  it('completes what was shown, wherever it was cut', () => {
    const text = turns(4);
    fc.assert(
      fc.property(fc.integer({ min: turns(1).length, max: text.length }), fc.boolean(), (cut, adds) => {
        const shown = text.slice(0, cut);
        const document = adds && !shown.endsWith('\n') ? `${shown}\n` : shown;
        const missing = missingIn(document, text)!;
        const kept = document.replace(/\n*$/, '') + '\n'.repeat(missing.breaks);
        expect(kept + missing.text).toBe(text);
      }),
    );
  });
});
