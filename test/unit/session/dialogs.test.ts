// Every question is settled exactly once, by whoever comes first, and never by a guess.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import type { Dialog, DialogAnswer, Fact } from '../../../server/src/protocol/facts.ts';
import { createDialogs, fittingAnswer, grace } from '../../../server/src/session/dialogs.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { foldedAll, helix, neovim } from './fold-support.ts';

const input = (id: string, more: Partial<Dialog> = {}) => ({ id, method: 'input', title: `${id}?`, ...more });

function opened() {
  const clock = fakeClock(1_000);
  const facts: Fact[] = [];
  const delivered: [string, DialogAnswer][] = [];
  const dialogs = createDialogs(clock, (fact) => facts.push(fact));
  const deliver = (dialog: Dialog, answer: DialogAnswer) => delivered.push([dialog.id, answer]) > 0;
  return { clock, facts, delivered, dialogs, deliver };
}

describe('a question', () => {
  it('is opened with its time, its deadline and whoever led to it', () => {
    const { dialogs, facts } = opened();
    dialogs.open(input('a', { timeout: 500 }), neovim);
    dialogs.open(input('b'));
    const a = { ...input('a'), timeout: 500, openedAt: 1_000, deadline: 1_500, origin: neovim };
    const b = { ...input('b'), openedAt: 1_000 };
    expect(facts).toStrictEqual([
      { type: 'dialog_opened', dialog: a },
      { type: 'dialog_opened', dialog: b },
    ]);
    expect(dialogs.list).toEqual([a, b]);
  });

  it('is settled by the first answer; the second is told so and reaches nobody', () => {
    const { dialogs, facts, delivered, deliver } = opened();
    dialogs.open(input('a'));
    dialogs.answer('a', { value: 'yes' }, helix, deliver);
    expect(facts.at(-1)).toStrictEqual({
      type: 'dialog_settled',
      id: 'a',
      outcome: 'answered',
      by: helix,
      answer: 'yes',
    });
    expect(() => dialogs.answer('a', { value: 'no' }, neovim, deliver)).toThrow(/no longer open/);
    expect(delivered).toEqual([['a', { value: 'yes' }]]);
    expect(dialogs.list).toEqual([]);
  });

  it('is asked of its origin first, of everybody after a while or when the origin has gone', () => {
    const { dialogs, facts, clock } = opened();
    dialogs.open(input('a'), neovim);
    dialogs.open(input('b'), neovim);
    dialogs.open(input('c'), helix);
    dialogs.open(input('d'));
    dialogs.answer('a', { value: '' }, neovim, () => true);
    dialogs.presence(neovim.id, false);
    expect(facts.filter(({ type }) => type === 'dialog_offered')).toEqual([
      { type: 'dialog_offered', id: 'b' },
    ]);
    clock.advance(grace);
    clock.advance(grace);
    expect(facts.filter(({ type }) => type === 'dialog_offered')).toEqual([
      { type: 'dialog_offered', id: 'b' },
      { type: 'dialog_offered', id: 'c' },
    ]);
    dialogs.open(input('e'), neovim);
    dialogs.presence(neovim.id, true);
    dialogs.open(input('f'), neovim);
    expect(dialogs.list.map(({ id, offered }) => [id, offered])).toEqual([
      ['b', true],
      ['c', true],
      ['d', undefined],
      ['e', true],
      ['f', undefined],
    ]);
    expect(foldedAll(facts).dialogs).toEqual(dialogs.list);
  });

  it('is withdrawn when the agent no longer waits for its answer, and the person is told', () => {
    const { dialogs, facts } = opened();
    dialogs.open(input('a'));
    expect(() => dialogs.answer('a', { value: 'late' }, neovim, () => false)).toThrow(/no longer waits/);
    expect(facts.at(-1)).toStrictEqual({ type: 'dialog_settled', id: 'a', outcome: 'withdrawn' });
  });

  it('without an id is the oldest one', () => {
    const { dialogs, delivered, deliver } = opened();
    dialogs.open(input('a'));
    dialogs.open(input('b'));
    dialogs.answer(undefined, { value: '1' }, neovim, deliver);
    dialogs.answer(undefined, { cancelled: true }, undefined, deliver);
    expect(delivered).toEqual([
      ['a', { value: '1' }],
      ['b', { cancelled: true }],
    ]);
    expect(() => dialogs.answer(undefined, { value: '3' }, neovim, deliver)).toThrow(/no open question/);
  });

  it('stays open after an answer that does not fit', () => {
    const { dialogs, delivered, deliver, facts } = opened();
    dialogs.open(input('a', { method: 'select', options: ['x', 'y'] }));
    for (const answer of [{}, { index: 2 }, { index: -1 }, { value: 'z' }, { confirmed: true }])
      expect(() => dialogs.answer('a', answer, neovim, deliver)).toThrow(AtomicError);
    expect(delivered).toEqual([]);
    expect(facts).toHaveLength(1);
    expect(dialogs.list).toHaveLength(1);
  });

  it('expires on our own clock, once, and not after it was answered', () => {
    const { dialogs, clock, facts, deliver } = opened();
    dialogs.open(input('a', { timeout: 500 }));
    dialogs.open(input('b', { timeout: 500 }));
    dialogs.answer('b', { value: '' }, neovim, deliver);
    clock.advance(499);
    expect(dialogs.list.map(({ id }) => id)).toEqual(['a']);
    clock.advance(1);
    expect(facts.slice(3)).toStrictEqual([{ type: 'dialog_settled', id: 'a', outcome: 'expired' }]);
    clock.advance(10_000);
    expect(facts).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it('is withdrawn alone or with others, and the agent is told where it must be', () => {
    const { dialogs, facts, clock } = opened();
    for (const id of ['a', 'b', 'c']) dialogs.open(input(id, { timeout: 500 }));
    dialogs.withdraw(({ id }) => id === 'b');
    const told: string[] = [];
    dialogs.withdraw(
      () => true,
      ({ id }) => told.push(id),
    );
    expect(told).toEqual(['a', 'c']);
    expect(facts.slice(3)).toEqual(
      ['b', 'a', 'c'].map((id) => ({ type: 'dialog_settled', id, outcome: 'withdrawn' })),
    );
    expect(clock.pending).toBe(0);
  });

  it('whose id comes again replaces the older one, timer and all', () => {
    const { dialogs, clock, facts } = opened();
    dialogs.open(input('a', { timeout: 500 }));
    dialogs.open(input('a', { title: 'again?' }));
    clock.advance(1_000);
    expect(facts.map(({ type }) => type)).toEqual(['dialog_opened', 'dialog_settled', 'dialog_opened']);
    expect(dialogs.list).toMatchObject([{ title: 'again?' }]);
  });

  it('keeps a secret: the answer goes to the agent and nowhere else', () => {
    const { dialogs, facts, delivered, deliver } = opened();
    dialogs.open(input('a', { secret: true }));
    dialogs.answer('a', { value: 'hunter2' }, neovim, deliver);
    expect(delivered).toEqual([['a', { value: 'hunter2' }]]);
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });
});

it('settles each question exactly once, and the fold agrees about what is open', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ open: id, timeout: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }) }),
    fc.record({ answer: id, cancelled: fc.boolean() }),
    fc.record({ withdraw: id }),
    fc.record({ pass: fc.nat(40) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { dialogs, clock, facts, deliver } = opened();
      for (const now of steps) {
        if ('open' in now)
          dialogs.open(input(now.open, now.timeout === undefined ? {} : { timeout: now.timeout }));
        else if ('pass' in now) clock.advance(now.pass);
        else if ('withdraw' in now) dialogs.withdraw(({ id: open }) => open === now.withdraw);
        else if (dialogs.list.some((dialog) => dialog.id === now.answer))
          dialogs.answer(now.answer, now.cancelled ? { cancelled: true } : { value: '' }, helix, deliver);
      }
      expect(foldedAll(facts).dialogs).toEqual(dialogs.list);
      const count = (type: Fact['type']) => facts.filter((fact) => fact.type === type).length;
      expect(count('dialog_opened') - count('dialog_settled')).toBe(dialogs.list.length);
      expect(clock.pending).toBe(dialogs.list.filter(({ timeout }) => timeout !== undefined).length);
    }),
  );
});

describe('the fitting answer', () => {
  const select = { ...input('s', { method: 'select', options: ['same', 'same', ''] }), openedAt: 0 };
  const confirm = { ...input('c', { method: 'confirm' }), openedAt: 0 };
  const text = { ...input('t'), openedAt: 0 };
  it.each<[string, Dialog, DialogAnswer, DialogAnswer]>([
    ['an index', select, { index: 1 }, { index: 1 }],
    ['the first option of that text', select, { value: 'same' }, { index: 0 }],
    ['an empty option', select, { value: '' }, { index: 2 }],
    ['a yes', confirm, { confirmed: true }, { confirmed: true }],
    ['the first choice as yes', confirm, { index: 0 }, { confirmed: true }],
    ['the second choice as no', confirm, { index: 1 }, { confirmed: false }],
    ['a written yes', confirm, { value: 'Y' }, { confirmed: true }],
    ['a written no', confirm, { value: 'no' }, { confirmed: false }],
    ['text', text, { value: 'two\nlines' }, { value: 'two\nlines' }],
    ['empty text', text, { value: '' }, { value: '' }],
    ['a refusal, whatever else it says', select, { cancelled: true, index: 0 }, { cancelled: true }],
  ])('may be %s', (_, dialog, answer, fitting) => {
    expect(fittingAnswer(dialog, answer)).toStrictEqual(fitting);
  });

  it.each<[string, Dialog, DialogAnswer, RegExp]>([
    ['half a choice', select, { index: 0.5 }, /"s\?" has 3 options/],
    ['a choice', select, { index: 3 }, /"s\?" has 3 options.*atomic\.answer3/],
    ['a yes-or-no question', confirm, { value: 'perhaps' }, /yes-or-no.*atomic\.answer1/],
    ['a text', text, { index: 0 }, /wants text.*atomic\.dialogCancel/],
  ])('is not guessed for %s', (_, dialog, answer, sentence) => {
    expect(() => fittingAnswer(dialog, answer)).toThrow(sentence);
  });
});
