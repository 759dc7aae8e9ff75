// What each fact about the agent, its session, questions and intents does to the snapshot.
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { emptySnapshot } from '../../../server/src/session/fold.ts';
import {
  accepted,
  assistant,
  begun,
  delta,
  ended,
  exited,
  foldedAll,
  helix,
  identity,
  neovim,
  question,
  replaced,
  said,
  toolStart,
  ui,
  user,
} from './fold-support.ts';

const started = (command = identity.command): Fact => ({
  type: 'agent_started',
  agent: { ...identity, command },
  pid: 42,
});
const busy: Fact[] = [
  started(),
  accepted('b1', 'bash', { text: 'make' }),
  { type: 'agent_start', at: 1 },
  begun(2),
  toolStart('t1'),
  { type: 'queue_update', steering: ['s'], followUp: ['f'] },
  { type: 'compaction_start', at: 3 },
  { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 10, at: 4 },
  { type: 'summarization_retry_scheduled', attempt: 1, maxAttempts: 2, delayMs: 10 },
  ui('setStatus', { statusKey: 'k', statusText: 'v' }),
  ui('setWidget', { widgetKey: 'w', widgetLines: ['l'] }),
  ui('setTitle', { title: 'T' }),
  { type: 'file_touched', path: '/a', toolName: 'edit' },
];

describe('the agent', () => {
  it('is absent at first, then runs, then has exited', () => {
    expect(emptySnapshot().agent).toEqual({ status: 'absent', unavailable: [] });
    expect(foldedAll([exited, started()]).agent).toStrictEqual({
      status: 'running',
      identity,
      pid: 42,
      unavailable: [],
    });
    expect(foldedAll([started(), exited]).agent).toStrictEqual({
      status: 'exited',
      identity,
      unavailable: [],
      exit: { code: 1, signal: null, expected: false, message: 'It ended.' },
    });
  });

  it('keeps what it does not know for as long as it is the same program', () => {
    const lacking: Fact = { type: 'command_unavailable', command: 'clear_queue' };
    const known = [started(), lacking, lacking];
    expect(foldedAll(known).agent.unavailable).toEqual(['clear_queue']);
    expect(foldedAll([...known, exited, started()]).agent.unavailable).toEqual(['clear_queue']);
    expect(foldedAll([...known, exited, started('pi')]).agent.unavailable).toEqual([]);
  });

  it('takes everything that lived in its process with it, but questions, files and messages', () => {
    const before = foldedAll([...busy, said(user('hi')), { type: 'dialog_opened', dialog: question('q') }]);
    const after = foldedAll([exited], before);
    expect(after).toMatchObject({
      run: null,
      message: null,
      compaction: null,
      retry: null,
      summarization: null,
      title: null,
      queue: { steering: [], followUp: [] },
      files: ['/a'],
      messages: [user('hi')],
      dialogs: [question('q')],
    });
    expect(after.tools.t1).toMatchObject({ status: 'failed', endedAt: 80 });
    for (const gone of [after.statuses, after.widgets, after.bash]) expect(gone).toEqual({});
  });
});

describe('the state', () => {
  it('is changed field by field, and loses what is removed', () => {
    const facts: Fact[] = [
      { type: 'state_changed', state: { sessionId: 's', sessionName: 'n', thinkingLevel: 'low' } },
      {
        type: 'state_changed',
        state: { model: null, thinkingLevel: 'high' },
        removed: ['sessionName'],
      },
    ];
    expect(foldedAll(facts).state).toStrictEqual({ sessionId: 's', thinkingLevel: 'high', model: null });
  });

  it('follows the events that tell of it', () => {
    const facts: Fact[] = [
      { type: 'model_changed', model: { id: 'm', provider: 'p' } },
      { type: 'thinking_level_changed', level: 'max' },
      { type: 'context_window_changed', contextWindow: 7 },
      { type: 'session_info_changed', name: 'a name' },
    ];
    const known = { model: { id: 'm', provider: 'p' }, thinkingLevel: 'max', contextWindow: 7 };
    expect(foldedAll(facts).state).toStrictEqual({ ...known, sessionName: 'a name' });
    expect(foldedAll([...facts, { type: 'session_info_changed' }]).state).toStrictEqual(known);
  });
});

describe('another session', () => {
  const messages = [user('old'), assistant('yes', { input: 3, output: 4, cost: { total: 0.5 } })];
  const before: Fact[] = [{ type: 'state_changed', state: { sessionId: 'one', sessionName: 'n' } }, ...busy];

  it('voids everything about the one before', () => {
    const after = foldedAll([...before, replaced('two', { messages, olderMessages: 2 })]);
    expect(after).toMatchObject({
      state: { sessionId: 'two' },
      messages,
      olderMessages: 2,
      message: null,
      title: null,
      queue: { steering: [], followUp: [] },
      compaction: null,
      retry: null,
      summarization: null,
      files: [],
      usage: { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, cost: 0.5 },
    });
    expect(after.state).not.toHaveProperty('sessionName');
    for (const gone of [after.tools, after.statuses, after.widgets]) expect(gone).toEqual({});
  });

  it('has the entries and widgets that came with it', () => {
    const statuses = { new: 'one' };
    const widgets = { w2: { lines: ['x'], placement: 'belowEditor' } };
    expect(foldedAll([...before, replaced('two', { statuses, widgets })])).toMatchObject({
      statuses: { new: 'one' },
      widgets,
    });
    expect(foldedAll([...before, replaced('two', { statuses, widgets })]).widgets).toEqual(widgets);
  });

  it('keeps queue, title and what goes on when it is the same one read again', () => {
    const after = foldedAll([...before, replaced('one')]);
    expect(after.queue).toEqual({ steering: ['s'], followUp: ['f'] });
    expect(after.title).toBe('T');
    expect(after.compaction).toEqual({ since: 3 });
    expect(foldedAll([...busy, replaced('one')]).title, 'an unknown session is not the same').toBeNull();
  });

  it('counts messages that have no room', () => {
    const many = Array.from({ length: 410 }, (_, n) => user(String(n)));
    const after = foldedAll([replaced('two', { messages: many, olderMessages: 5 })]);
    expect(after.messages).toEqual(many.slice(10));
    expect(after.olderMessages).toBe(15);
  });
});

describe('extensions', () => {
  it('set and clear status entries, widgets and the title', () => {
    const set = foldedAll([
      ui('setStatus', { statusKey: 'a', statusText: '1' }),
      ui('setStatus', { statusKey: 'b', statusText: '2' }),
      ui('setWidget', { widgetKey: 'w', widgetLines: ['x', 'y'] }),
      ui('setWidget', { widgetKey: 'v', widgetLines: [], widgetPlacement: 'belowEditor' }),
      ui('setTitle', { title: 'T' }),
      ui('notify', { message: 'says nothing here' }),
    ]);
    expect(set.statuses).toEqual({ a: '1', b: '2' });
    expect(set.widgets).toEqual({
      w: { lines: ['x', 'y'], placement: 'aboveEditor' },
      v: { lines: [], placement: 'belowEditor' },
    });
    expect(set.title).toBe('T');
    const cleared = foldedAll(
      [
        ui('setStatus', { statusKey: 'a' }),
        ui('setStatus', { statusKey: 'b', statusText: '' }),
        ui('setWidget', { widgetKey: 'w' }),
        ui('setTitle', { title: '' }),
      ],
      set,
    );
    expect(cleared.statuses).toEqual({});
    expect(Object.keys(cleared.widgets)).toEqual(['v']);
    expect(cleared.title).toBeNull();
  });
});

describe('questions', () => {
  it('are open, oldest first, until they are settled', () => {
    const asked: Fact[] = ['q1', 'q2'].map((id) => ({ type: 'dialog_opened', dialog: question(id) }));
    expect(foldedAll(asked).dialogs).toEqual([question('q1'), question('q2')]);
    const after = foldedAll([
      ...asked,
      { type: 'dialog_settled', id: 'q1', outcome: 'answered', by: helix, answer: 'yes' },
      { type: 'dialog_settled', id: 'q3', outcome: 'expired' },
    ]);
    expect(after.dialogs).toEqual([question('q2')]);
    expect(after.settledDialogs).toStrictEqual([
      { id: 'q1', outcome: 'answered', by: helix },
      { id: 'q3', outcome: 'expired' },
    ]);
  });
});

describe('intents', () => {
  it('are pending until settled, in the order of acceptance; the same id is the same intent', () => {
    const { intents } = foldedAll([
      accepted('i1', 'prompt', { origin: neovim, text: 'hi' }),
      accepted('i2', 'set_model'),
      accepted('i1', 'prompt', { origin: helix }),
      { type: 'intent_settled', intent: 'i1', command: 'prompt', outcome: 'refused', error: 'Busy.' },
      ended('i3', 'abort'),
    ]);
    expect(intents).toStrictEqual([
      { intent: 'i1', command: 'prompt', origin: neovim, outcome: 'refused', error: 'Busy.' },
      { intent: 'i2', command: 'set_model', outcome: 'pending' },
      { intent: 'i3', command: 'abort', outcome: 'done' },
    ]);
  });

  it('give a run its origin: the last prompt that was not turned down', () => {
    const run = (facts: Fact[]) => foldedAll([...facts, { type: 'agent_start', at: 1 }]).run;
    const mine = accepted('i1', 'prompt', { origin: neovim });
    expect(run([mine])).toStrictEqual({ startedAt: 1, turns: 0, origin: neovim });
    expect(run([mine, accepted('i2', 'set_model', { origin: helix })])?.origin).toEqual(neovim);
    expect(run([mine, accepted('i2', 'follow_up', { origin: helix })])?.origin).toEqual(helix);
    const refused = [accepted('i2', 'steer', { origin: helix }), ended('i2', 'steer', 'refused')];
    expect(run([mine, ...refused])?.origin).toEqual(neovim);
    expect(run([])).toStrictEqual({ startedAt: 1, turns: 0 });
  });

  it('hold a shell command from acceptance to outcome, with its output', () => {
    const output = (text: string, id?: string): Fact => ({
      type: 'bash_execution_update',
      delta: text,
      ...(id && { id }),
    });
    const running = [accepted('b1', 'bash', { text: 'make' }), accepted('b2', 'user_bash', { text: 'ls' })];
    const two = foldedAll([...running, output('1', 'b1'), output('2', 'b2'), output('3', 'b1')]);
    expect(two.bash).toStrictEqual({
      b1: { id: 'b1', command: 'make', output: '13' },
      b2: { id: 'b2', command: 'ls', output: '2' },
    });
    expect(foldedAll([output('!')], two).bash.b2?.output, 'nameless output is the newest’s').toBe('2!');
    const one = foldedAll([ended('b1', 'bash'), output('late', 'b1'), output('new', 'b9')], two);
    expect(Object.keys(one.bash)).toEqual(['b2', 'b9']);
    expect(one.bash.b9).toStrictEqual({ id: 'b9', output: 'new' });
    const many = Array.from({ length: 50 }, (_, n) => output('x', `x${n}`));
    expect(Object.keys(foldedAll(many).bash)).toHaveLength(32);
    expect(foldedAll(many).bash).toHaveProperty('x49');
  });
});

it('lists touched files once, the newest last', () => {
  const touch = (path: string): Fact => ({ type: 'file_touched', path, toolName: 'edit' });
  expect(foldedAll(['/a', '/b', '/a'].map(touch)).files).toEqual(['/b', '/a']);
});

it('starts a message in flight even when its start was not told', () => {
  expect(foldedAll([delta('x')]).message).toEqual({
    role: 'assistant',
    startedAt: 0,
    blocks: [{ kind: 'text', text: 'x', done: false }],
  });
});
