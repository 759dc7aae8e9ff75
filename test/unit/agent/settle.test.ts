// When a run is over, for agents that say so and for agents that do not.
import { describe, expect, it } from 'vitest';
import type { AgentFact } from '../../../server/src/protocol/facts.ts';
import { fakeAgent, turn } from './support.ts';

const start = { type: 'agent_start' };
const end = { type: 'agent_end', messages: [] };
const message = (stopReason = 'stop', errorMessage?: string) => ({
  type: 'message_end',
  message: { role: 'assistant', content: [], stopReason, ...(errorMessage && { errorMessage }) },
});
const cumulative = {
  type: 'message_update',
  message: { role: 'assistant', content: [] },
  assistantMessageEvent: { type: 'text_start', contentIndex: 0, partial: {} },
};

/** An agent with `get_state` answers that the test decides. */
function agent() {
  const fake = fakeAgent();
  let read = 0;
  return {
    ...fake,
    settled: () =>
      fake
        .facts()
        .filter(
          (fact): fact is Extract<AgentFact, { type: 'agent_settled' }> => fact.type === 'agent_settled',
        ),
    /** How often the state was asked for since the last look. */
    asked() {
      const all = fake.written.filter(({ type }) => type === 'get_state').length;
      const fresh = all - read;
      read = all;
      return fresh;
    },
    async stateIs(data: object) {
      const call = fake.written.filter(({ type }) => type === 'get_state').at(-1);
      await fake.says({ id: call?.id, type: 'response', command: 'get_state', success: true, data });
    },
    async call(command: string, data: object, success = true) {
      const answer = fake.agent.call({ type: command });
      const { id } = fake.written.at(-1)!;
      await fake.says({ id, type: 'response', command, success, data });
      await answer;
    },
  };
}
const idle = { isStreaming: false, isCompacting: false, pendingMessageCount: 0 };

describe('an agent without agent_settled', () => {
  it('is asked after a quarter of a second of quiet, and settled when it is idle', async () => {
    const { says, clock, asked, stateIs, settled } = agent();
    await says(start, cumulative, message('error', 'overloaded'), end);
    await clock.advance(249);
    expect(asked()).toBe(0);
    await clock.advance(1);
    expect(asked()).toBe(1);
    expect(settled()).toEqual([]);
    await stateIs(idle);
    expect(settled()).toEqual([
      { type: 'agent_settled', outcome: { stopReason: 'error', errorMessage: 'overloaded' }, aborted: false },
    ]);
    await clock.advance(60_000);
    expect(settled()).toHaveLength(1);
  });

  it.each([
    ['streaming', { ...idle, isStreaming: true }],
    ['compacting', { ...idle, isCompacting: true }],
    ['holding a queue', { ...idle, pendingMessageCount: 1 }],
  ])('is not settled while it is %s', async (_, busy) => {
    const { says, clock, asked, stateIs, settled } = agent();
    await says(start, cumulative, message(), end);
    await clock.advance(250);
    await stateIs(busy);
    expect(settled()).toEqual([]);
    await clock.advance(1_000);
    expect(asked()).toBe(2);
    await stateIs(idle);
    expect(settled()).toHaveLength(1);
  });

  it('is settled once over a retry, however long that waits', async () => {
    const { says, clock, asked, stateIs, settled } = agent();
    await says(start, cumulative, message('error', '529'), end);
    await clock.advance(100);
    await says({ type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 8_000, errorMessage: '529' });
    await says({ type: 'queue_update', steering: [], followUp: ['later'] });
    await clock.advance(8_000);
    expect(asked()).toBe(0);
    await says(start, message(), { type: 'auto_retry_end', success: true, attempt: 1 }, end);
    await clock.advance(250);
    await stateIs(idle);
    expect(settled()).toEqual([{ type: 'agent_settled', outcome: { stopReason: 'stop' }, aborted: false }]);
  });

  it('is settled after the last retry failed', async () => {
    const { says, clock, stateIs, settled } = agent();
    await says(start, cumulative, message('error', '529'), end);
    await says({ type: 'auto_retry_start', attempt: 3, maxAttempts: 3, delayMs: 8_000 });
    await says({ type: 'auto_retry_end', success: false, attempt: 3, finalError: '529' });
    await clock.advance(250);
    await stateIs(idle);
    expect(settled()).toHaveLength(1);
  });

  it('is not settled by an answer that a new beginning has overtaken', async () => {
    const { says, clock, stateIs, settled } = agent();
    await says(start, cumulative, message(), end);
    await clock.advance(250);
    await says(start);
    await stateIs(idle);
    expect(settled()).toEqual([]);
    await says(message(), end);
    await clock.advance(250);
    await stateIs(idle);
    expect(settled()).toHaveLength(1);
  });

  it('may take its time to compact', async () => {
    const { says, clock, asked, stateIs, settled } = agent();
    await says(start, cumulative, message(), end, { type: 'compaction_start', reason: 'overflow' });
    await clock.advance(4_000);
    expect(asked()).toBe(0);
    await says({ type: 'compaction_end', reason: 'overflow', aborted: false, willRetry: true });
    await clock.advance(1_000);
    expect(asked()).toBe(0);
    await says(start, message(), end);
    await clock.advance(250);
    await stateIs(idle);
    expect(settled()).toHaveLength(1);
  });

  it('is settled with the queue that an abort left, and in the end with any', async () => {
    const aborted = agent();
    await aborted.says(start, cumulative, message('aborted'), end);
    await aborted.clock.advance(250);
    await aborted.stateIs({ ...idle, pendingMessageCount: 2 });
    expect(aborted.settled()).toEqual([
      { type: 'agent_settled', outcome: { stopReason: 'aborted' }, aborted: true },
    ]);
    const forgetful = agent();
    await forgetful.says(start, cumulative, message(), end);
    for (let seconds = 0; seconds < 10 && forgetful.settled().length === 0; seconds++) {
      await forgetful.clock.advance(1_000);
      if (forgetful.asked() > 0) await forgetful.stateIs({ ...idle, pendingMessageCount: 1 });
    }
    expect(forgetful.settled()).toHaveLength(1);
    expect(forgetful.clock.now()).toBeGreaterThan(4_000);
  });
});

describe('an agent with agent_settled', () => {
  const native = { type: 'agent_settled' };

  it('is believed, once a run', async () => {
    const { says, settled, asked, clock } = agent();
    await says(start, message(), end, native, native);
    await says(start, native, message('aborted'), end, { ...native, aborted: true }, native);
    expect(settled()).toEqual([
      { type: 'agent_settled', outcome: { stopReason: 'stop' }, aborted: false },
      { type: 'agent_settled', outcome: { stopReason: 'aborted' }, aborted: true },
    ]);
    await clock.advance(60_000);
    expect(asked()).toBe(0);
  });

  it('is waited for where its dialect has it, even the first time', async () => {
    const { says, clock, asked, settled, call } = agent();
    await call('get_state', { ...idle, queuedMessagesPaused: false });
    asked();
    await says(start, message(), end);
    await clock.advance(4_999);
    expect(asked()).toBe(0);
    await says(native);
    expect(settled()).toHaveLength(1);
  });

  it('is not waited for for ever', async () => {
    const { says, clock, asked, settled, stateIs } = agent();
    await says(start, message(), end, native, start, message(), end);
    await clock.advance(5_000);
    expect(asked()).toBe(1);
    await stateIs(idle);
    expect(settled()).toHaveLength(2);
  });

  it('may send it after ours', async () => {
    const { says, clock, stateIs, settled } = agent();
    await says(start, message(), end);
    await clock.advance(250);
    await stateIs(idle);
    await says(native);
    expect(settled()).toHaveLength(1);
  });

  it.each(['new_session', 'switch_session', 'fork', 'clone', 'import_session'])(
    'is cut by %s, unless that was cancelled or refused',
    async (command) => {
      const { says, call, settled } = agent();
      await says(start);
      await call(command, { cancelled: true });
      await call(command, {}, false);
      expect(settled()).toEqual([]);
      await call(command, { cancelled: false });
      expect(settled()).toEqual([
        { type: 'agent_settled', outcome: { stopReason: 'aborted' }, aborted: true },
      ]);
    },
  );
});

describe('an agent that dies', () => {
  it('settles its run with the reason, before its exit', async () => {
    const { says, heard, end: die } = agent();
    await says(start, message('toolUse'));
    die({ code: 7, signal: null });
    await turn();
    const [settle, exit] = heard.slice(-2);
    expect(settle).toMatchObject({
      fact: {
        type: 'agent_settled',
        outcome: { stopReason: 'error', errorMessage: expect.stringContaining('code 7') },
      },
    });
    expect(exit).toMatchObject({ exit: { code: 7, expected: false } });
  });

  it('settles nothing when nothing ran', async () => {
    const { says, end: die, settled } = agent();
    await says({ type: 'agent_settled' });
    die({ code: 0, signal: null });
    await turn();
    expect(settled()).toEqual([]);
  });
});
