// What holds for every row of facts. Compared with node's own equality: Vitest's takes a key named "constructor" for the type.
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import type { Block } from '../../../server/src/protocol/records.ts';
import { liveTail, messageTail, type Snapshot } from '../../../server/src/protocol/snapshot.ts';
import { emptySnapshot, folded, foldedWhole } from '../../../server/src/session/fold.ts';
import { mergedFacts } from '../../../server/src/session/view.ts';
import {
  accepted,
  anyFacts,
  assistant,
  ended,
  foldedAll,
  frozen,
  said,
  toldOf,
  toolEnd,
  toolStart,
  user,
} from './fold-support.ts';

const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

it('goes on from a snapshot that was sent, at any number, to the same end', () => {
  fc.assert(
    fc.property(anyFacts, fc.nat(60), (facts, k) => {
      const at = sent(foldedAll(facts.slice(0, k)));
      deepStrictEqual(foldedAll(facts.slice(k), at), foldedAll(facts));
    }),
  );
});

it('is plain JSON at every number', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const snapshot = foldedAll(facts);
      deepStrictEqual(sent(snapshot), snapshot);
    }),
  );
});

it('comes to the same by merged facts, wherever the batches were cut', () => {
  fc.assert(
    fc.property(anyFacts, fc.nat(60), (facts, k) => {
      const merged = [...mergedFacts(facts.slice(0, k)), ...mergedFacts(facts.slice(k))];
      deepStrictEqual(foldedAll(merged), foldedAll(facts));
    }),
  );
});

it('puts back what the end of a message left out because it had been streamed', () => {
  let left = 0;
  fc.assert(
    fc.property(anyFacts, fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), (drawn, same) => {
      let snapshot = emptySnapshot();
      // Now and then what is in flight ends as it was streamed.
      const facts = drawn.flatMap((fact, at): Fact[] => {
        snapshot = folded(snapshot, fact);
        const flight = snapshot.message?.blocks;
        if (!flight || !same[at % 60]) return [fact];
        const content = flight.map(({ kind, text }) => ({ type: kind, [kind]: text, signature: 's' }));
        const message = { ...assistant(''), content: content as unknown as Block[] };
        snapshot = folded(snapshot, said(message));
        return [fact, said(message)];
      });
      const told = sent(toldOf(facts));
      left += told.filter((fact) => JSON.stringify(fact).includes('"streamed":true')).length;
      const whole = foldedWhole(emptySnapshot(), told);
      deepStrictEqual(whole.facts, sent(facts));
      deepStrictEqual(sent(whole.snapshot), sent(foldedAll(facts)));
      deepStrictEqual(sent(foldedAll(told)), sent(foldedAll(facts)));
    }),
  );
  expect(left).toBeGreaterThan(0);
});

it('changes neither its snapshot nor its fact', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      let snapshot: Snapshot = frozen(emptySnapshot());
      for (const fact of frozen(facts)) snapshot = frozen(folded(snapshot, fact));
    }),
  );
});

it('shares what a delta does not touch', () => {
  const before = foldedAll([said(user('hello')), toolStart('a')]);
  const after = folded(before, {
    type: 'message_update',
    assistantMessageEvent: { type: 'text_start', contentIndex: 0 },
  });
  for (const key of Object.keys(before) as (keyof Snapshot)[])
    if (key !== 'message') expect(after[key], key).toBe(before[key]);
});

it.each(['entry_appended', 'extension_error', 'notice', 'turn_end', 'not_invented_yet'])(
  'gives the same snapshot back for %s',
  (type) => {
    const snapshot = foldedAll([said(user('hello'))]);
    expect(folded(snapshot, { type } as unknown as Fact)).toBe(snapshot);
  },
);

it('keeps output within its tail, which does not begin with half a character', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40_000), { maxLength: 8 }), (sizes) => {
      const update = (size: number): Fact => ({
        type: 'tool_execution_update',
        toolCallId: 'a',
        delta: `${'x'.repeat(size % 2)}${'😀'.repeat(size)}`,
      });
      const facts = sizes.map(update);
      const output = foldedAll([toolStart('a'), ...facts]).tools.a!.output;
      const all = facts.map((fact) => (fact as { delta: string }).delta).join('');
      expect(output.length).toBeLessThanOrEqual(liveTail);
      expect(output.length).toBeGreaterThanOrEqual(Math.min(all.length, liveTail - 1));
      expect(all.endsWith(output)).toBe(true);
      expect(output).not.toMatch(/^[\udc00-\udfff]/);
    }),
    { numRuns: 30 },
  );
});

it('keeps the newest messages within number and size, at least one, and counts the others', () => {
  const size = fc.oneof(fc.nat(100), fc.constantFrom(300_000, 900_000, 2_500_000));
  const bodies = new Map<number, string>();
  const body = (units: number) => bodies.get(units) ?? bodies.set(units, 'x'.repeat(units)).get(units)!;
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 30 }), (units) => {
      const all = units.map((count, n) => ({ ...user(body(count)), timestamp: n }));
      const { messages, olderMessages } = foldedAll(all.map(said));
      expect(messages.at(-1)).toBe(all.at(-1));
      expect(messages.length + olderMessages).toBe(all.length);
      const sum = messages.reduce((total, message) => total + JSON.stringify(message).length, 0);
      if (messages.length > 1) expect(sum).toBeLessThanOrEqual(messageTail.units);
      // Nothing was dropped that had room.
      const next = all[olderMessages - 1];
      if (next) expect(sum + JSON.stringify(next).length).toBeGreaterThan(messageTail.units);
    }),
    { numRuns: 40 },
  );
  const many = foldedAll(Array.from({ length: messageTail.count + 7 }, (_, n) => said(user(String(n)))));
  expect(many.messages).toHaveLength(messageTail.count);
  expect(many.messages[0]).toEqual(user('7'));
  expect(many.olderMessages).toBe(7);
});

it('keeps at most 100 tool calls and never drops one that runs', () => {
  const names = Array.from({ length: 130 }, (_, n) => `call-${n}`);
  const { tools } = foldedAll([
    toolStart('running'),
    ...names.flatMap((name) => [toolStart(name), toolEnd(name)]),
  ]);
  expect(Object.keys(tools)).toEqual(['running', ...names.slice(-99)]);
  const large = foldedAll(
    [...names.slice(0, 3)].flatMap((n) => [toolStart(n), toolEnd(n, 'x'.repeat(1_500_000))]),
  );
  expect(Object.keys(large.tools)).toEqual(['call-2']);
});

it('keeps 100 settled intents, all pending ones, 50 settled dialogs and 500 files', () => {
  const numbers = Array.from({ length: 600 }, (_, n) => n);
  const { intents, settledDialogs, files } = foldedAll([
    accepted('waits', 'prompt'),
    ...numbers.flatMap((n): Fact[] => [
      accepted(`i${n}`, 'set_model'),
      ended(`i${n}`, 'set_model'),
      { type: 'dialog_settled', id: `d${n}`, outcome: 'answered' },
      { type: 'file_touched', path: `/f${n}`, toolName: 'edit' },
    ]),
  ]);
  expect(intents.map(({ intent }) => intent)).toEqual(['waits', ...numbers.slice(-100).map((n) => `i${n}`)]);
  expect(settledDialogs.map(({ id }) => id)).toEqual(numbers.slice(-50).map((n) => `d${n}`));
  expect(files).toEqual(numbers.slice(-500).map((n) => `/f${n}`));
});
