// The core with agents that misbehave: each time one sentence with cause and cure, and the next prompt works.
import { afterEach, expect, it } from 'vitest';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import { type Script, scriptedAgent } from '../support/scripted.ts';
import { type TestSession, testSession } from '../support/sessions.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function withChoice(choice: AgentChoice): TestSession {
  const session = testSession(choice);
  closing.push(() => session.close());
  return session;
}
function withScript(script: Script) {
  const agent = scriptedAgent(script);
  closing.push(() => agent.dispose());
  return { agent, session: withChoice(agent) };
}

it('names an agent that is not there', async () => {
  const session = withChoice({ command: '/nowhere/agent' });
  const failed = await session.did('prompt', { message: 'hi' });
  expect(failed.outcome).toBe('failed');
  expect(failed.error).toContain('/nowhere/agent');
  const { agent } = withScript({});
  session.update({ choice: agent });
  await session.ran('hi');
});

it('tells the last words of an agent that dies at start, and leaves it alone after three times', async () => {
  const { session } = withScript({ start: [{ stderr: 'no such licence\n' }, { exit: 3 }] });
  for (let n = 0; n < 3; n += 1) {
    const exited = session.next('agent_exited');
    const failed = await session.did('prompt', { message: 'hi' });
    await exited;
    expect(failed.error).toContain('no such licence');
    expect(failed.outcome).toBe('failed');
  }
  const left = await session.did('prompt', { message: 'hi' });
  expect(left.error).toContain('atomic.restartAgent');
  expect(session.facts().filter((fact) => fact.type === 'agent_exited')).toHaveLength(3);
});

it('goes on when the agent prints garbage', async () => {
  const { session } = withScript({
    start: [{ raw: 'Welcome!\n\u001b[31mred\u001b[0m\n{"half":\n' }],
  });
  await session.ran('hi');
  expect(session.snapshot().messages.at(-1)).toMatchObject({ role: 'assistant' });
});

it('refuses a prompt without text, and the same intent twice is one', async () => {
  const { session } = withScript({});
  expect(() => session.intent({ id: '1', command: 'prompt', params: { message: '  ' } })).toThrow(
    /needs text/,
  );
  const settled = session.next('agent_settled');
  session.intent({ id: '2', command: 'prompt', params: { message: 'hi' } });
  session.intent({ id: '2', command: 'prompt', params: { message: 'hi' } });
  await settled;
  expect(session.facts().filter((fact) => fact.type === 'intent_accepted')).toHaveLength(1);
});

it.each(['D0', 'D1', 'D2', 'D3'] as const)('gives the same conversation in %s', async (dialect) => {
  const { session } = withScript({
    dialect,
    on: {
      prompt: [
        { started: true },
        {
          say: ['Hel', 'lo ', 'wörld'],
          thinking: ['hm', 'm'],
          tools: [{ name: 'bash', args: { command: 'ls' }, output: ['a\n', 'b\n'] }],
        },
      ],
    },
  });
  await session.ran('hi');
  const { messages, tools, run, lastRun } = session.snapshot();
  expect(run).toBeNull();
  expect(lastRun?.stopReason).toBe('stop');
  expect(messages.filter(({ role }) => role === 'assistant').at(-1)).toMatchObject({
    content: [
      { type: 'thinking', thinking: 'hmm' },
      { type: 'text', text: 'Hello wörld' },
    ],
  });
  expect(Object.values(tools)).toMatchObject([{ toolName: 'bash', status: 'done', output: 'a\nb\n' }]);
  expect(session.facts().filter((fact) => fact.type === 'agent_settled')).toHaveLength(1);
});

it('leaves no question open when the agent dies', async () => {
  const { session } = withScript({
    on: {
      prompt: [
        { accept: true },
        { ask: { method: 'confirm', title: 'Sure?', message: '' }, wait: false },
        { line: 'get_last_assistant_text' },
        { kill: 'SIGKILL' },
      ],
    },
  });
  const opened = session.next('dialog_opened');
  await session.did('prompt', { message: 'hi' });
  await opened;
  const settled = session.next('dialog_settled');
  session.read('get_last_assistant_text', {}).catch(() => {});
  expect((await settled).outcome).toBe('withdrawn');
  expect(session.dialogs).toBe(0);
});

it('settles a second stop while the first has no effect, with an offer', async () => {
  const { session } = withScript({
    on: {
      prompt: [{ started: true }, { say: 'x', gate: 'go' }],
      abort: [{ stop: true }],
      clear_queue: [{ stop: true }],
    },
  });
  const begun = session.next('message_update');
  await session.did('prompt', { message: 'hi' });
  await begun;
  session.intent({ id: 'a', command: 'abort', params: {} });
  const notice = session.next('notice');
  session.intent({ id: 'b', command: 'abort', params: {} });
  expect((await notice).message).toContain('atomic.restartAgent');
  expect((await session.did('restart_agent')).outcome).toBe('done');
  expect(session.snapshot().run).toBeNull();
});

it('offers to choose a model when the agent could not take the saved one', async () => {
  const { session } = withScript({
    state: {
      modelFallbackMessage: 'Provider "x" is not supported',
      modelFallbackReason: 'configured-provider-unsupported',
    },
  });
  await session.read('get_session_stats', {});
  const notices = session.facts().filter((fact) => fact.type === 'notice');
  expect(notices).toMatchObject([
    { message: 'Provider "x" is not supported. Choose a model with atomic.setModel.' },
  ]);
});

it('sends what is newer than the table as it is, and keeps secrets out of the facts', async () => {
  const { session } = withScript({
    on: { brand_new: [{ accept: { yes: 1 } }], save_provider_credential: [{ accept: { provider: 'p' } }] },
  });
  expect(await session.did('rpc', { command: { type: 'brand_new' } })).toMatchObject({
    outcome: 'done',
    data: { yes: 1 },
  });
  const saved = await session.did('save_provider_credential', {
    provider: 'p',
    credential: { type: 'api_key', key: 'hush-hush' },
  });
  expect(saved.outcome).toBe('done');
  expect(JSON.stringify(session.facts())).not.toContain('hush-hush');
});

it('stops a compaction by its own command, and keeps prompts back until it is over', async () => {
  const { session } = withScript({
    on: {
      set_auto_retry: [{ accept: true }, { emit: { type: 'compaction_start', reason: 'threshold' } }],
      abort_compaction: [
        { accept: true },
        { emit: { type: 'compaction_end', reason: 'threshold', aborted: true } },
      ],
    },
  });
  const begun = session.next('compaction_start');
  await session.did('set_auto_retry', { enabled: true });
  await begun;
  const waiting = session.did('prompt', { message: 'kept back' });
  const returned = session.next('queue_returned');
  const ended = session.next('compaction_end');
  expect((await session.did('abort')).outcome).toBe('done');
  expect((await returned).texts).toEqual(['kept back']);
  await ended;
  expect(await waiting).toMatchObject({ outcome: 'refused', error: expect.stringContaining('stop') });
  expect(session.snapshot().compaction).toBeNull();
  await session.ran('and on');
});

it('stops a shell command where nothing else runs', async () => {
  const { session } = withScript({
    on: { bash: [{ line: 'abort_bash' }, { accept: { output: '', cancelled: true, truncated: false } }] },
  });
  const accepted = session.next('intent_accepted');
  const bash = session.did('bash', { command: 'sleep 1000' });
  await accepted;
  await session.read('get_state', {});
  expect(session.busy).toBe(true);
  expect((await session.did('abort')).outcome).toBe('done');
  expect(await bash).toMatchObject({ outcome: 'done', data: { cancelled: true } });
  expect(session.busy).toBe(false);
});
