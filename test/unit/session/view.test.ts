// Cursors into a journal: gapless ranges, fresh starts, merging.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { createJournal } from '../../../server/src/session/journal.ts';
import { mergedFacts, nextBatch } from '../../../server/src/session/view.ts';
import { begun, delta, said, toolUpdate, user } from './fold-support.ts';

const bash = (text: string, id?: string, channel?: string): Fact => ({
  type: 'bash_execution_update',
  delta: text,
  ...(id && { id }),
  ...(channel && { channel }),
});

describe('batches', () => {
  it('follow each other without a gap, whatever budget and pace', () => {
    const steps = fc.array(fc.record({ appended: fc.nat(90), budget: fc.integer({ min: 1, max: 3_000 }) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(steps, fc.nat(9), (list, start) => {
        const journal = createJournal('e', undefined, start);
        const all: string[] = [];
        const read: string[] = [];
        let seq = start;
        for (const { appended, budget } of list) {
          for (let n = 0; n < appended; n++) {
            const fact = delta('x'.repeat((all.length * 7) % 300));
            all.push(JSON.stringify(fact));
            journal.append(fact);
          }
          const batch = nextBatch(journal, seq, budget);
          if (seq === journal.last) {
            expect(batch).toBeUndefined();
            continue;
          }
          if (batch === 'resync' || !batch) throw new Error('facts that are there were not given');
          expect(batch.from).toBe(seq + 1);
          expect(batch.to - batch.from + 1).toBe(batch.texts.length);
          const units = batch.texts.join('').length;
          if (batch.texts.length > 1) expect(units).toBeLessThanOrEqual(budget);
          const next = all[batch.to - start];
          if (next !== undefined) expect(units + next.length, 'as many as fit').toBeGreaterThan(budget);
          read.push(...batch.texts);
          seq = batch.to;
        }
        expect(read).toEqual(all.slice(0, read.length));
      }),
    );
  });

  it('are none where facts fell off, or for a number that was never reached', () => {
    const journal = createJournal('e', { facts: 3, units: 1e9 });
    for (let n = 0; n < 5; n++) journal.append(said(user(String(n))));
    expect(journal.first).toBe(3);
    expect(nextBatch(journal, 1, 1e9)).toBe('resync');
    expect(nextBatch(journal, 6, 1e9)).toBe('resync');
    expect(nextBatch(journal, 2, 1e9)).toMatchObject({ from: 3, to: 5 });
    expect(nextBatch(journal, 5, 1e9)).toBeUndefined();
  });
});

describe('merging', () => {
  it('joins neighbours of one block, tool or shell command', () => {
    expect(mergedFacts([delta('a'), delta('b'), delta('c')])).toEqual([delta('abc')]);
    expect(mergedFacts([toolUpdate('t', 'a'), toolUpdate('t', 'b')])).toEqual([toolUpdate('t', 'ab')]);
    expect(mergedFacts([bash('a', 'i', 'stdout'), bash('b', 'i', 'stdout')])).toEqual([
      bash('ab', 'i', 'stdout'),
    ]);
    expect(mergedFacts([bash('a'), bash('b')])).toEqual([bash('ab')]);
  });

  it.each<[string, Fact[]]>([
    ['another block', [delta('a', 0), delta('b', 1)]],
    ['another kind', [delta('a', 0, 'text'), delta('b', 0, 'thinking')]],
    ['another tool', [toolUpdate('t', 'a'), toolUpdate('u', 'b')]],
    ['a new beginning', [toolUpdate('t', 'a'), toolUpdate('t', 'b', true)]],
    ['another command', [bash('a', 'i'), bash('b', 'j')]],
    ['another channel', [bash('a', 'i', 'stdout'), bash('b', 'i', 'stderr')]],
    ['another stream', [toolUpdate('t', 'a'), delta('b')]],
    ['something between', [delta('a'), begun(), delta('b')]],
  ])('leaves %s alone', (_, facts) => {
    expect(mergedFacts(facts)).toEqual(facts);
  });

  it('goes on from a new beginning, and changes no fact it was given', () => {
    const facts = [toolUpdate('t', 'a', true), toolUpdate('t', 'b'), toolUpdate('t', 'c')];
    const before = structuredClone(facts);
    expect(mergedFacts(facts)).toEqual([toolUpdate('t', 'abc', true)]);
    expect(facts).toEqual(before);
  });

  it('is done when it was done once', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.nat(1))), (parts) => {
        const merged = mergedFacts(parts.map(([text, at]) => delta(text, at)));
        expect(mergedFacts(merged)).toEqual(merged);
        for (let n = 1; n < merged.length; n++) expect(merged[n]).not.toMatchObject(at(merged[n - 1]!));
      }),
    );
  });
});

const at = (fact: Fact) => {
  if (fact.type !== 'message_update') throw new Error('not an update');
  return { assistantMessageEvent: { contentIndex: fact.assistantMessageEvent.contentIndex } };
};
