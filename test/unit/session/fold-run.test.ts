// What the facts of a run do to the snapshot: messages, blocks, tools, turns, retries; and the phase that a person sees.
import { describe, expect, it } from 'vitest';
import type { AssistantDelta, Fact } from '../../../server/src/protocol/facts.ts';
import { phaseOf } from '../../../server/src/session/fold.ts';
import {
  assistant,
  begun,
  delta,
  foldedAll,
  said,
  settled,
  toolEnd,
  toolStart,
  toolUpdate,
  user,
} from './fold-support.ts';

const start: Fact = { type: 'agent_start', at: 10 };
const retrying: Fact = {
  type: 'auto_retry_start',
  attempt: 2,
  maxAttempts: 3,
  delayMs: 500,
  errorMessage: 'overloaded',
  at: 30,
};
const update = (assistantMessageEvent: AssistantDelta): Fact => ({
  type: 'message_update',
  assistantMessageEvent,
});

describe('a run', () => {
  it('counts turns and goes on over a second start', () => {
    const turn: Fact = { type: 'turn_start' };
    expect(foldedAll([turn]).run).toBeNull();
    const again: Fact = { type: 'agent_start', at: 20 };
    const after = foldedAll([start, turn, turn, { type: 'agent_end', willRetry: true }, again, turn]);
    expect(after.run).toEqual({ startedAt: 10, turns: 3 });
  });

  it('clears the tools of the run before, and of no other', () => {
    expect(Object.keys(foldedAll([start, toolStart('a'), start]).tools)).toEqual(['a']);
    expect(foldedAll([start, toolStart('a'), settled, start]).tools).toEqual({});
  });

  it('is settled with its outcome; nothing of it goes on', () => {
    const after = foldedAll([
      start,
      begun(),
      toolStart('a'),
      toolStart('b'),
      toolEnd('b'),
      retrying,
      { type: 'agent_settled', outcome: { stopReason: 'error', errorMessage: 'No.' }, at: 90 },
    ]);
    expect(after.lastRun).toStrictEqual({ stopReason: 'error', errorMessage: 'No.', endedAt: 90 });
    expect(after).toMatchObject({ run: null, message: null, retry: null });
    expect(after.tools.a).toMatchObject({ status: 'failed', endedAt: 90 });
    expect(after.tools.b).toMatchObject({ status: 'done', endedAt: 9 });
  });

  it('may be retried', () => {
    expect(foldedAll([retrying]).retry).toStrictEqual({
      attempt: 2,
      maxAttempts: 3,
      delayMs: 500,
      errorMessage: 'overloaded',
      since: 30,
    });
    expect(foldedAll([retrying, { type: 'auto_retry_end', success: true }]).retry).toBeNull();
  });

  it('shows the queue', () => {
    const queued: Fact = { type: 'queue_update', steering: ['a'], followUp: ['b', 'c'] };
    expect(foldedAll([queued]).queue).toEqual({ steering: ['a'], followUp: ['b', 'c'] });
  });
});

describe('messages', () => {
  it('are kept once they are complete; the agent’s own count is not ours to change', () => {
    const counted: Fact = { type: 'state_changed', state: { messageCount: 1 } };
    const after = foldedAll([counted, { type: 'message_start', message: user('hi') }]);
    expect(after.messages).toEqual([]);
    expect(after.message).toBeNull();
    const more = foldedAll([said(user('hi')), said(assistant('ho'))], after);
    expect(more.messages).toEqual([user('hi'), assistant('ho')]);
    expect(more.state.messageCount).toBe(1);
  });

  it('of the assistant are in flight from start to end, other messages change nothing about that', () => {
    const flying = foldedAll([begun(7), delta('a'), said(user('steered'))]);
    expect(flying.message).toEqual({
      role: 'assistant',
      startedAt: 7,
      blocks: [{ kind: 'text', text: 'a', done: false }],
    });
    expect(foldedAll([said(assistant('a'))], flying).message).toBeNull();
    expect(foldedAll([begun(8)], flying).message).toEqual({ role: 'assistant', startedAt: 8, blocks: [] });
  });

  it('grow block by block', () => {
    const toolCall = { type: 'toolCall' as const, id: 'c1', name: 'bash', arguments: { command: 'ls' } };
    const facts = [
      begun(),
      update({ type: 'thinking_start', contentIndex: 0 }),
      delta('hm', 0, 'thinking'),
      update({ type: 'thinking_end', contentIndex: 0 }),
      update({ type: 'text_start', contentIndex: 1 }),
      delta('wrong', 1),
      update({ type: 'text_end', contentIndex: 1, content: 'right' }),
      update({ type: 'toolcall_start', contentIndex: 2, id: 'c0', toolName: 'ba' }),
      update({ type: 'toolcall_delta', contentIndex: 2, delta: '{"comm' }),
    ];
    const [thinking, text, call] = foldedAll(facts).message!.blocks;
    expect(thinking).toStrictEqual({ kind: 'thinking', text: 'hm', done: true });
    expect(text).toStrictEqual({ kind: 'text', text: 'right', done: true });
    expect(call).toStrictEqual({ kind: 'toolcall', text: '{"comm', id: 'c0', toolName: 'ba', done: false });
    const end = update({ type: 'toolcall_end', contentIndex: 2, toolCall });
    expect(foldedAll([...facts, end]).message!.blocks[2]).toStrictEqual({
      kind: 'toolcall',
      text: '{"command":"ls"}',
      id: 'c1',
      toolName: 'bash',
      done: true,
    });
  });

  it('tolerate blocks out of order, and numbers that cannot be', () => {
    const sparse = foldedAll([begun(), delta('c', 2), delta('a', 0, 'thinking')]);
    expect(sparse.message!.blocks).toEqual([
      { kind: 'thinking', text: 'a', done: false },
      { kind: 'text', text: '', done: true },
      { kind: 'text', text: 'c', done: false },
    ]);
    for (const wild of [-1, 0.5, 1e9])
      expect(foldedAll([delta('x', wild)], sparse).message).toBe(sparse.message);
  });

  it('add to what was used', () => {
    const used = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.25 } };
    expect(
      foldedAll([said(assistant('a', used)), said(user('b')), said(assistant('c', used))]).usage,
    ).toEqual({
      input: 2,
      output: 4,
      cacheRead: 6,
      cacheWrite: 8,
      cost: 0.5,
    });
  });

  it('are marked where they were compacted', () => {
    const before = foldedAll([said(user('a')), { type: 'compaction_start', reason: 'manual', at: 40 }]);
    expect(before.compaction).toStrictEqual({ reason: 'manual', since: 40 });
    const result = { summary: 'short', tokensBefore: 99, firstKeptEntryId: 'e' };
    const after = foldedAll([{ type: 'compaction_end', result, at: 50 }], before);
    expect(after.compaction).toBeNull();
    expect(after.messages).toEqual([
      user('a'),
      { role: 'compactionSummary', summary: 'short', tokensBefore: 99, timestamp: 50 },
    ]);
    const failed = foldedAll([{ type: 'compaction_end', aborted: true }], before);
    expect(failed.messages).toEqual([user('a')]);
    expect(failed.compaction).toBeNull();
  });

  it('may take several tries to summarise', () => {
    const waiting: Fact = { type: 'summarization_retry_scheduled', attempt: 1, maxAttempts: 3, delayMs: 9 };
    const trying: Fact = { type: 'summarization_retry_attempt_start' };
    expect(foldedAll([waiting, trying]).summarization).toEqual({ attempt: 1, maxAttempts: 3 });
    expect(foldedAll([trying]).summarization).toEqual({});
    expect(foldedAll([waiting, { type: 'summarization_retry_finished' }]).summarization).toBeNull();
  });
});

describe('tools', () => {
  it('run, put out and end', () => {
    const running = foldedAll([toolStart('a'), toolUpdate('a', 'one'), toolUpdate('a', ' two')]);
    expect(running.tools.a).toStrictEqual({
      toolCallId: 'a',
      toolName: 'bash',
      args: { command: 'ls' },
      status: 'running',
      output: 'one two',
      startedAt: 5,
    });
    const reset = foldedAll([toolUpdate('a', 'three', true)], running);
    expect(reset.tools.a?.output).toBe('three');
    expect(foldedAll([toolEnd('a', 'result')], reset).tools.a).toStrictEqual({
      ...reset.tools.a,
      status: 'done',
      endedAt: 9,
      result: { content: [{ type: 'text', text: 'result' }] },
    });
  });

  it('show their result when they put nothing out before', () => {
    const { tools } = foldedAll([toolStart('a'), toolEnd('a', 'result', true), toolEnd('b', 'alone')]);
    expect(tools.a).toMatchObject({ status: 'failed', output: 'result' });
    expect(tools.b).toMatchObject({ status: 'done', output: 'alone', args: {}, startedAt: 9, endedAt: 9 });
  });

  it('are in the order they started; output of an unknown one tells nothing', () => {
    const before = foldedAll([toolStart('b'), toolStart('a'), toolEnd('b')]);
    expect(Object.keys(before.tools)).toEqual(['b', 'a']);
    expect(foldedAll([toolUpdate('x', 'y')], before)).toBe(before);
  });

  it.each(['constructor', '__proto__', 'toString'])('may be called %s', (id) => {
    expect(foldedAll([toolUpdate(id, 'y')]).tools).toEqual({});
    const { tools } = foldedAll([toolStart(id), toolUpdate(id, 'y')]);
    expect(Object.entries(tools)).toMatchObject([[id, { toolCallId: id, output: 'y' }]]);
    const bash: Fact = { type: 'bash_execution_update', id, delta: 'y' };
    expect(Object.entries(foldedAll([bash]).bash)).toEqual([[id, { id, output: 'y' }]]);
  });
});

describe('the phase', () => {
  const compacting: Fact = { type: 'compaction_start' };
  it.each<[string, Fact[]]>([
    ['idle', []],
    ['waiting', [start]],
    ['writing', [start, begun()]],
    ['thinking', [start, begun(), delta('hm', 0, 'thinking')]],
    ['writing', [start, begun(), delta('hm', 0, 'thinking'), delta('a', 1)]],
    ['waiting', [start, begun(), said(assistant('a'))]],
    ['tool', [start, begun(), said(assistant('a')), toolStart('a')]],
    ['tool', [start, begun(), toolStart('a')]],
    ['waiting', [start, toolStart('a'), toolEnd('a')]],
    ['retrying', [start, retrying]],
    ['retrying', [retrying]],
    ['writing', [start, retrying, begun()]],
    ['compacting', [start, retrying, compacting]],
    ['compacting', [compacting]],
    ['idle', [start, begun(), toolStart('a'), settled]],
  ])('is %s after %j', (phase, facts) => {
    expect(phaseOf(foldedAll(facts))).toBe(phase);
  });
});
