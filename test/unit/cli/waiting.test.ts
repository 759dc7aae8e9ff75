// When a prompt is over, and with which exit code: by facts alone.
import { expect, it } from 'vitest';
import { createWaiting, type Verdict } from '../../../server/src/cli/waiting.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { emptySnapshot } from '../../../server/src/session/fold.ts';

const accepted: Fact = { type: 'intent_accepted', intent: 'i', command: 'prompt' };
const done = (data?: object): Fact => ({
  type: 'intent_settled',
  intent: 'i',
  command: 'prompt',
  outcome: 'done',
  ...(data && { data }),
});
const settled = (stopReason: string, more: object = {}): Fact =>
  ({ type: 'agent_settled', outcome: { stopReason, ...more } }) as Fact;
const asks: Fact = {
  type: 'dialog_opened',
  dialog: { id: 'd', method: 'confirm', title: '?', openedAt: 1 },
};
const answered: Fact = { type: 'dialog_settled', id: 'd', outcome: 'answered' };
const exited: Fact = { type: 'agent_exited', code: 1, signal: null, expected: false, message: 'It fell.' };
const last = (...facts: Fact[]): Verdict => {
  const waiting = createWaiting('i', emptySnapshot());
  return facts.map((fact) => waiting.see(fact)).at(-1)!;
};

it.each<[string, Fact[], Verdict]>([
  ['goes on while the run goes on', [accepted, { type: 'agent_start' }, done()], 'go on'],
  ['ends with the run', [accepted, { type: 'agent_start' }, done(), settled('stop')], { code: 0 }],
  [
    'ends when the answer to the prompt comes after its run',
    [accepted, { type: 'agent_start' }, settled('stop'), done()],
    { code: 0 },
  ],
  ['asks where no run followed', [accepted, done()], 'ask'],
  ['waits for a question that is open', [accepted, done(), asks], 'go on'],
  ['asks again when it was answered', [accepted, asks, done(), answered], 'ask'],
  [
    'says that the run was stopped',
    [accepted, { type: 'agent_start' }, done(), settled('aborted')],
    { code: 130, sentence: 'The run was stopped.' },
  ],
  [
    'says why the run failed',
    [accepted, { type: 'agent_start' }, done(), settled('error', { errorMessage: '401' })],
    { code: 1, sentence: 'The run failed: 401' },
  ],
  [
    'says why there is no agent',
    [accepted, { type: 'intent_settled', intent: 'i', command: 'prompt', outcome: 'failed', error: 'None.' }],
    { code: 3, sentence: 'None.' },
  ],
  [
    'says how the agent ended',
    [accepted, { type: 'agent_start' }, done(), exited],
    { code: 1, sentence: 'It fell.' },
  ],
])('%s', (_, facts, verdict) => {
  expect(last(...facts)).toEqual(verdict);
});

it('after a gap the snapshot stands for what was missed', () => {
  const waiting = createWaiting('i', emptySnapshot());
  waiting.see(accepted);
  expect(
    waiting.resync({
      ...emptySnapshot(),
      intents: [{ intent: 'i', command: 'prompt', outcome: 'done' }],
      lastRun: { stopReason: 'stop', endedAt: 1 },
    }),
  ).toEqual({ code: 0 });
});

it('a prompt in the queue is done, and says where it is', () => {
  const waiting = createWaiting('i', emptySnapshot());
  waiting.see(accepted);
  expect(waiting.see(done({ disposition: 'queued' }))).toBe('ask');
  expect(waiting.asked(false)).toEqual({ code: 0, sentence: expect.stringContaining('queue') });
  expect(createWaiting('i', emptySnapshot()).asked(true)).toBe('go on');
});
