// Every recording of a real agent, folded: what a person would see at its end, and that it does not depend on the cursor.
import { deepStrictEqual } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { AgentFact, Fact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import { phaseOf } from '../../../server/src/session/fold.ts';
import { mergedFacts } from '../../../server/src/session/view.ts';
import { fakeAgent, trace, traceNames, turn } from '../agent/support.ts';
import { foldedAll } from './fold-support.ts';

/** The facts of a recording, as the session would hear them, with the times of the recording. */
async function factsOf(name: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  const fake = fakeAgent(undefined, (heard) => {
    if ('fact' in heard) facts.push(timed(heard.fact, fake.clock.now()));
  });
  let answered = 0;
  const answerOwnReads = async () => {
    for (; answered < fake.written.length; answered++) {
      const { id, type } = fake.written[answered]!;
      if (type === 'get_state' && String(id).startsWith('call-'))
        await fake.says({ id, type: 'response', command: 'get_state', success: true, data: {} });
    }
  };
  for (const { t, dir, line, note } of trace(name)) {
    await fake.clock.advanceTo(t);
    await answerOwnReads();
    if (note?.startsWith('exit')) fake.end({ code: 0, signal: null });
    else if (dir === 'out' && line !== '') fake.output(Buffer.from(`${line}\n`));
    else if (dir === 'in') call(line, (record) => fake.agent.call(record).catch(() => {}));
    await turn();
    await answerOwnReads();
  }
  await fake.clock.advance(60_000);
  await answerOwnReads();
  return facts;
}

const timed = (fact: AgentFact, at: number): Fact =>
  fact.type.endsWith('_update') && fact.type !== 'queue_update' ? fact : { ...fact, at };

/** Makes the client's call, if the line is one. */
function call(line: string, make: (record: { type: string }) => void): void {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return;
  }
  const { type } = (record ?? {}) as { type?: unknown };
  if (typeof type === 'string' && type !== 'extension_ui_response') make(record as { type: string });
}

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
  });
});
