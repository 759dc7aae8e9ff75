// What stands in a chat document: found in real transcripts, and not in what only looks like one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callsOf } from '../../../server/src/chat/calls.ts';
import { outlineOf } from '../../../server/src/chat/outline.ts';
import { placesIn } from '../../../server/src/chat/places.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { foldedAll } from '../session/fold-support.ts';
import { at, call, conversation, ends, text, toolFacts, user } from '../session/transcript-support.ts';

const usage = { input: 1000, output: 20, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } };
const facts: Fact[] = [
  ...conversation,
  user('And now?\n\nMore lines.\n\n## You 2026\n\n### bash `x`'),
  ends([text('See `src/a.ts:12`.'), call('b', 'cat a')], { usage, stopReason: 'toolUse' } as never),
  ...toolFacts('b', 'cat a', '## You\n\n### read\n'),
  ends([text('Done.')], { usage } as never),
];
const page = wholeTranscript(foldedAll(facts));
const lines = page.split('\n');

describe('the outline', () => {
  it('has turns with their prompt, answers, tools, thinking and use', () => {
    const [first, second, ...more] = outlineOf(page);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      title: 'Run `ls`, please.',
      line: 0,
      prompt: 'Run `ls`, please.',
      usage: [],
    });
    expect(first!.parts.map(({ kind, title }) => `${kind} ${title}`)).toEqual([
      'thinking Thinking',
      'tool bash ls -l',
    ]);
    expect(second!.prompt).toMatch(/^And now\?[\s\S]*### bash `x`$/);
    expect(second!.parts.map(({ title }) => title)).toEqual(['bash cat a']);
    expect(second!.usage).toEqual(['2,000 tokens in, 40 out · $1.00']);
  });
  it('ends a tool where its output ends, and a turn where the next begins', () => {
    const [first, second] = outlineOf(page);
    const tool = second!.parts[0]!;
    expect(lines[tool.line]).toContain('### bash');
    expect(lines[tool.end]).toMatch(/^```/);
    expect(lines.slice(tool.end + 1).join('\n')).toContain('Done.');
    expect(lines[first!.end]).toBe('Two files.');
    expect(second!.end).toBe(lines.length - 2);
  });
  it('is in order and within the document, whatever a person typed in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(lines.length), fc.string()), { maxLength: 8 }), (typed) => {
        const now = [...lines];
        for (const [line, more] of typed) now.splice(line, 0, more);
        const all = now.join('\n');
        const count = all.split(/\r\n|\n|\r/).length;
        let last = -1;
        for (const turn of outlineOf(all)) {
          expect(turn.line).toBeGreaterThan(last);
          expect(turn.end).toBeGreaterThanOrEqual(turn.line);
          expect(turn.end).toBeLessThan(count);
          let within = turn.line - 1;
          for (const part of turn.parts) {
            expect(part.line).toBeGreaterThan(within);
            within = part.end;
          }
          last = turn.end;
        }
      }),
    );
  });
  it('is linear in a long document', () => {
    const long = page.repeat(3000);
    expect(outlineOf(long)).toHaveLength(6000);
  });
});

describe('the calls', () => {
  it('have the headings of the document, their arguments and their time', () => {
    const [first, second] = callsOf(foldedAll(facts));
    expect(first).toMatchObject({ heading: '### bash `ls -l` ◈', args: { command: 'ls -l' }, state: 'done' });
    expect(lines).toContain(first!.heading);
    expect(lines).toContain(second!.heading);
    expect(first!.milliseconds).toBe(0);
    expect(at).toBeGreaterThan(0);
  });
});

describe('the places', () => {
  it('are paths in code spans, with their lines, and nothing else', () => {
    const found = placesIn(
      'See `src/a.ts:12`, `b c/ü.md`, `@./x.ts:3-9` and `./y`.\n```\n`no/where.ts`\n```\n`word` `https://a.b/c` `a/*.ts` `C:\\x\\y.ts:7`',
    );
    expect(found.map(({ path, from, line }) => [path, from, line])).toEqual([
      ['src/a.ts', 12, 0],
      ['b c/ü.md', undefined, 0],
      ['./x.ts', 3, 0],
      ['./y', undefined, 0],
      ['C:\\x\\y.ts', 7, 4],
    ]);
    expect(found[0]).toMatchObject({ start: 5, end: 16 });
  });
  it('are also what has a line number, in outputs and texts', () => {
    const found = placesIn(
      'At src/ü.ts:12:3, see (b.rs:4).\n```\nsrc/x.ts(7,5): error\n  at f (/a/b.mjs:9:1)\n`no/where.ts`\nhttp://a.b:80 12:30 a.b\n```\n`c/d.ts:5`',
    );
    expect(found.map(({ path, from, line }) => [path, from, line])).toEqual([
      ['src/ü.ts', 12, 0],
      ['b.rs', 4, 0],
      ['src/x.ts', 7, 2],
      ['/a/b.mjs', 9, 3],
      ['c/d.ts', 5, 7],
    ]);
    expect(found[0]).toMatchObject({ start: 3, end: 16 });
  });
  it('are found in time that grows with the document', () => {
    expect(placesIn(`${'x.'.repeat(100_000)}:1\n`.repeat(5)).length).toBeLessThan(500);
  });
  it('are bounded', () => {
    expect(placesIn('`a/b` '.repeat(2000))).toHaveLength(500);
  });
});
