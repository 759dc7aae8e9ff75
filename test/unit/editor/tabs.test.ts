// Several sessions in an editor that knows nothing of them: commands, workspace folders, what is told of which, and the prompt file.
// With the real hub in memory.
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionOfFile } from '../../../server/src/hub/folders.ts';
import type { TabInfo } from '../../../server/src/protocol/editor.ts';
import { hubStarter, testFolders } from '../hub/support.ts';
import { opened, startEditor } from './support.ts';

const folders = testFolders();
const startHub = hubStarter(folders);
const tabsOf = (tabs: TabInfo[]) => tabs.map((it) => `${it.session} ${it.name}${it.current ? ' *' : ''}`);

it('commands begin, list, change and leave sessions in any editor', async () => {
  const started = startHub();
  const project = folders.make('Projekt ü');
  const helix = await started.join('Helix');
  await helix.attach({ workspace: project, session: 'their' });
  const editor = await startEditor({
    params: { rootUri: `file://${encodeURI(project)}` },
    server: { connect: (_, name) => started.join(name) },
  });
  const listed = async () =>
    (await editor.execute('atomic.listTabs')) as { tabs: TabInfo[]; sessions: Record<string, unknown>[] };
  expect(await editor.execute('atomic.newTab', 'review')).toEqual({
    session: '2',
    name: 'review',
    workspace: project,
  });
  expect(await editor.execute('atomic.newTab')).toMatchObject({ name: 'tab-2' });
  expect(tabsOf((await listed()).tabs)).toEqual(['1 default', '2 review', '3 tab-2 *']);
  expect((await listed()).sessions).toMatchObject([
    { name: 'default', session: '1', running: true },
    { name: 'review', session: '2', editors: ['Neovim'] },
    { name: 'tab-2', current: true },
    { name: 'their', workspace: project, running: true, editors: ['Helix'] },
  ]);
  const failure = await editor.failure(editor.execute('atomic.attachSession', 'nobody’s'));
  expect(failure.data.name).toBe('NoSuchSession');
  expect((await listed()).tabs).toHaveLength(3);
  expect(await editor.execute('atomic.attachSession', 'their')).toMatchObject({ session: '4' });
  expect(editor.messages().at(-1)).toBe('Now in the session "their" of Projekt ü.');
  await editor.execute('atomic.closeTab', 'review');
  expect(tabsOf((await listed()).tabs)).toEqual(['1 default', '3 tab-2', '4 their *']);
  expect((await listed()).sessions.find(({ name }) => name === 'review')).toMatchObject({ editors: [] });

  editor.answers['window/showMessageRequest'] = ({ actions }) => {
    expect(actions.map(({ title }: { title: string }) => title.split(' · ')[0])).toEqual([
      'default',
      'tab-2',
      'their',
      'review',
    ]);
    return actions[0];
  };
  expect(await editor.execute('atomic.sessions')).toEqual({ asking: 'Session' });
  await editor.until('window/showMessageRequest');
  await editor.when(() => editor.messages().at(-1)?.includes('"default"') === true);
  expect(await editor.execute('atomic.closeTab')).toMatchObject({ name: 'their' });
  await editor.execute('atomic.closeTab');
  const last = await editor.failure(editor.execute('atomic.closeTab'));
  expect(last.message).toContain('the only session');
  // A folder that is not there leaves everything as it was.
  expect(
    (await editor.failure(editor.execute('atomic.newTab', { name: 'x', workspace: '/is/not/there' })))
      .message,
  ).toContain('/is/not/there');
  expect((await listed()).tabs).toHaveLength(1);
});

it('a session of one’s own is a setting: another editor of the folder hears nothing of it, and joins it by the same name', async () => {
  const started = startHub();
  const project = folders.make('Projekt');
  const startIn = (options?: object) =>
    startEditor({
      params: { rootUri: `file://${encodeURI(project)}` },
      server: { connect: (_, name) => started.join(name) },
      ...(options && { options }),
    });
  const [shared, own] = [await startIn(), await startIn({ session: 'mein ü' })];
  await shared.execute('atomic.prompt', 'all');
  await own.execute('atomic.prompt', 'mine');
  await own.when(() => started.all.length === 2 && started.all[1]!.text === 'mine');
  expect(started.all.map(({ text }) => text)).toEqual(['all', 'mine']);
  const third = await startIn({ session: 'mein ü' });
  await third.execute('atomic.prompt', ' together');
  await third.when(() => started.all[1]!.text === 'mine together');
  expect(started.all.map(({ text }) => text)).toEqual(['all', 'mine together']);
  const { tabs } = (await shared.execute('atomic.listTabs')) as { tabs: TabInfo[] };
  expect(tabsOf(tabs)).toEqual(['1 default *']);
});

it('each workspace folder has its own session, that of the document at work is current', async () => {
  const started = startHub();
  const [one, two] = [folders.make('eins'), folders.make('zwei drei')];
  const uriOf = (...parts: string[]) => `file://${encodeURI(path.join(...parts))}`;
  const editor = await startEditor({
    params: { workspaceFolders: [one, two].map((folder) => ({ uri: uriOf(folder), name: folder })) },
    server: { connect: (_, name) => started.join(name) },
  });
  const open = (uri: string) =>
    editor.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'c', version: 1, text: '' },
    });
  const change = (uri: string, version: number) =>
    editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text: 'x' }],
    });
  const textsOf = () => started.all.map((it) => `${path.basename(it.parts.spec.workspace)}: ${it.text}`);
  await editor.execute('atomic.prompt', 'a');
  await open(uriOf(two, 'new file.c'));
  await editor.execute('atomic.prompt', 'b');
  await open(uriOf('/elsewhere', 'y.c'));
  await editor.execute('atomic.prompt', 'c');
  await open(uriOf(one, 'x.c'));
  await editor.execute('atomic.newTab', 'review');
  await change(uriOf(two, 'new file.c'), 2);
  await editor.execute('atomic.prompt', 'd');
  // The session that was last current in the folder.
  await change(uriOf(one, 'x.c'), 2);
  await editor.execute('atomic.prompt', 'e');
  await editor.when(() => textsOf().join().endsWith('e'));
  expect(textsOf()).toEqual(['eins: a', 'zwei drei: bcd', 'eins: e']);

  await editor.connection.sendNotification('workspace/didChangeWorkspaceFolders', {
    event: { added: [], removed: [{ uri: uriOf(two), name: '' }] },
  });
  await change(uriOf(two, 'new file.c'), 3);
  await editor.execute('atomic.prompt', 'f');
  await editor.when(() => textsOf()[2] === 'eins: ef');
});

it('what comes of another session says of which, and a question goes back to its own', async () => {
  const started = startHub();
  const editor = await startEditor({
    params: { rootUri: `file://${folders.make('project')}` },
    server: { connect: (_, name) => started.join(name) },
  });
  // Otherwise both are attached to at once, in whatever order.
  await editor.execute('atomic.getState');
  await editor.execute('atomic.newTab', 'review');
  await editor.when(() => started.all.length === 2);
  const [one, two] = started.all;
  one!.journal.append({ type: 'agent_start' });
  await editor.until('$/progress');
  two!.journal.append({ type: 'agent_start' });
  await editor.until('$/progress', 2);
  expect(editor.of('$/progress').map(({ token, value }) => [token, value.title])).toEqual([
    ['atomic-1', 'Atomic (default)'],
    ['atomic-2', 'Atomic (review)'],
  ]);
  one!.journal.append({ type: 'extension_error', error: 'broken' });
  await editor.when(() => {
    editor.clock.advance(5000);
    return editor.messages().some((it) => it.includes('broken'));
  });
  expect(editor.messages().at(-1)).toMatch(/^\[default\] An extension/);

  // Two agents may give their questions the same id.
  const answers: string[] = [];
  for (const [name, session] of [
    ['one', one!],
    ['two', two!],
  ] as const)
    session.intent = ({ command, params }) => {
      answers.push(`${name} ${command} ${JSON.stringify(params)}`);
      return { intent: 'x' };
    };
  let choose = (_: unknown) => {};
  editor.answers['window/showMessageRequest'] = ({ actions }) =>
    new Promise((resolve) => {
      choose = () => resolve(actions[1]);
    });
  const question = { id: 'd', options: ['A', 'B'] };
  one!.journal.append(opened({ ...question, title: 'Of one' }));
  const [shown] = await editor.until('window/showMessageRequest');
  expect(shown.message).toBe('[default] Of one');
  two!.journal.append(opened({ ...question, title: 'Of two' }));
  choose(1);
  await editor.until('window/showMessageRequest', 2);
  await editor.execute('atomic.answer1');
  await editor.when(() => answers.length === 2);
  expect(answers).toEqual(['one answer {"dialog":"d","index":1}', 'two answer {"index":0,"dialog":"d"}']);
  await editor.connection.sendNotification('window/workDoneProgress/cancel', { token: 'atomic-1' });
  await editor.when(() => answers.length === 3);
  expect(answers[2]).toBe('one abort {}');
});

it('a saved prompt file goes to the session that its path names', async () => {
  const started = startHub();
  const project = folders.make('project');
  const helix = await started.join('Helix');
  const { folder } = await helix.attach({ workspace: project, session: 'review' });
  const editor = await startEditor({
    params: { rootUri: `file://${project}` },
    server: {
      connect: (_, name) => started.join(name),
      sessionOf: (file) => sessionOfFile(started.folder, file),
    },
  });
  await editor.execute('atomic.getState');
  const save = (file: string, text: string) => {
    fs.writeFileSync(file, text);
    return editor.connection.sendNotification('textDocument/didSave', {
      textDocument: { uri: `file://${file}` },
      text,
    });
  };
  await save(path.join(folder, 'prompt.md'), 'review it\n');
  await editor.when(() => started.all[0]!.text === 'review it');
  await save(path.join(project, 'prompt.md'), 'a file of the project\n');
  await editor.execute('atomic.prompt', ', please');
  await editor.when(() => started.all[0]!.text === 'review it, please');
  expect(started.all[1]!.text).toBe('');
});
