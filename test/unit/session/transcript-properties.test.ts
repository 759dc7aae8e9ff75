// What holds for the transcript of every row of facts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { createTranscript } from '../../../server/src/session/transcript.ts';
import { closingOf } from '../../../server/src/session/transcript-text.ts';
import { mergedFacts } from '../../../server/src/session/view.ts';
import { anyFacts, settled } from './fold-support.ts';
import { begins, call, ends, piece, text, toolFacts, user, written } from './transcript-support.ts';

it('comes to the same by merged facts, wherever the batches were cut', () => {
  fc.assert(
    fc.property(anyFacts, fc.nat(60), (facts, k) => {
      const merged = [...mergedFacts(facts.slice(0, k)), ...mergedFacts(facts.slice(k))];
      expect(written(merged)).toBe(written(facts));
    }),
    { numRuns: 500 },
  );
});

it('lets no text make a heading or one-liner of its own, nor control the terminal', () => {
  const wild = fc.stringMatching(/^[`~ \n#>◈\-1.\u001b[m\r\ud800\u2028a]{0,40}$/);
  fc.assert(
    fc.property(wild, wild, wild, (asks, says, gives) => {
      const facts = [
        user(asks),
        begins,
        ...[...says].map((unit) => piece(unit)),
        ends([text(says), call('a', gives)]),
        ...toolFacts('a', gives, gives),
        settled,
      ];
      const page = written(facts);
      expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      const ours = page.split('\n').filter((line) => line.includes('◈'));
      for (const line of ours)
        expect(line).toMatch(/^(## You ◈|## Atomic ◈|### bash .*◈$|◈ Done, without output\.$)/);
      expect(ours.filter((line) => line.startsWith('## You ◈'))).toHaveLength(1);
      // Every heading of ours stands outside of fences.
      const lines = page.split('\n');
      lines.forEach((line, n) => {
        if (line.includes('◈')) expect(closingOf(lines.slice(0, n).join('\n'))).toBeUndefined();
      });
    }),
    { numRuns: 500 },
  );
});

it('goes on from what it said of itself without a word twice', () => {
  const messages = ['one', 'two', 'three', 'four'].map((word, n) => ({
    role: 'user',
    content: word,
    timestamp: n,
  }));
  const replaced = (count: number) => ({
    type: 'session_replaced' as const,
    state: { sessionId: 's' },
    messages: messages.slice(0, count),
    olderMessages: 0,
    reason: 'resumed',
  });
  fc.assert(
    fc.property(fc.array(fc.nat(4), { maxLength: 6 }), (counts) => {
      let position = createTranscript().position;
      let page = '';
      let most = 0;
      for (const count of counts.toSorted((a, b) => a - b)) {
        const transcript = createTranscript(position);
        const fact = replaced(count);
        page += transcript.appended(fact, folded(emptySnapshot(), fact));
        position = transcript.position;
        most = count;
      }
      for (const [n, { content }] of messages.entries())
        expect(page.split(`\n${content}\n`).length - 1).toBe(n < most ? 1 : 0);
    }),
  );
});
