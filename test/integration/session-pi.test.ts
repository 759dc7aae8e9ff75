// The core with the real pi: what an editor may rely on.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { emptySnapshot, folded } from '../../server/src/session/fold.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { type TestSession, testSession } from '../support/sessions.ts';

beforeAll(ensurePi, 600_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPi(script: ModelScript, extensions: string[] = []): Promise<TestSession> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions });
  const session = testSession(agent);
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => session.close(),
  );
  return session;
}

it('streams an answer, and its fold says the same as the agent', async () => {
  const session = await withPi([['Hello ', 'there.']]);
  const settled = await session.ran('Hi');
  expect(settled.outcome.stopReason).toBe('stop');
  const snapshot = session.snapshot();
  expect(snapshot.run).toBeNull();
  expect(snapshot.message).toBeNull();
  expect(snapshot.messages.at(-1)).toMatchObject({
    role: 'assistant',
    content: [{ type: 'text', text: 'Hello there.' }],
  });
  const { messages } = (await session.read('get_messages', {})) as { messages: unknown[] };
  expect(snapshot.messages).toEqual(messages);
  expect(session.facts().reduce(folded, emptySnapshot())).toEqual(session.snapshot());
});

it('runs a tool and reports what it wrote', async () => {
  const session = await withPi([
    [{ toolCall: 'write', arguments: { path: 'ä b.txt', content: 'x\n' } }],
    [{ toolCall: 'bash', arguments: { command: 'echo one two' } }],
    'Done.',
  ]);
  await session.ran('Write');
  expect(session.snapshot().files).toEqual(['ä b.txt']);
  const bash = Object.values(session.snapshot().tools).find((tool) => tool.toolName === 'bash');
  expect(bash).toMatchObject({ status: 'done', output: expect.stringContaining('one two') });
});

it('turns a prompt during a run into steering, and a steer after it into a prompt', async () => {
  const wait = gate();
  const session = await withPi([['First', { gate: wait }], 'Second', 'Third']);
  const settled = session.next('agent_settled');
  await session.did('prompt', { message: 'one' });
  await wait.reached;
  const queued = session.next('queue_update', (fact) => fact.steering.length === 1);
  expect((await session.did('prompt', { message: 'two' })).outcome).toBe('done');
  expect((await queued).steering).toEqual(['two']);
  wait.open();
  await settled;
  const again = session.next('agent_settled');
  expect((await session.did('steer', { message: 'three' })).outcome).toBe('done');
  await again;
  const texts = session.snapshot().messages.filter(({ role }) => role === 'user');
  expect(texts).toHaveLength(3);
});

it('stops, and gives the queue back', async () => {
  const session = await withPi([['Never ', { hang: true }]]);
  const settled = session.next('agent_settled');
  const begun = session.next('message_update');
  await session.did('prompt', { message: 'one' });
  await begun;
  await session.did('follow_up', { message: 'two' });
  const returned = session.next('queue_returned');
  expect((await session.did('abort')).outcome).toBe('done');
  expect((await settled).outcome.stopReason).toBe('aborted');
  expect((await returned).texts).toEqual(['two']);
  expect(session.snapshot().queue).toEqual({ steering: [], followUp: [] });
});

it('asks, and takes the first answer', async () => {
  const session = await withPi([], ['dialogs']);
  const opened = session.next('dialog_opened');
  const command = session.did('prompt', { message: '/ask-select' });
  const { dialog } = await opened;
  expect(session.dialogs).toBe(1);
  const said = session.next('extension_ui_request', (fact) => fact.method === 'notify');
  expect((await session.did('answer1')).outcome).toBe('done');
  expect(await said).toMatchObject({ message: `select=${JSON.stringify(dialog.options![0])}` });
  expect((await command).outcome).toBe('done');
  const late = await session.did('answer', { dialog: dialog.id, index: 1 });
  expect(late).toMatchObject({ outcome: 'refused', error: expect.stringContaining('no longer open') });
  expect(session.busy).toBe(false);
});

it('notices a session that an extension replaced', async () => {
  const session = await withPi(['First'], ['dialogs']);
  await session.ran('one');
  const replaced = session.next('session_replaced');
  await session.did('prompt', { message: '/replace-session' });
  await replaced;
  expect(session.snapshot().messages.filter(({ role }) => role === 'user')).toEqual([]);
});

it('continues the session with a new agent after the old one was killed in mid-run', async () => {
  const session = await withPi([['First'], ['Half', { hang: true }], 'Third']);
  await session.ran('one');
  const begun = session.next('message_update');
  const settled = session.next('agent_settled');
  const exited = session.next('agent_exited');
  await session.did('prompt', { message: 'two' });
  await begun;
  process.kill(session.snapshot().agent.pid!, 'SIGKILL');
  await settled;
  expect((await exited).expected).toBe(false);
  await session.ran('three');
  const facts = session.facts();
  expect(facts.filter((fact) => fact.type === 'agent_settled')).toHaveLength(3);
  expect(JSON.stringify(session.snapshot().messages)).toContain('one');
  expect(session.snapshot().messages.at(-1)).toMatchObject({ content: [{ text: 'Third' }] });
});

it('starts again at once where that is wanted, with its conversation', async () => {
  const session = await withPi([['First'], 'Second']);
  session.update({ restart: 'atOnce' });
  await session.ran('one');
  const read = session.next('session_replaced', ({ reason }) => reason === 'resumed');
  process.kill(session.snapshot().agent.pid!, 'SIGKILL');
  await read;
  expect(JSON.stringify(session.snapshot().messages)).toContain('First');
  await session.ran('two');
  expect(session.snapshot().messages.at(-1)).toMatchObject({ content: [{ text: 'Second' }] });
});

it('says once what this agent does not know, and remembers it', async () => {
  const session = await withPi([]);
  await expect(session.read('get_shortcuts', {})).rejects.toMatchObject({ code: 'CommandUnavailable' });
  await expect(session.read('get_shortcuts', {})).rejects.toMatchObject({ code: 'CommandUnavailable' });
  expect(session.facts().filter((fact) => fact.type === 'command_unavailable')).toHaveLength(1);
  expect(session.snapshot().agent.unavailable).toEqual(['get_shortcuts']);
});

it('takes typed commands of the terminal to their own commands, or refuses them with a hint', async () => {
  const session = await withPi([]);
  expect((await session.did('prompt', { message: '/name parser rewrite' })).outcome).toBe('done');
  expect(session.snapshot().state.sessionName).toBe('parser rewrite');
  expect(await session.did('prompt', { message: '/settings' })).toMatchObject({
    outcome: 'refused',
    error: expect.stringContaining('/settings'),
  });
});

it('streams a shell command under its intent', async () => {
  const session = await withPi([]);
  const outcome = await session.did('bash', { command: 'echo out' });
  expect(outcome).toMatchObject({
    outcome: 'done',
    data: { output: expect.stringContaining('out'), exitCode: 0 },
  });
  expect(session.snapshot().bash).toEqual({});
});

it('lists earlier sessions by their files where the agent cannot, and opens none that is not there', async () => {
  const session = await withPi(['First', 'Second']);
  await session.ran('one');
  const { sessionFile } = session.snapshot().state;
  await session.did('set_session_name', { name: 'the first' });
  await session.did('new_session');
  await session.ran('two');
  const { sessions } = (await session.read('list_sessions', {})) as { sessions: object[] };
  expect(sessions).toHaveLength(2);
  expect(sessions).toContainEqual(
    expect.objectContaining({ path: sessionFile, firstMessage: 'one', name: 'the first' }),
  );
  expect(await session.did('switch_session', { sessionPath: '/nowhere/a.jsonl' })).toMatchObject({
    outcome: 'refused',
    error: expect.stringContaining('/nowhere/a.jsonl'),
  });
  expect((await session.did('switch_session', { sessionPath: sessionFile })).outcome).toBe('done');
  expect(session.snapshot().state.sessionName).toBe('the first');
  expect(session.snapshot().messages.at(-1)).toMatchObject({ content: [{ text: 'First' }] });
});

it('starts a new session, and follows model and name', async () => {
  const session = await withPi(['First']);
  await session.ran('one');
  expect((await session.did('set_model', { provider: 'local', modelId: 'thinker' })).outcome).toBe('done');
  expect(session.snapshot().state.model).toMatchObject({ id: 'thinker' });
  const id = session.snapshot().state.sessionId;
  expect((await session.did('new_session')).outcome).toBe('done');
  expect(session.snapshot().state.sessionId).not.toBe(id);
  expect(session.snapshot().messages.filter(({ role }) => role === 'user')).toEqual([]);
});
