// Numbers without gaps, one encoding, bounded memory.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { createJournal } from '../../../server/src/session/journal.ts';

const notice = (message: string): Fact => ({ type: 'notice', level: 'info', message });
const unlimited = { facts: 1e9, units: 1e9 };

describe('the journal', () => {
  it('is empty at first, and says so by its numbers', () => {
    const journal = createJournal('e');
    expect(journal).toMatchObject({ epoch: 'e', last: 0, first: 1, units: 0 });
    expect(journal.texts(1, 0)).toEqual([]);
  });

  it('numbers facts from one, or from where a mirror stands', () => {
    const journal = createJournal('e');
    expect([journal.append(notice('a')), journal.append(notice('b'))]).toEqual([1, 2]);
    expect(journal.facts(1, 2)).toEqual([notice('a'), notice('b')]);
    const mirror = createJournal('e', unlimited, 40);
    expect(mirror).toMatchObject({ last: 40, first: 41 });
    expect(mirror.append(notice('c'))).toBe(41);
    expect(mirror.facts(41, 41)).toEqual([notice('c')]);
  });

  it('holds what a fact was when it was appended', () => {
    const journal = createJournal('e');
    const fact = { type: 'queue_update' as const, steering: ['a'], followUp: [] };
    journal.append(fact);
    fact.steering.push('b');
    expect(journal.facts(1, 1)).toEqual([{ type: 'queue_update', steering: ['a'], followUp: [] }]);
  });

  it('tells listeners the fact, and readers what they are to be told of it', () => {
    const journal = createJournal('e');
    const heard: Fact[] = [];
    journal.onAppend((fact) => heard.push(fact));
    journal.append(notice('whole'), notice('brief'));
    expect(heard).toEqual([notice('whole')]);
    expect(journal.facts(1, 1)).toEqual([notice('brief')]);
  });

  it('tells listeners each fact with its number, in order, until they leave', () => {
    const journal = createJournal('e');
    const heard: [string, number, number][] = [];
    const leave = journal.onAppend((fact, seq) => {
      heard.push([(fact as { message: string }).message, seq, journal.last]);
      // Leaving while being told must not cost the others their turn.
      if (seq === 2) leave();
    });
    const others: number[] = [];
    journal.onAppend((_, seq) => others.push(seq));
    for (const text of ['a', 'b', 'c']) journal.append(notice(text));
    expect(heard).toEqual([
      ['a', 1, 1],
      ['b', 2, 2],
    ]);
    expect(others).toEqual([1, 2, 3]);
    const late: number[] = [];
    const once = journal.onAppend(() => {
      once();
      journal.onAppend((_, seq) => late.push(seq));
    });
    journal.append(notice('d'));
    journal.append(notice('e'));
    expect(late, 'whoever comes while a fact is told hears the next one first').toEqual([5]);
  });

  it('can always read from first to last what a plain list would hold, within its bounds', () => {
    const sizes = fc.array(fc.nat(200), { maxLength: 80 });
    const limits = fc.record({
      facts: fc.integer({ min: 1, max: 20 }),
      units: fc.integer({ min: 1, max: 2_000 }),
    });
    fc.assert(
      fc.property(sizes, limits, fc.nat(5), (list, bounds, start) => {
        const journal = createJournal('e', bounds, start);
        const texts = list.map((size, n) => JSON.stringify(notice(`${n}${'x'.repeat(size)}`)));
        for (const text of texts) journal.append(JSON.parse(text));
        expect(journal.last).toBe(start + texts.length);
        const held = journal.texts(journal.first, journal.last);
        expect(held).toEqual(texts.slice(journal.first - start - 1));
        expect(journal.units).toBe(held.join('').length);
        expect(held.length).toBeLessThanOrEqual(bounds.facts);
        if (held.length > 1) expect(journal.units).toBeLessThanOrEqual(bounds.units);
        if (texts.length > 0) expect(held.length, 'the newest is always there').toBeGreaterThan(0);
        // Nothing fell off that had room.
        const fallen = texts[journal.first - start - 2];
        if (fallen !== undefined)
          expect(held.length + 1 > bounds.facts || journal.units + fallen.length > bounds.units).toBe(true);
      }),
    );
  });

  it('reads the same after its dead part was cut off', () => {
    const journal = createJournal('e', { facts: 10, units: 1e9 });
    for (let n = 1; n <= 5_000; n++) {
      journal.append(notice(String(n)));
      if (n % 501 === 0)
        expect(journal.facts(journal.first, n)).toEqual(
          Array.from({ length: 10 }, (_, k) => notice(String(n - 9 + k))),
        );
    }
  });
});
