// Sessions: compaction, the shell, names, forks, models, questions and shows. Guarantees: the steps are the same for all agents;
// only what the model or the scripted agent says is per agent. Must not know: how snapshots are compared.
import { expect } from 'vitest';
import type { Scenario } from './scenario.ts';
import * as d1 from './scripted-d1.ts';

export const sessionScenarios: Scenario[] = [
  {
    name: 'a compaction that has nothing to do',
    notOlder: 'it tells no event of a compaction that was asked for',
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
    notOlder: 'it tells no event of a compaction that was asked for',
    uses: ['prompt', 'compact'],
    model: ({ prompt }) => ({ one: 'First', two: 'Second', three: 'Third' })[prompt] ?? 'The summary.',
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
    notOlder: 'it has no clone',
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
      const thinks = await session.did('set_thinking_level', { level: 'high' });
      expect(thinks).toMatchObject({ outcome: 'done', data: { level: expect.any(String) } });
    },
  },
  {
    name: 'questions',
    notOlder: 'the extension is for the newer one',
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
    notOlder: 'the extension is for the newer one',
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
