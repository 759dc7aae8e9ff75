// Which sessions an editor follows, with the real hub in memory: by settings and by a rich client,
// and which of them is meant.
import { expect, it } from 'vitest';
import type { EditorAttachResult, TabInfo } from '../../../server/src/protocol/editor.ts';
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

const named = (editor: FakeEditor) =>
  editor.of('atomic/events').flatMap(({ session, facts }) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
    facts.map((fact: any) => `${session}: ${fact.assistantMessageEvent?.delta ?? fact.type}`),
  );
const tabsOf = (tabs: TabInfo[]) => tabs.map((it) => `${it.session} ${it.name}${it.current ? ' *' : ''}`);

it('follows several sessions at once, each with its own events, and leaves one', async () => {
  const started = startHub();
  const editor = await richEditor(started);
  const first = await attach(editor, {});
  const second = await attach(editor, { session: 'review' });
  expect(second).toMatchObject({ session: '2', seq: 0, snapshot: expect.any(Object) });
  const [one, other] = started.all;
  one!.delta('from one');
  other!.delta('from two');
  await editor.until('atomic/events', 2);
  expect(named(editor).sort()).toEqual(['1: from one', '2: from two']);
  expect(editor.of('atomic/resync')).toEqual([]);

  await editor.when(() => editor.of('atomic/tabs').length > 0);
  expect(tabsOf(editor.of('atomic/tabs').at(-1)!.tabs)).toEqual(['1 default *', '2 review']);
  await attach(editor, { session: 'review', current: true });
  await editor.when(() => editor.of('atomic/tabs').at(-1)!.tabs[1].current);
  await editor.execute('atomic.prompt', 'to the current one');
  await editor.when(() => other!.text.endsWith('current one'));
  expect(one!.text).toBe('from one');

  const failure = await editor.failure(editor.connection.sendRequest('atomic/detach', { session: '9' }));
  expect(failure.data.name).toBe('NoSuchSession');
  await editor.connection.sendRequest('atomic/detach', { session: second.session });
  await editor.when(() => sessionsOf(started)[0] === `Neovim: ${first.session}`);
  await editor.when(() => editor.of('atomic/tabs').at(-1)!.tabs.length === 1);
  expect(tabsOf(editor.of('atomic/tabs').at(-1)!.tabs)).toEqual(['1 default *']);
  const last = await editor.failure(editor.connection.sendRequest('atomic/detach', { session: '1' }));
  expect(last.message).toContain('the only session');
});

it('sends intents and reads to the session that they name', async () => {
  const started = startHub();
  const editor = await richEditor(started);
  await attach(editor, {});
  const { session } = await attach(editor, { session: 'review' });
  const params = { message: 'look here' };
  await editor.connection.sendRequest('atomic/intent', { id: 'a', command: 'prompt', params, session });
  await editor.connection.sendRequest('atomic/intent', { id: 'b', command: 'prompt', params });
  expect(started.all.map(({ text }) => text)).toEqual(['look here', 'look here']);
  expect(await editor.connection.sendRequest('atomic/read', { command: 'get_state', session })).toMatchObject(
    { command: 'get_state' },
  );
  const listed = await editor.connection.sendRequest('atomic/read', { command: 'list_tabs' });
  expect(tabsOf((listed as { tabs: TabInfo[] }).tabs)).toEqual(['1 default *', '2 review']);
  const failure = await editor.failure(
    editor.connection.sendRequest('atomic/read', { command: 'prompt', params }),
  );
  expect(failure.message).toContain('atomic/intent');
});

it('ids of sessions hold when the hub is another one', async () => {
  const first = startHub();
  const second = startHub();
  const project = folders.make('project');
  let hub = first;
  const editor = await startEditor({
    params: { rootUri: `file://${project}` },
    options: { client: { name: 'x', events: true } },
    server: { connect: (_, name) => hub.join(name) },
  });
  await attach(editor, {});
  await attach(editor, { session: 'review' });
  // There the numbers are the other way round.
  const helix = await second.join('Helix');
  await helix.attach({ workspace: project, session: 'review' });
  hub = second;
  first.hub.stop({ force: true });
  await editor.when(() => {
    editor.clock.advance(300);
    return editor.of('atomic/resync').length === 2;
  });
  second.all[0]!.delta('review');
  second.all[1]!.delta('shared');
  await editor.when(() => {
    editor.clock.advance(300);
    return named(editor).length === 2;
  });
  expect(named(editor).sort()).toEqual(['1: shared', '2: review']);
});

it('takes the id of its session for that session', async () => {
  const started = startHub();
  const editor = await richEditor(started, { session: 'review' });
  const { session, epoch, seq } = await attach(editor, {});
  expect(await attach(editor, { session, cursor: { epoch, seq } })).toEqual({ session, epoch, seq });
  expect(started.all).toHaveLength(1);
});

it('follows a session that a setting names, also while the first attach is on its way', async () => {
  const started = startHub();
  let arrive = () => {};
  const late = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let onItsWay = false;
  const editor = await startEditor({
    params: { rootUri: `file://${folders.make('project')}` },
    options: { client: { name: 'x', events: true } },
    server: {
      async connect(_, name) {
        const client = await started.join(name);
        return {
          ...client,
          async attach(params) {
            if (params.session === undefined) {
              onItsWay = true;
              await late;
            }
            return client.attach(params);
          },
        };
      },
    },
  });
  const followed = () => {
    const { editors, sessions } = started.hub.status();
    return editors.flatMap((it) =>
      it.sessions.map((number) => sessions.find(({ session }) => session === number)?.name),
    );
  };
  const answer = attach(editor, {});
  await editor.when(() => onItsWay);
  await editor.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { atomic: { session: 'review' } },
  });
  await editor.when(() => followed().includes('review'));
  arrive();
  const { session } = await answer;
  await editor.when(() => started.all.length === 2 && followed().length === 1);
  expect(followed()).toEqual(['review']);
  const listed = await editor.connection.sendRequest('atomic/read', { command: 'list_tabs' });
  expect(tabsOf((listed as { tabs: TabInfo[] }).tabs)).toEqual([`${session} review *`]);
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
