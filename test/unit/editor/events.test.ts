// The stream for rich clients, and what becomes of it all when the hub is lost.
import { describe, expect, it } from 'vitest';
import { createEvents } from '../../../server/src/editor/events.ts';
import { comebacks } from '../../../server/src/editor/line.ts';
import { createMirror } from '../../../server/src/editor/mirror.ts';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { attached, delta, fakeHub, opened, startEditor, turn } from './support.ts';

const rich = { options: { client: { name: 'atomic.nvim', events: true, dialogs: true } } };
const begun: Fact[] = [
  { type: 'agent_start' },
  { type: 'message_start', message: { role: 'assistant', content: [] } },
  { type: 'message_update', assistantMessageEvent: { type: 'text_start', contentIndex: 0 } },
];

describe('atomic/events', () => {
  it('follows the snapshot without a gap, and folds to the same', async () => {
    const editor = await startEditor(rich);
    editor.hub.append(...begun);
    const start = await editor.connection.sendRequest<{ epoch: string; seq: number; snapshot: never }>(
      'atomic/attach',
      {},
    );
    let { seq, snapshot } = start;
    for (let n = 0; n < 300; n += 1) {
      editor.hub.append(delta(`${n} `));
      if (n % 7 === 0) await turn();
      if (n % 50 === 0) editor.clock.advance(17);
    }
    await editor.when(() => {
      editor.clock.advance(17);
      return editor.of('atomic/events').at(-1)?.to === editor.hub.journal.last;
    });
    let text = '';
    for (const batch of editor.of('atomic/events')) {
      expect(batch).toMatchObject({ session: '1', epoch: start.epoch, from: seq + 1 });
      seq = batch.to;
      for (const fact of batch.facts) {
        snapshot = folded(snapshot, fact) as never;
        text += fact.assistantMessageEvent?.delta ?? '';
      }
    }
    expect(text).toBe(Array.from({ length: 300 }, (_, n) => `${n} `).join(''));
    expect((snapshot as ReturnType<typeof emptySnapshot>).message?.blocks[0]?.text).toBe(text);
    expect(editor.of('atomic/resync')).toEqual([]);
  });

  it('continues from a cursor without a snapshot, and begins anew from a strange one', async () => {
    const editor = await startEditor(rich);
    const first = await editor.connection.sendRequest<{ epoch: string; seq: number; snapshot?: object }>(
      'atomic/attach',
      {},
    );
    expect(first).toMatchObject({ session: '1', seq: 0, snapshot: expect.any(Object) });
    editor.hub.append(...begun);
    await editor.until('atomic/events');
    const cursor = { epoch: first.epoch, seq: first.seq };
    const again = await editor.connection.sendRequest('atomic/attach', { cursor });
    expect(again).toEqual({ session: '1', epoch: first.epoch, seq: 0 });
    await editor.when(() => {
      editor.clock.advance(17);
      return editor.of('atomic/events').length === 2;
    });
    expect(editor.of('atomic/events')[1]).toMatchObject({ from: 1, to: 3 });
    const strange = await editor.connection.sendRequest('atomic/attach', { cursor: { epoch: 'x', seq: 1 } });
    expect(strange).toMatchObject({ seq: 3, snapshot: expect.any(Object) });
  });

  it('takes an empty list for no parameters, and sends no half of a character', async () => {
    const editor = await startEditor(rich);
    await editor.connection.sendRequest('atomic/attach', []);
    editor.hub.append(...begun, delta('a \\ud83d \ud83d'));
    await editor.until('atomic/events');
    await editor.when(() => {
      editor.clock.advance(17);
      return JSON.stringify(editor.of('atomic/events')).includes('a ');
    });
    const { facts } = editor.of('atomic/events').at(-1) as unknown as { facts: Fact[] };
    expect(facts.at(-1)).toMatchObject({ assistantMessageEvent: { delta: 'a \\ud83d \ufffd' } });
  });

  it('is nothing for a client that did not opt in', async () => {
    const editor = await startEditor();
    const failure = await editor.failure(editor.connection.sendRequest('atomic/attach', {}));
    expect(failure.message).toMatch(/opted in: give initializationOptions.client/);
    editor.hub.append(...begun);
    await editor.until('$/progress');
    expect(editor.of('atomic/events')).toEqual([]);
  });

  it('costs a client that does not read a number only, and then everything anew', () => {
    const clock = fakeClock();
    const start = { session: '1', epoch: 'e', seq: 0, snapshot: emptySnapshot() };
    const mirror = createMirror(start, 2000);
    const sent: { method: string; params: { from: number; to: number; seq: number } }[] = [];
    let full = false;
    let room = () => {};
    const client = {
      traits: { flushesPerSecond: 60 },
      notify: (method: string, params: never) => void sent.push({ method, params }),
    };
    const events = createEvents(
      client as never,
      {
        get full() {
          return full;
        },
        onRoom: (listener) => {
          room = listener;
        },
      },
      clock,
    );
    mirror.onChange(events.flush);
    const grow = (n: number) => {
      for (let i = 0; i < n; i += 1) {
        const seq = mirror.seq + 1;
        mirror.take({ session: '1', epoch: 'e', from: seq, to: seq, facts: [delta('word ')] });
      }
    };
    events.attach(mirror, undefined);
    return turn().then(() => {
      grow(1);
      expect(sent).toHaveLength(1);
      full = true;
      clock.advance(1000);
      grow(10);
      expect(sent).toHaveLength(1);
      full = false;
      room();
      expect(sent[1]).toMatchObject({ method: 'atomic/events', params: { from: 2, to: 11 } });
      full = true;
      clock.advance(1000);
      grow(500);
      full = false;
      room();
      expect(sent[2]).toMatchObject({ method: 'atomic/resync', params: { seq: 511 } });
      clock.advance(1000);
      grow(1);
      expect(sent[3]).toMatchObject({ method: 'atomic/events', params: { from: 512, to: 512 } });
    });
  });

  it('sends the first fact after a quiet time at once, then no more than the rate', async () => {
    const editor = await startEditor({
      options: { client: { name: 'x', events: true, flushesPerSecond: 10 } },
    });
    await editor.connection.sendRequest('atomic/attach', {});
    await turn();
    editor.hub.append(...begun);
    await editor.until('atomic/events');
    for (let n = 0; n < 5; n += 1) {
      editor.hub.append(delta('x'));
      await turn();
    }
    editor.hub.data.get_state = {};
    await editor.execute('atomic.getState');
    expect(editor.of('atomic/events')).toHaveLength(1);
    editor.clock.advance(100);
    const [, second] = await editor.until('atomic/events', 2);
    expect(second).toMatchObject({ from: 4, to: 8 });
    expect(second.facts).toHaveLength(1);
  });
});

describe('atomic/intent', () => {
  it('keeps the client’s id, checks its parameters, and takes either name of a command', async () => {
    const editor = await startEditor(rich);
    const send = (params: object) => editor.connection.sendRequest('atomic/intent', params);
    expect(await send({ id: 'a', command: 'prompt', params: { message: 'hi' } })).toEqual({ intent: 'a' });
    expect(await send({ id: 'b', command: 'atomic.abort' })).toEqual({ intent: 'b' });
    expect(editor.hub.intents.map(({ id, command }) => `${id} ${command}`)).toEqual(['a prompt', 'b abort']);
    for (const [params, sentence] of [
      [
        { id: 'c', command: 'get_state' },
        /is no work for the agent: send it with atomic\/read, or with workspace\/executeCommand/,
      ],
      [{ id: 'c', command: 'prompt', params: {} }, /needs "message"/],
      [{ command: 'prompt' }, /atomic\/intent cannot be used so: "id"/],
    ] as const)
      expect((await editor.failure(send(params))).message).toMatch(sentence);
    expect(editor.hub.intents).toHaveLength(2);
  });
});

describe('a lost hub', () => {
  it('comes back by itself: a message, the place kept, progress and events going on', async () => {
    const editor = await startEditor(rich);
    await editor.connection.sendRequest('atomic/attach', {});
    editor.hub.append(...begun);
    await editor.until('$/progress');
    editor.hub.die();
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/hub has ended; it is being started again/);
    expect(editor.of('$/progress').at(-1).value.kind).toBe('end');
    editor.hub.append(delta('meanwhile'));
    editor.clock.advance(0);
    await editor.when(() => editor.hub.attaches.length === 2);
    expect(editor.hub.attaches[1]!.cursor).toEqual({ epoch: 'e1', seq: 3 });
    await editor.when(() => {
      editor.clock.advance(2000);
      return editor.of('atomic/events').at(-1)?.to === 4 && editor.messages().length === 2;
    });
    expect(editor.messages()[1]).toMatch(/there again/);
    expect(editor.of('atomic/resync')).toEqual([]);
    expect(editor.of('$/progress').at(-1)).toMatchObject({ token: 'atomic-2', value: { kind: 'begin' } });
  });

  it('that has forgotten is a new beginning for a rich client, and closes questions', async () => {
    const editor = await startEditor({
      ...rich,
      answers: {
        'atomic/dialog': (_, token) =>
          new Promise((resolve) => token.onCancellationRequested(() => resolve(null))),
      },
    });
    await editor.connection.sendRequest('atomic/attach', {});
    editor.hub.append(opened({ id: 'd1', options: ['x'] }));
    await editor.until('atomic/dialog');
    editor.hub.die({ forget: true });
    editor.clock.advance(0);
    const resync = await editor.when(() => {
      editor.clock.advance(17);
      return editor.of('atomic/resync').length === 1;
    });
    expect(resync).toBe(undefined);
    expect(editor.of('atomic/resync')[0]).toMatchObject({ session: '1', epoch: 'e2', seq: 0 });
    await editor.execute('atomic.answer1');
    expect(editor.hub.intents[0]!.params).not.toHaveProperty('dialog');
  });

  it('gets what was on its way again, under the same id', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.onIntent = () => {
      editor.hub.onIntent = () => {};
      editor.hub.die();
    };
    const { intent } = (await editor.execute('atomic.prompt', 'hi')) as { intent: string };
    expect(editor.hub.intents.map(({ id }) => id)).toEqual([intent, intent]);
    expect(editor.hub.attaches).toHaveLength(2);
  });

  it('is not sent to another hub, which could do it twice: it is reported as unknown', async () => {
    const editor = await startEditor();
    await attached(editor);
    editor.hub.onIntent = () => {
      editor.hub.die({ forget: true });
    };
    await expect(editor.execute('atomic.prompt', 'hi')).rejects.toMatchObject({
      message: expect.stringContaining('not known'),
    });
    expect(editor.hub.intents).toHaveLength(1);
  });

  it('is tried again and again, more and more slowly, and on the next need', async () => {
    const hub = fakeHub();
    const editor = await startEditor({ hub });
    await attached(editor);
    let tries = 0;
    hub.onConnect = () => {
      tries += 1;
      throw new AtomicError('HubUnreachable', 'The hub cannot be started.');
    };
    hub.die();
    for (const [n, wait] of comebacks.entries()) {
      editor.clock.advance(wait - 1);
      await turn();
      expect(tries).toBe(n);
      editor.clock.advance(1);
      await editor.when(() => tries === n + 1);
      await turn();
    }
    await editor.until('window/showMessage', 2);
    expect(editor.messages().at(-1)).toBe('The hub cannot be started.');
    editor.clock.advance(60_000);
    expect(tries).toBe(comebacks.length);
    hub.onConnect = () => {};
    await editor.execute('atomic.prompt', 'hi');
    expect(hub.intents).toHaveLength(1);
  });
});
