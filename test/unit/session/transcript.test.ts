// The transcript, as a person reads it.
import { expect, it } from 'vitest';
import type { Dialog, Fact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import { emptySnapshot } from '../../../server/src/session/fold.ts';
import { createTranscript } from '../../../server/src/session/transcript.ts';
import { wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { exited, foldedAll, neovim, replaced, settled } from './fold-support.ts';
import {
  at,
  begins,
  conversation,
  ends,
  piece,
  text,
  time,
  toolFacts,
  user,
  written,
} from './transcript-support.ts';

it('reads like a conversation', () => {
  expect(written(conversation)).toBe(`## You ◈${time}

Run \`ls\`, please.

## Atomic ◈${time}

> *Thinking*
>
> I shall look.
>
> Now.

Looking.

### bash \`ls -l\` ◈

\`\`\`
one
two
\`\`\`

Two files.
`);
});

it('is the same told piece by piece and written from the snapshot', () => {
  expect(wholeTranscript(foldedAll(conversation))).toBe(written(conversation));
});

it('shows a piece at once', () => {
  const transcript = createTranscript();
  const after = emptySnapshot();
  transcript.appended(begins, after);
  expect(transcript.appended(piece('Hel'), after)).toBe(`## Atomic ◈${time}\n\nHel`);
  expect(transcript.atRest).toBe(false);
  expect(transcript.appended(piece('lo '), after)).toBe('lo');
  expect(transcript.appended(piece('you'), after)).toBe(' you');
});

it.each([
  ['at the margin', '```js\nlet a', '```js\nlet a\n```\n'],
  ['in a list', '- ~~~~\n  a\n  ```', '- ~~~~\n  a\n  ```\n  ~~~~\n'],
  ['not one that is closed', '```\na\n```', '```\na\n```\n'],
])('closes a fence that was cut: %s', (_, cut, shown) => {
  const facts: Fact[] = [begins, piece(cut), { ...settled, aborted: true } as Fact];
  expect(written(facts)).toBe(`## Atomic ◈${time}\n\n${shown}\n◈ Stopped.\n`);
});

it('says once that a run was stopped or failed', () => {
  const failed = { stopReason: 'error', errorMessage: 'overloaded' } as const;
  const facts: Fact[] = [begins, ends([], failed), { type: 'agent_settled', outcome: failed }];
  expect(written(facts)).toBe('◈ **Error:** overloaded\n');
  const cut: Fact[] = [
    begins,
    piece('a'),
    ends([text('a')], { stopReason: 'aborted' }),
    { type: 'agent_settled', outcome: { stopReason: 'aborted' }, aborted: true },
  ];
  expect(written(cut).match(/Stopped/g)).toHaveLength(1);
});

it('adds what was not streamed, and writes again what was corrected', () => {
  expect(written([begins, piece('ab'), ends([text('abc'), text('more')])])).toContain('\n\nabc\n\nmore\n');
  expect(written([begins, piece('ab'), ends([text('xy')])])).toContain(
    'ab\n\n◈ The agent corrected this to:\n\nxy\n',
  );
});

it('bounds output, and no output leaves its block', () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`);
  const page = written(toolFacts('a', 'x', `\`\`\`\`\n${lines.join('\n')}`));
  expect(page).toContain('`````\n````\nline 0\n');
  expect(page).toContain('line 18\n… 61 lines left out\nline 80\n');
  expect(page.endsWith('line 99\n`````\n')).toBe(true);
});

it('shows a diff as one', () => {
  // Also one in nothing but white space.
  expect(written(toolFacts('a', 'x', 'Edited.', { details: { diff: '-1 a  \n+1 a\n+2 b' } }))).toContain(
    '```diff\n-1 a  \n+1 a\n+2 b\n```\n',
  );
});

it.each<[string, object, string]>([
  ['as the tool says', { diff: '  1 x\n-2 a\n+2 b', firstChangedLine: 3 }, 'src/ü.ts:3'],
  ['as the diff says', { diff: '  1 x\n-12 a\n+12 b' }, 'src/ü.ts:12'],
  ['as a hunk says', { diff: '@@ -1,2 +7,3 @@\n x\n+y' }, 'src/ü.ts:7'],
])('leads to the first change, %s', (_, details, place) => {
  const args = { path: 'src/ü.ts' };
  const page = written([
    { type: 'tool_execution_start', toolCallId: 'a', toolName: 'edit', args },
    { type: 'tool_execution_end', toolCallId: 'a', toolName: 'edit', result: { details }, isError: false },
  ]);
  expect(page).toContain(`\n\`\`\`\n\n◈ The first change: \`${place}\`\n`);
});

it('says which lines are read', () => {
  const args = { path: 'src/a.ts', offset: 10, limit: 20 };
  expect(written([{ type: 'tool_execution_start', toolCallId: 'a', toolName: 'read', args }])).toContain(
    '### read `src/a.ts:10-29` ◈\n',
  );
});

it('names the tool again when its output comes after another’s', () => {
  const [a, , aEnd] = toolFacts('a', 'first', '1');
  const [b, , bEnd] = toolFacts('b', 'second', '2');
  expect(written([a!, b!, aEnd!, bEnd!]).match(/^### .*$/gm)).toEqual([
    '### bash `first` ◈',
    '### bash `second` ◈',
    '### bash `first` ◈',
    '### bash `second` ◈',
  ]);
});

it('shows what a call had put out when it has no end', () => {
  const [start] = toolFacts('a', 'x', '');
  const output: Fact = { type: 'tool_execution_update', toolCallId: 'a', delta: 'half\n' };
  expect(written([{ type: 'agent_start' }, start!, output, exited])).toContain(
    '### bash `x` ◈\n\n```\nhalf\n```\n\n◈ **Failed**\n\n◈ It ended.\n',
  );
});

const question = (more: Partial<Dialog>): Dialog => ({
  id: 'q',
  method: 'select',
  title: 'Which?',
  openedAt: at,
  ...more,
});
const asked = (more: Partial<Dialog>, answer?: string): Fact[] => [
  { type: 'dialog_opened', dialog: question(more) },
  {
    type: 'dialog_settled',
    id: 'q',
    outcome: 'answered',
    by: neovim,
    ...(answer !== undefined && { answer }),
  },
];

it('shows a question, how to answer it, and what was answered', () => {
  expect(written(asked({ options: ['red', 'blue\nish'], deadline: at + 5000 }, 'red'))).toBe(`### Question ◈

Which?

1. red (\`atomic.answer1\`)
2. blue ish (\`atomic.answer2\`)

◈ Answer with the command beside an option, or refuse with \`atomic.dialogCancel\`. The agent waits 5 s.

◈ Question “Which?” answered by Neovim: red
`);
});

it('never shows a secret', () => {
  const page = written(asked({ method: 'oauth_prompt', secret: true, prefill: 'hunter1' }, 'hunter2'));
  expect(page).not.toContain('hunter');
  const refused: Fact = {
    type: 'intent_settled',
    intent: 'i',
    command: 'save_provider_credential',
    outcome: 'refused',
    error: 'bad key hunter2',
  };
  expect(written([refused])).toBe('◈ **Not done (save_provider_credential):** refused.\n');
});

it.each<[string, Fact, string]>([
  [
    'a retry',
    { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: 'over\nloaded' },
    '◈ Retry 1 of 3 in 2 s: over loaded\n',
  ],
  [
    'a compaction',
    { type: 'compaction_start', reason: 'threshold' },
    '◈ Compacting the conversation (threshold)…\n',
  ],
  [
    'its failure',
    { type: 'compaction_end', errorMessage: 'too short' },
    '◈ **Compaction failed:** too short\n',
  ],
  [
    'its summary',
    { type: 'compaction_end', result: { summary: 'So far\n\ngood.', tokensBefore: 9 } },
    '◈ The conversation was compacted (9 tokens before):\n\n> So far\n>\n> good.\n',
  ],
  [
    'a word of an extension',
    { type: 'extension_ui_request', method: 'notify', message: 'hi\u001b[31m', notifyType: 'warning' },
    '◈ **Warning:** hi\n',
  ],
  ['no status', { type: 'extension_ui_request', method: 'setStatus', statusKey: 'a', statusText: 'b' }, ''],
  [
    'what was queued',
    { type: 'queue_returned', texts: ['one\ntwo', 'three'] },
    '◈ Taken back from the queue, not sent:\n\n> one\n> two\n\n> three\n',
  ],
  ['the end of the agent', exited, '◈ It ended.\n'],
])('says %s', (_, fact, expected) => {
  expect(written([fact])).toBe(expected);
});

it('shows a shell command with its output', () => {
  const facts: Fact[] = [
    { type: 'intent_accepted', intent: 's', command: 'bash', text: 'false' },
    {
      type: 'intent_settled',
      intent: 's',
      command: 'bash',
      outcome: 'done',
      data: { output: 'no\n', exitCode: 1 },
    },
  ];
  expect(written(facts)).toBe('### You ran `false` ◈\n\n```\nno\n```\n\n◈ Exit code 1.\n');
});

it('rules off another conversation, and adds only what is new of the same', () => {
  const messages = [user('one'), user('two')].map((fact, n) => ({
    ...(fact as { message: Message }).message,
    timestamp: at + n,
  }));
  const transcript = createTranscript();
  const first = written([replaced('s1', { messages: messages.slice(0, 1) })], transcript);
  expect(first).toBe(`◈ The conversation (a new session).\n\n## You ◈${time}\n\none\n`);
  expect(written([replaced('s1', { messages: messages.slice(0, 1) })], transcript)).toBe('');
  const more = written([replaced('s1', { messages })], transcript);
  expect(more).toContain('---\n\n◈ The conversation goes on');
  expect(more).not.toContain('\none\n');
  expect(more).toContain('\ntwo\n');
  const other = written([replaced('s2', { messages, olderMessages: 4 })], transcript);
  expect(other).toContain(
    '\n---\n\n◈ Another conversation (a new session).\n\n◈ 4 earlier messages are left out here.',
  );
  expect(other).toContain('\none\n');

  const later = createTranscript(transcript.position);
  expect(written([replaced('s2', { messages })], later)).toBe('');
  expect(written([user('three')], later)).toBe(`---\n\n## You ◈${time}\n\nthree\n`);
});
