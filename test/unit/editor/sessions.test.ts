// Which session an editor follows, with the real hub in memory: by settings, by a rich client, and under which name.
import { expect, it } from 'vitest';
import type { EditorAttachResult } from '../../../server/src/protocol/editor.ts';
import { hubStarter, type StartedHub, testFolders } from '../hub/support.ts';
import { type FakeEditor, startEditor } from './support.ts';

const folders = testFolders();
const startHub = hubStarter(folders);

async function richEditor(started: StartedHub, options: object = {}): Promise<FakeEditor> {
  const editor = await startEditor({
    params: { rootUri: `file://${folders.make('project')}` },
    options: { client: { name: 'x', events: true }, ...options },
    server: { connect: (_, name) => started.join(name) },
  });
  await editor.when(() => started.all.length > 0);
  return editor;
}
const attach = (editor: FakeEditor, params: object) =>
  editor.connection.sendRequest<EditorAttachResult>('atomic/attach', params);
const sessionsOf = (started: StartedHub) =>
  started.hub.status().editors.map(({ origin, sessions }) => `${origin.name}: ${sessions.join()}`);
const texts = (editor: FakeEditor) =>
  editor
    .of('atomic/events')
    .flatMap(({ facts }) => facts)
    .map((fact) => fact.assistantMessageEvent?.delta);

it('joins another session and leaves the first one', async () => {
  const started = startHub();
  const editor = await richEditor(started);
  const first = await attach(editor, {});
  const second = await attach(editor, { session: 'review' });
  expect(second.session).not.toBe(first.session);
  expect(second).toMatchObject({ seq: 0, snapshot: expect.any(Object) });
  await editor.when(() => sessionsOf(started)[0] === `Neovim: ${second.session}`);
  const [one, other] = started.all;
  one!.delta('not here');
  other!.delta('here');
  await editor.until('atomic/events');
  expect(texts(editor)).toEqual(['here']);
  expect(editor.of('atomic/resync')).toEqual([]);
});

it('takes the hub’s number of its session for that session', async () => {
  const started = startHub();
  const editor = await richEditor(started, { session: 'review' });
  const { session, epoch, seq } = await attach(editor, {});
  expect(await attach(editor, { session, cursor: { epoch, seq } })).toEqual({ session, epoch, seq });
  expect(started.all).toHaveLength(1);
});

it('sends intents only to the session that it follows', async () => {
  const started = startHub();
  const editor = await richEditor(started);
  const { session } = await attach(editor, {});
  const intent = { id: 'a', command: 'prompt', params: { message: 'one two' } };
  expect(await editor.connection.sendRequest('atomic/intent', { ...intent, session })).toEqual({
    intent: 'a',
  });
  const failure = await editor.failure(
    editor.connection.sendRequest('atomic/intent', { ...intent, id: 'b', session: '99' }),
  );
  expect(failure.data.name).toBe('NoSuchSession');
  expect(started.all[0]!.text).toBe('one two');
});

it('follows a session that a setting names, also while the first attach is on its way', async () => {
  const started = startHub();
  let let_ = () => {};
  const wait = new Promise<void>((resolve) => {
    let_ = resolve;
  });
  const editor = await startEditor({
    params: { rootUri: `file://${folders.make('project')}` },
    options: { client: { name: 'x', events: true } },
    server: {
      async connect(_, name) {
        const client = await started.join(name);
        return {
          ...client,
          async attach(params) {
            if (params.session === undefined) await wait;
            return client.attach(params);
          },
        };
      },
    },
  });
  const attached = attach(editor, {});
  await editor.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { atomic: { session: 'review' } },
  });
  let_();
  const { session } = await attached;
  await editor.when(() => sessionsOf(started)[0] === `Neovim: ${session}`);
  expect(started.hub.status().sessions.find((it) => it.session === session)?.name).toBe('review');
});

it('two editors see the same facts, each from where it came in', async () => {
  const started = startHub();
  const rootUri = `file://${folders.make('project')}`;
  const join = (name: string) =>
    startEditor({
      name,
      params: { rootUri },
      options: { client: { name: 'x', events: true } },
      server: { connect: (_, as) => started.join(as) },
    });
  const first = await join('Neovim');
  await attach(first, {});
  started.all[0]!.delta('early ');
  await first.until('atomic/events');
  const second = await join('Eglot');
  const late = await attach(second, {});
  expect(late).toMatchObject({ seq: 1, snapshot: { title: 'early ' } });
  started.all[0]!.delta('late');
  await second.until('atomic/events');
  first.clock.advance(20);
  await first.until('atomic/events', 2);
  expect(texts(first)).toEqual(['early ', 'late']);
  expect(texts(second)).toEqual(['late']);
  expect(started.hub.status().editors.map(({ origin }) => origin.name)).toEqual(['Neovim', 'Emacs']);
});
