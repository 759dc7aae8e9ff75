// Kinds of bugs that others had in a session, with agents that bring them about; the list is test/bug-kinds.md.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../../server/src/session/fold.ts';
import { type Script, type ScriptedAgent, scriptedAgent } from '../support/scripted.ts';
import { type TestSession, testSession } from '../support/sessions.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function withScript(script: Script): { agent: ScriptedAgent; session: TestSession } {
  const agent = scriptedAgent(script);
  closing.push(() => agent.dispose());
  const session = testSession(agent);
  closing.push(() => session.close());
  return { agent, session };
}
const textOf = (session: TestSession): string =>
  session
    .facts()
    .flatMap((fact) =>
      fact.type === 'message_update' && fact.assistantMessageEvent.type === 'text_delta'
        ? [fact.assistantMessageEvent.delta]
        : [],
    )
    .join('');
const users = (session: TestSession): string =>
  JSON.stringify(session.snapshot().messages.filter(({ role }) => role === 'user'));
const ask = (title: string, more: object = {}) => ({
  ask: { method: 'select', title, options: ['yes', 'no'], ...more },
});

describe('a run', () => {
  it('whose agent drops deltas shows all of its text as it grows', async () => {
    const words = Array.from({ length: 60 }, (_, at) => `word ${at} of a text, ää and "quotes". `);
    const snapshot = (count: number) => ({
      role: 'assistant',
      content: [{ type: 'text', text: words.slice(0, count).join('') }],
      usage: { input: 1, output: count },
    });
    const { session } = withScript({
      dialect: 'D1',
      on: {
        prompt: [
          { started: true },
          { emit: [{ type: 'agent_start' }, { type: 'message_start', message: snapshot(0) }] },
          {
            emit: words.flatMap((delta, at) =>
              at % 5 === 4
                ? [
                    {
                      type: 'message_update',
                      message: snapshot(at + 1),
                      assistantMessageEvent: {
                        type: 'text_delta',
                        contentIndex: 0,
                        delta,
                        partial: snapshot(at + 1),
                      },
                    },
                  ]
                : [],
            ),
          },
          { line: 'get_last_assistant_text' },
          {
            emit: [
              { type: 'message_end', message: snapshot(60) },
              { type: 'agent_end', messages: [] },
            ],
          },
        ],
      },
    });
    const last = session.next(
      'message_update',
      ({ assistantMessageEvent: event }) => 'delta' in event && event.delta.includes('word 59 '),
    );
    await session.did('prompt', { message: 'hi' });
    await last;
    expect(textOf(session)).toBe(words.join(''));
    const settled = session.next('agent_settled');
    session.read('get_last_assistant_text', {}).catch(() => {});
    await settled;
    expect(session.snapshot().messages.at(-1)).toMatchObject(snapshot(60));
  });

  it('is accepted first, then goes on, then fails: three things', async () => {
    const { agent, session } = withScript({
      on: {
        prompt: [
          { started: true },
          { gate: 'begin' },
          { say: 'Half', stopReason: 'error', errorMessage: 'no credit', gate: 'fail' },
        ],
      },
    });
    expect((await session.did('prompt', { message: 'hi' })).outcome).toBe('done');
    expect([session.snapshot().run, phaseOf(session.snapshot())]).toEqual([null, 'idle']);
    const begun = session.next('message_update');
    agent.open('begin');
    await begun;
    expect(session.snapshot().run).not.toBeNull();
    const settled = session.next('agent_settled');
    agent.open('fail');
    expect((await settled).outcome).toEqual({ stopReason: 'error', errorMessage: 'no credit' });
    expect(session.snapshot().lastRun?.stopReason).toBe('error');
  });

  it('asked of an agent that says nothing is taken back by a stop, and the agent can be replaced', async () => {
    const { agent, session } = withScript({ otherwise: 'silent' });
    const started = session.next('agent_started');
    const prompt = session.did('prompt', { message: 'hi' });
    await started;
    const returned = session.next('queue_returned');
    session.intent({ id: 'stop', command: 'abort', params: {} });
    expect((await returned).texts).toEqual(['hi']);
    expect((await prompt).outcome).toBe('refused');
    const other = scriptedAgent({});
    closing.push(() => other.dispose());
    session.update({ choice: other });
    // Also when it is only just being started.
    session.intent({ id: 'again', command: 'prompt', params: { message: 'again' } });
    const said = session.next('message_end', ({ message }) =>
      JSON.stringify(message).includes('said: again'),
    );
    expect((await session.did('restart_agent')).outcome).toBe('done');
    await said;
    expect(users(session)).not.toContain('"hi"');
    agent.dispose();
  });

  it('in compaction has a phase of its own by either name of the event', async () => {
    for (const name of ['compaction', 'auto_compaction']) {
      const { session } = withScript({
        on: { set_auto_retry: [{ accept: true }, { emit: { type: `${name}_start`, reason: 'threshold' } }] },
      });
      const begun = session.next('compaction_start');
      await session.did('set_auto_retry', { enabled: true });
      await begun;
      expect(phaseOf(session.snapshot())).toBe('compacting');
      expect(session.busy).toBe(true);
    }
  });

  it('that was stopped takes the next prompt before it has settled, and loses none', async () => {
    const { session } = withScript({
      on: {
        prompt: [
          [{ started: true }, { say: ['One', 'never'], gate: 'never' }],
          [{ started: true }, { say: 'Two' }],
        ],
        // The answer comes, the end of the run does not: until the next prompt is there.
        abort: [
          { accept: true },
          { line: 'prompt' },
          { emit: [{ type: 'agent_end', messages: [] }, { type: 'agent_settled' }] },
        ],
      },
    });
    const begun = session.next('message_update');
    await session.did('prompt', { message: 'one' });
    await begun;
    expect((await session.did('abort')).outcome).toBe('done');
    expect(session.snapshot().run).not.toBeNull();
    const said = session.next('message_end', ({ message }) => JSON.stringify(message).includes('Two'));
    expect((await session.did('prompt', { message: 'the second' })).outcome).toBe('done');
    await said;
    expect(users(session)).toContain('the second');
  });

  it('begins with what its agent says before it answers anything, in order', async () => {
    const { session } = withScript({
      start: [
        { emit: [{ type: 'queue_update', steering: ['early'], followUp: [] }] },
        { ...ask('Trust it?'), wait: false },
        { emit: [{ type: 'session_info_changed', name: 'named' }] },
      ],
    });
    const opened = session.next('dialog_opened');
    const prompted = session.did('prompt', { message: 'hi' });
    expect((await opened).dialog).toMatchObject({ title: 'Trust it?' });
    expect((await prompted).outcome).toBe('done');
    const types = session.facts().map(({ type }) => type);
    const order = ['queue_update', 'dialog_opened', 'session_info_changed', 'agent_started'].map((type) =>
      types.indexOf(type as never),
    );
    expect(order.every((at) => at >= 0)).toBe(true);
    expect(order.slice(0, 3)).toEqual(order.slice(0, 3).toSorted((a, b) => a - b));
    expect(session.dialogs).toBe(1);
  });

  it('asked for while the agent is being ended waits for the next agent', async () => {
    const { session } = withScript({});
    await session.ran('one');
    const [first] = [session.snapshot().agent.pid];
    const stopped = session.stop();
    const settled = session.next('agent_settled');
    expect((await session.did('prompt', { message: 'two' })).outcome).toBe('done');
    await Promise.all([stopped, settled]);
    expect(session.snapshot().agent.pid).not.toBe(first);
  });
});

describe('names', () => {
  it.each([
    'a b#c%20é',
    'проект/日本',
    '$(touch pwned); touch pwned & `touch pwned`',
    '"quoted\' \\ |>pwned',
  ])('are names and no commands: %s', async (name) => {
    const root = mkdtempSync(join(tmpdir(), 'names-'));
    closing.push(() => rmSync(root, { recursive: true, force: true }));
    const workspace = join(root, name.replaceAll('/', '∕'));
    mkdirSync(workspace);
    const program = join(workspace, 'agent $(touch pwned)');
    symlinkSync(process.execPath, program);
    const agent = scriptedAgent({
      start: [{ pid: true }],
      on: {
        prompt: [{ started: true }, { say: 'Done.' }],
      },
    });
    closing.push(() => agent.dispose());
    const session = testSession(
      { ...agent, command: program, args: [...agent.args, name, '$(touch pwned)', '; touch pwned'] },
      {},
      undefined,
      workspace,
    );
    closing.push(() => session.close());
    const told = session.next('session_info_changed');
    await session.ran(name);
    const { name: pid } = await told;
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).toEqual(
      expect.arrayContaining([program, name, '$(touch pwned)', '; touch pwned']),
    );
    expect(users(session)).toContain(JSON.stringify(name).slice(1, -1).slice(0, 3));
    for (const folder of [root, workspace, process.cwd()])
      expect(existsSync(join(folder, 'pwned'))).toBe(false);
    await session.stop();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});

it('an agent that ends while much is written to it fails what was written, and nothing else', async () => {
  const { session } = withScript({
    on: { prompt: [[{ started: true }, { say: 'First' }]], set_auto_retry: [{ exit: 3 }] },
  });
  await session.ran('one');
  const exited = session.next('agent_exited');
  session.intent({ id: 'end', command: 'set_auto_retry', params: { enabled: true } });
  const big = session.did('set_session_name', { name: 'x'.repeat(20_000_000) });
  expect((await exited).code).toBe(3);
  expect(['failed', 'unknown']).toContain((await big).outcome);
  await session.ran('and on');
});
