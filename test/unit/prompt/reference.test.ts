// References to places in files: what a prompt says about them can always be read back.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockLimit, mention, referenceBlock } from '../../../server/src/prompt/reference.ts';

describe('mention', () => {
  it.each([
    ['src/a.ts', undefined, '@src/a.ts'],
    ['src/a.ts', { from: 3, to: 3 }, '@src/a.ts:3'],
    ['src/ä ß.ts', { from: 3, to: 8 }, '@"src/ä ß.ts":3-8'],
  ])('%s %j is %s', (path, lines, text) => {
    expect(mention(path, lines)).toBe(text);
  });
});

describe('referenceBlock', () => {
  const reference = { path: 'a.txt', lines: { from: 2, to: 3 }, text: 'x', unsaved: false, languageId: 'ts' };
  it('names the place and fences the text', () => {
    expect(referenceBlock(reference)).toBe('`a.txt:2-3`\n```ts\nx\n```');
    expect(referenceBlock({ ...reference, unsaved: true })).toMatch(/^`a.txt:2-3` \(unsaved\)\n/);
    const { path: _, lines: __, ...nameless } = reference;
    expect(referenceBlock({ ...nameless, unsaved: true, languageId: 'a b' })).toBe(
      'A text without a file\n```\nx\n```',
    );
    expect(referenceBlock({ ...reference, path: 'a`b' })).toMatch(/^`` a`b:2-3 ``\n/);
  });
  it('has a fence that its text cannot close', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('```', '`````', '  ````x', 'a', ' ', '')), (lines) => {
        const text = lines.join('\n');
        const [, fence, ...rest] = referenceBlock({ ...reference, text, languageId: '' }).split('\n');
        const end = rest.findIndex((line) => line.trimStart().startsWith(fence!));
        expect(end).toBe(rest.length - 1);
        expect(rest.slice(0, end).join('\n').trimEnd()).toBe(text.trimEnd());
      }),
    );
  });
  it('says what it leaves out, and cuts no character', () => {
    const block = referenceBlock({ ...reference, text: `a${'🎉'.repeat(blockLimit)}` });
    expect(block).toMatch(/\(the first 655\d\d of 131073 characters\)/);
    expect(Buffer.from(block).toString()).toBe(block);
    expect(block.length).toBeLessThan(blockLimit + 200);
  });
});
