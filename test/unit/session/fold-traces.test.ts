// Every recording of a real agent, folded: what a person would see at its end, and that it does not depend on the cursor.
import { deepStrictEqual } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import { emptySnapshot, foldedWhole, phaseOf } from '../../../server/src/session/fold.ts';
import { mergedFacts } from '../../../server/src/session/view.ts';
import { trace, traceNames } from '../agent/support.ts';
import { foldedAll, toldOf } from './fold-support.ts';
import { factsOf } from './recorded.ts';

/** Recordings differ in how they end; the facts say so. */
const openRun = (facts: readonly Fact[]): boolean =>
  facts.findLastIndex(({ type }) => type === 'agent_start') >
  facts.findLastIndex(({ type }) => type === 'agent_settled');

const ended = (facts: readonly Fact[]): Message[] =>
  facts.flatMap((fact) => (fact.type === 'message_end' ? [fact.message] : []));

describe.each(traceNames())('%s', (name) => {
  it('ends at rest, with every message, by any cursor', async () => {
    const facts = await factsOf(name);
    expect(openRun(facts), 'the recording ends settled').toBe(false);
    const whole = foldedAll(facts);
    expect(whole).toMatchObject({ run: null, message: null, retry: null, compaction: null });
    expect(phaseOf(whole)).toBe('idle');
    expect(Object.values(whole.tools).filter(({ status }) => status === 'running')).toEqual([]);
    expect(whole.lastRun === null).toBe(!facts.some(({ type }) => type === 'agent_settled'));
    const told = ended(facts);
    expect(told).toHaveLength(
      trace(name).filter(({ dir, line }) => dir === 'out' && line.startsWith('{"type":"message_end"')).length,
    );
    const kept = whole.messages.filter(({ role }) => role !== 'compactionSummary');
    expect(kept.length).toBeGreaterThanOrEqual(Math.min(told.length, 1));
    deepStrictEqual(kept, told.slice(told.length - kept.length));

    const half = Math.floor(facts.length / 2);
    const sent = JSON.parse(JSON.stringify(foldedAll(facts.slice(0, half))));
    const rest = JSON.parse(JSON.stringify(facts.slice(half))) as Fact[];
    deepStrictEqual(foldedAll(mergedFacts(rest), sent), JSON.parse(JSON.stringify(whole)));

    // What was streamed is said once.
    const brief = toldOf(facts);
    deepStrictEqual(foldedWhole(emptySnapshot(), brief), { facts, snapshot: whole });
    for (const fact of ended(brief))
      if (fact.role === 'assistant' && fact.stopReason === 'stop' && Array.isArray(fact.content))
        expect(fact.content.filter(({ type, text }) => type === 'text' && text)).toEqual([]);
  });
});
