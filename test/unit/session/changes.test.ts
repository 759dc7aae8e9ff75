// Diffs of the agent's changes: lines, three-way, hunks, and what a call tells about the text before it. What must hold for every
// text is a property.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isResult, undone } from '../../../server/src/session/files.ts';
import { difference, unified, withoutHunk } from '../../../server/src/session/hunks.ts';
import { linesOf, spansBetween } from '../../../server/src/session/line-diff.ts';
import { withoutAgent } from '../../../server/src/session/three-way.ts';

/** Few different lines, so that they repeat; ends of all kinds, and none at the end. */
const line = fc
  .constantFrom('a', 'b', 'c', 'ü 😀', '', '\\ x', '-', '+')
  .chain((text) => fc.constantFrom('\n', '\r\n').map((end) => text + end));
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('', 'last', '\r', '\ud800'))
  .map(([lines, last]) => lines.join('') + last);

it('has the lines of every text', () => {
  fc.assert(fc.property(text, (it) => linesOf(it).join('') === it));
});

it('makes one text of the other by the spans', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const a = linesOf(one);
      const b = linesOf(other);
      const made = [...a];
      for (const { aStart, aEnd, bStart, bEnd } of spansBetween(a, b).reverse())
        made.splice(aStart, aEnd - aStart, ...b.slice(bStart, bEnd));
      expect(made).toEqual(b);
    }),
  );
});

it('gives texts that differ in very much one span', () => {
  const lines = (mark: string) => Array.from({ length: 5000 }, (_, at) => `${mark}${at}\n`);
  expect(spansBetween(['x\n', ...lines('a'), 'y\n'], ['x\n', ...lines('b'), 'y\n'])).toEqual([
    { aStart: 1, aEnd: 5001, bStart: 1, bEnd: 5001 },
  ]);
});

it('is the base again when all hunks are taken back, in any order', () => {
  fc.assert(
    fc.property(text, text, fc.infiniteStream(fc.nat(100)), (base, changed, choice) => {
      let current = changed;
      for (let round = 0; current !== base; round += 1) {
        expect(round).toBeLessThan(100);
        const { hunks } = difference(base, current);
        current = withoutHunk(base, current, hunks[choice.next().value % hunks.length]!);
      }
      expect(difference(base, current)).toEqual({ hunks: [], added: 0, removed: 0 });
    }),
  );
});

it('writes diffs that git applies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ä diff-'));
  const before = `${Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join('')}end`;
  const after = before
    .replace('line 3\n', 'changed\r\nmore ü\n')
    .replace('line 30\n', '')
    .replace('end', 'end\n');
  const { hunks, added, removed } = difference(before, after);
  expect([hunks.length, added, removed]).toEqual([3, 3, 3]);
  writeFileSync(join(folder, 'a ü.txt'), before);
  writeFileSync(join(folder, 'diff'), unified('a ü.txt', 'a ü.txt', hunks));
  execFileSync('git', ['apply', '--whitespace=nowarn', 'diff'], { cwd: folder });
  expect(readFileSync(join(folder, 'a ü.txt'), 'utf8')).toBe(after);
  writeFileSync(join(folder, 'new'), unified(undefined, 'sub/n.txt', difference('', 'one\ntwo').hunks));
  execFileSync('git', ['apply', 'new'], { cwd: folder });
  expect(readFileSync(join(folder, 'sub/n.txt'), 'utf8')).toBe('one\ntwo');
  rmSync(folder, { recursive: true });
});

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `${at}\n`);
const replaced = (lines: string[], at: number, by: string) => lines.with(at, by);

it('tells what others changed from what the agent changed', () => {
  const original = numbered(20);
  const written = replaced(replaced(original, 3, 'agent\n'), 15, 'agent too\n');
  const current = ['above\n', ...replaced(written, 9, 'person\n')];
  const { base, mixed } = withoutAgent(original.join(''), written.join(''), current.join(''));
  expect(base).toBe(['above\n', ...replaced(original, 9, 'person\n')].join(''));
  expect(mixed).toEqual([]);
});

it('names lines that both changed, and keeps either side as wanted', () => {
  const original = numbered(10);
  const written = replaced(replaced(original, 2, 'agent\n'), 7, 'agent too\n');
  const current = ['above\n', ...replaced(written, 7, 'person\n')].join('');
  const { base, mixed } = withoutAgent(original.join(''), written.join(''), current);
  expect(base).toBe(['above\n', ...original].join(''));
  expect(mixed).toEqual([[8, 9]]);
  expect(difference(base, current, mixed).hunks.map((hunk) => hunk.mixed ?? false)).toEqual([true]);
  const kept = withoutAgent(original.join(''), written.join(''), current, { keepMixed: true });
  expect(kept.base).toBe(['above\n', ...replaced(original, 7, 'person\n')].join(''));
});

it('keeps every line of others that is apart from the agent’s', () => {
  const index = fc.nat(29);
  fc.assert(
    fc.property(fc.uniqueArray(index), fc.uniqueArray(index), (agent, others) => {
      const apart = others.filter((at) => !agent.some((other) => Math.abs(at - other) <= 1));
      const original = numbered(30);
      const written = original.map((it, at) => (agent.includes(at) ? `agent ${at}\n` : it));
      const change = (lines: string[]) =>
        lines.map((it, at) => (apart.includes(at) ? `person ${at}\n` : it)).join('');
      const result = withoutAgent(original.join(''), written.join(''), change(written));
      expect(result).toEqual({ base: change(original), mixed: [] });
    }),
  );
});

it('never loses a line that somebody else wrote without naming it', () => {
  fc.assert(
    fc.property(text, text, text, (original, written, current) => {
      const { base, mixed } = withoutAgent(original, written, current);
      if (mixed.length === 0 && written !== current && original !== written) {
        // Both changes stand apart, so either may come first.
        expect(withoutAgent(current, written, original).base).toBe(base);
      }
      if (original === written) expect(base).toBe(current);
      if (written === current) expect(base).toBe(original);
    }),
  );
});

it('knows what a call made of a text, and the text before it where the call leaves no doubt', () => {
  const edits = { path: 'a', edits: [{ oldText: 'one', newText: 'two' }] };
  expect(isResult({ path: 'a', content: 'x' }, 'before', 'x')).toBe(true);
  expect(isResult({ path: 'a', content: 'x' }, 'before', 'y')).toBe(false);
  expect(isResult(edits, 'is one.', 'is two.')).toBe(true);
  expect(isResult(edits, 'is none.', 'is two.')).toBe(false);
  expect(undone(edits, undefined, 'is two.')).toBe('is one.');
  expect(undone({ path: 'a', oldText: 'one', newText: 'two' }, undefined, 'is two.')).toBe('is one.');
  expect(undone(edits, undefined, 'two or two')).toBeUndefined();
  expect(undone({ path: 'a', edits: [{ oldText: 'one', newText: '' }] }, undefined, '')).toBeUndefined();
  const { hunks } = difference('1\n2\n3\n', '1\n3\n');
  const result = { content: [], details: { patch: unified('a', 'a', hunks) } };
  expect(undone({ path: 'a', edits: [{ oldText: '2\n', newText: '' }] }, result, '1\n3\n')).toBe('1\n2\n3\n');
  expect(undone({ path: 'a' }, { content: [], details: { patch: 'no patch' } }, '1\n')).toBeUndefined();
});
