// Runs: prompts, tools, the queue, stopping, failing. Guarantees: the steps are the
// same for all of them; only what the model or the scripted agent says is per agent. Must not know: how snapshots are compared.
import { expect } from 'vitest';
import { type Gate, gate } from '../support/model-server.ts';
import type { Step } from '../support/scripted.ts';
import type { Scenario } from './scenario.ts';
import * as d1 from './scripted-d1.ts';

const bashTool = (command: string, id: string) => ({ toolCall: 'bash', arguments: { command }, id });
const scriptedBash = (command: string, id: string, output: string) => ({
  name: 'bash',
  id,
  args: { command },
  output: [output],
});

/** New at each call, since gates are opened once. */
export function runScenarios(): Scenario[] {
  const wait: Gate = gate();
  return [
    {
      name: 'a prompt',
      uses: ['prompt'],
      model: [['Hello ', 'there.']],
      script: { prompt: [{ started: true }, { say: ['Hello ', 'there.'] }] },
      steps: (session) => session.ran('Hi'),
    },
    {
      name: 'thinking',
      uses: ['prompt'],
      model: [[{ reasoning: 'Hm, ' }, { reasoning: 'yes.' }, 'Yes.']],
      script: { prompt: [{ started: true }, { thinking: ['Hm, ', 'yes.'], say: 'Yes.' }] },
      steps: (session) => session.ran('Is it?'),
    },
    {
      name: 'a tool with output',
      uses: ['prompt'],
      model: [[bashTool('echo one', 't1')], 'Done.'],
      script: {
        prompt: [{ started: true }, { say: 'Done.', tools: [scriptedBash('echo one', 't1', 'one\n')] }],
      },
      steps: (session) => session.ran('Run it'),
    },
    {
      name: 'two tools at once',
      uses: ['prompt'],
      model: [[bashTool('echo one', 't1'), bashTool('echo two', 't2')], 'Both.'],
      script: {
        prompt: [
          { started: true },
          {
            say: 'Both.',
            tools: [scriptedBash('echo one', 't1', 'one\n'), scriptedBash('echo two', 't2', 'two\n')],
          },
        ],
      },
      steps: (session) => session.ran('Run both'),
    },
    {
      name: 'steering and a follow-up',
      uses: ['prompt', 'steer', 'follow_up'],
      model: [['First', { gate: wait }], 'Second', 'Third'],
      script: {
        prompt: [
          [{ started: true }, d1.begin('one'), d1.open],
          [{ accept: true }, { emit: { type: 'queue_update', steering: ['two'], followUp: [] } }],
          [
            { accept: true },
            { emit: { type: 'queue_update', steering: ['two'], followUp: ['three'] } },
            { emit: [...d1.closed('First'), d1.turnEnd] },
            { emit: { type: 'queue_update', steering: [], followUp: ['three'] } },
            { emit: [d1.turnStart, ...d1.user('two'), ...d1.answer('Second'), d1.turnEnd] },
            { emit: { type: 'queue_update', steering: [], followUp: [] } },
            { emit: [d1.turnStart, ...d1.user('three'), ...d1.answer('Third'), d1.turnEnd, d1.agentEnd] },
          ],
        ],
      },
      async steps(session) {
        const settled = session.next('agent_settled');
        const begun = session.next('message_start', (fact) => fact.message.role === 'assistant');
        await session.did('prompt', { message: 'one' });
        await begun;
        expect((await session.did('steer', { message: 'two' })).outcome).toBe('done');
        expect((await session.did('follow_up', { message: 'three' })).outcome).toBe('done');
        wait.open();
        return settled;
      },
    },
    {
      name: 'a stop while it writes',
      uses: ['prompt', 'abort'],
      model: [['Never ', { hang: true }]],
      script: { prompt: [{ started: true }, { say: ['Never ', 'more'], gate: 'never' }] },
      async steps(session) {
        const settled = session.next('agent_settled');
        const begun = session.next(
          'message_update',
          ({ assistantMessageEvent: event }) => event.type === 'text_delta',
        );
        await session.did('prompt', { message: 'one' });
        await begun;
        await session.did('abort');
        return settled;
      },
    },
    {
      name: 'a stop while a tool runs',
      uses: ['prompt', 'abort'],
      model: [[bashTool('sleep 60', 't1')]],
      script: {
        prompt: [
          { started: true },
          d1.begin('wait'),
          { emit: d1.runningTool('t1', { command: 'sleep 60' }) },
        ],
        abort: [
          { emit: [...d1.failedTool('t1', 'Command aborted'), d1.turnEnd, d1.turnStart] },
          { emit: [...d1.answer('', 'aborted', 'Request was aborted'), d1.turnEnd, d1.agentEnd] },
          { accept: true },
        ],
      },
      async steps(session) {
        const settled = session.next('agent_settled');
        const begun = session.next('tool_execution_start');
        await session.did('prompt', { message: 'wait' });
        await begun;
        await session.did('abort');
        return settled;
      },
    },
    {
      name: 'a retry that recovers',
      notOlder: 'its provider’s client retries by itself first',
      uses: ['prompt'],
      model: [{ status: 500 }, 'Recovered.'],
      script: {
        prompt: [
          { started: true },
          d1.begin('try'),
          { emit: [...d1.answer('', 'error', '500'), d1.turnEnd, d1.agentEnd, d1.retryStart(1)] },
          { emit: [d1.agentStart, d1.turnStart, ...d1.answer('Recovered.')] },
          { emit: [d1.retryEnd(true, 1), d1.turnEnd, d1.agentEnd] },
        ],
      },
      steps: (session) => session.ran('try'),
    },
    {
      name: 'retries that are exhausted',
      notOlder: 'its provider’s client retries by itself first',
      uses: ['prompt'],
      model: () => ({ status: 500 }),
      script: {
        prompt: [
          { started: true },
          d1.begin('try'),
          { emit: [...d1.answer('', 'error', '500'), d1.turnEnd, d1.agentEnd] },
          ...[1, 2, 3].map(
            (attempt): Step => ({
              emit: [
                d1.retryStart(attempt),
                d1.agentStart,
                d1.turnStart,
                ...d1.answer('', 'error', '500'),
                d1.turnEnd,
                d1.agentEnd,
              ],
            }),
          ),
          { emit: d1.retryEnd(false, 3) },
        ],
      },
      steps: (session) => session.ran('try'),
    },
    {
      name: 'an error that is not retried',
      uses: ['prompt'],
      model: [{ status: 401 }],
      script: {
        prompt: [
          { started: true },
          d1.begin('try'),
          { emit: [...d1.answer('', 'error', '401'), d1.turnEnd, d1.agentEnd] },
        ],
      },
      steps: (session) => session.ran('try'),
    },
  ];
}
