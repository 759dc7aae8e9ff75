// What people do with an agent, each written once and carried out with agents of different dialects. Guarantees: the steps are the
// same for all of them; only what the model or the scripted agent says is per agent. Must not know: how snapshots are compared.
import { expect } from 'vitest';
import { type Gate, gate, type ModelScript } from '../support/model-server.ts';
import type { Script, Step } from '../support/scripted.ts';
import type { TestSession } from '../support/sessions.ts';
import * as d1 from './scripted-d1.ts';

export interface Scenario {
  name: string;
  /** The commands that its steps send. */
  uses: string[];
  /** What the real agent's model says. */
  model: ModelScript;
  extensions?: string[];
  /** Settings of the real agent. */
  settings?: Record<string, unknown>;
  /** What the scripted agent does. */
  script: Script['on'];
  steps(session: TestSession): Promise<unknown>;
}

const bashTool = (command: string, id: string) => ({ toolCall: 'bash', arguments: { command }, id });
const scriptedBash = (command: string, id: string, output: string) => ({
  name: 'bash',
  id,
  args: { command },
  output: [output],
});

const wait: Gate = gate();

export const scenarios: Scenario[] = [
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
      const queued = session.next('queue_update', (fact) => fact.followUp.length === 1);
      expect((await session.did('steer', { message: 'two' })).outcome).toBe('done');
      expect((await session.did('follow_up', { message: 'three' })).outcome).toBe('done');
      await queued;
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
      prompt: [{ started: true }, d1.begin('wait'), { emit: d1.runningTool('t1', { command: 'sleep 60' }) }],
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
  {
    name: 'a compaction that has nothing to do',
    uses: ['compact'],
    model: [],
    script: {
      compact: [
        { emit: { type: 'compaction_start', reason: 'manual' } },
        { emit: { type: 'compaction_end', reason: 'manual', aborted: false, errorMessage: 'Too small' } },
        { refuse: 'Nothing to compact (session too small)' },
      ],
    },
    async steps(session) {
      expect((await session.did('compact')).outcome).toBe('refused');
    },
  },
  {
    name: 'a compaction',
    uses: ['prompt', 'compact'],
    model: ['First', 'Second', 'The summary.', 'Third'],
    settings: { compaction: { keepRecentTokens: 1 } },
    script: {
      prompt: ['First', 'Second', 'Third'].map((say) => [{ started: true }, { say }]),
      compact: [
        { emit: { type: 'compaction_start', reason: 'manual' } },
        { emit: { type: 'compaction_end', reason: 'manual', aborted: false, result: d1.compacted } },
        { accept: d1.compacted },
      ],
    },
    async steps(session) {
      await session.ran('one');
      await session.ran('two');
      const { outcome, data } = await session.did('compact');
      expect(outcome).toBe('done');
      expect(data).toMatchObject({ summary: expect.stringContaining('The summary.') });
      await session.ran('three');
    },
  },
  {
    name: 'a shell command',
    uses: ['bash'],
    model: [],
    script: {
      bash: [{ accept: { output: 'out\n', exitCode: 0, cancelled: false, truncated: false } }],
    },
    async steps(session) {
      const { data } = await session.did('bash', { command: 'echo out' });
      expect(data).toMatchObject({ output: 'out\n', exitCode: 0 });
    },
  },
  {
    name: 'a name, and a new session',
    uses: ['set_session_name', 'prompt', 'new_session'],
    model: ['First', 'Second'],
    script: {
      get_state: d1.states([{}], [{ sessionName: 'mine' }], [{ sessionId: 'b' }]),
      get_messages: [[{ accept: { messages: [] } }]],
      new_session: [{ accept: { cancelled: false } }],
      prompt: [
        [{ started: true }, { say: 'First' }],
        [{ started: true }, { say: 'Second' }],
      ],
    },
    async steps(session) {
      await session.did('set_session_name', { name: 'mine' });
      expect(session.snapshot().state.sessionName).toBe('mine');
      expect((await session.did('new_session')).outcome).toBe('done');
      await session.ran('two');
    },
  },
  {
    name: 'a fork and a clone',
    uses: ['prompt', 'get_fork_messages', 'fork', 'clone'],
    model: ['First', 'Second'],
    script: {
      prompt: [
        [{ started: true }, { say: 'First' }],
        [{ started: true }, { say: 'Second' }],
      ],
      get_state: d1.stateBy(['a', 'a', 'a', 'b', 'c']),
      get_messages: [[{ accept: { messages: [] } }], [{ accept: { messages: d1.talk(['one', 'First']) } }]],
      get_fork_messages: [
        {
          accept: {
            messages: [
              { entryId: '1', text: 'one' },
              { entryId: '2', text: 'two' },
            ],
          },
        },
      ],
      fork: [{ accept: { text: 'two', cancelled: false } }],
      clone: [{ accept: { cancelled: false } }],
    },
    async steps(session) {
      await session.ran('one');
      await session.ran('two');
      const { messages } = (await session.read('get_fork_messages', {})) as {
        messages: { entryId: string; text: string }[];
      };
      expect(messages.map(({ text }) => text)).toEqual(['one', 'two']);
      const forked = await session.did('fork', { entryId: messages[1]!.entryId });
      expect(forked.data).toMatchObject({ text: 'two', cancelled: false });
      expect((await session.did('clone')).outcome).toBe('done');
    },
  },
  {
    name: 'another model, and more thinking',
    uses: ['set_model', 'set_thinking_level'],
    model: [],
    script: {
      get_state: d1.states([{}], [{}], [{ thinkingLevel: 'high' }]),
      set_model: [{ accept: { id: 'thinker', provider: 'local' } }],
      set_thinking_level: [{ accept: true }],
    },
    async steps(session) {
      expect((await session.did('set_model', { provider: 'local', modelId: 'thinker' })).outcome).toBe(
        'done',
      );
      expect((await session.did('set_thinking_level', { level: 'high' })).outcome).toBe('done');
    },
  },
  {
    name: 'questions',
    uses: ['prompt', 'answer2', 'answer1', 'answer'],
    model: [],
    extensions: ['dialogs'],
    script: {
      get_commands: [
        {
          accept: {
            commands: ['ask-select', 'ask-confirm', 'ask-input'].map((name) => ({
              name,
              source: 'extension',
            })),
          },
        },
      ],
      prompt: [
        [
          { ask: { method: 'select', title: 'Run it?', options: ['Allow', 'Block'] }, settled: false },
          { accept: true },
        ],
        [
          { ask: { method: 'confirm', title: 'Clear the session?', message: 'All' }, settled: false },
          { accept: true },
        ],
        [{ ask: { method: 'input', title: 'Name of the branch' }, settled: false }, { accept: true }],
      ],
    },
    async steps(session) {
      const answers = [['answer2'], ['answer1'], ['answer', { value: 'main' }]] as const;
      const commands = ['/ask-select', '/ask-confirm', '/ask-input'];
      for (const [at, message] of commands.entries()) {
        const opened = session.next('dialog_opened');
        const answered = session.did('prompt', { message });
        await opened;
        const [command, params = {}] = answers[at]!;
        expect((await session.did(command, params)).outcome).toBe('done');
        expect((await answered).outcome).toBe('done');
      }
    },
  },
  {
    name: 'what is shown without an answer',
    uses: ['prompt'],
    model: [],
    extensions: ['dialogs'],
    script: {
      get_commands: [{ accept: { commands: [{ name: 'say', source: 'extension' }] } }],
      prompt: [
        {
          emit: [
            { method: 'setStatus', statusKey: 'tests', statusText: '\u001b[32mgreen\u001b[0m status' },
            {
              method: 'setWidget',
              widgetKey: 'list',
              widgetLines: ['one', 'two'],
              widgetPlacement: 'belowEditor',
            },
            { method: 'setTitle', title: 'A title' },
            { method: 'set_editor_text', text: 'text for the prompt' },
          ].map((show, at) => ({ type: 'extension_ui_request', id: `u${at}`, ...show })),
        },
        { accept: true },
      ],
    },
    steps: (session) => session.did('prompt', { message: '/say' }),
  },
];
