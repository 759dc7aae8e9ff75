// The language server's life: what it announces, how it takes folders and settings, how it ends.
import { describe, expect, it } from 'vitest';
import { commandTable } from '../../../server/src/protocol/commands.ts';
import { attached, fakeHub, startEditor, turn } from './support.ts';

const never = () => new Promise<void>(() => {});

describe('initialize', () => {
  it('waits for no hub and announces every command, without a null', async () => {
    const hub = fakeHub();
    hub.onConnect = never;
    const { initialized } = await startEditor({ hub });
    expect(initialized.serverInfo).toEqual({ name: 'atomic-lsp', version: '1.2.3' });
    expect(initialized.capabilities.executeCommandProvider.commands).toEqual(
      commandTable.map(({ id }) => id),
    );
    expect(initialized.capabilities.textDocumentSync).toEqual({
      openClose: true,
      change: 1,
      willSave: false,
      save: { includeText: true },
    });
    expect(JSON.stringify(initialized)).not.toContain('null');
  });

  it.each([
    [{ workspaceFolders: [{ uri: 'file:///a%20b', name: 'a' }], rootUri: 'file:///c' }, '/a b'],
    [{ workspaceFolders: [], rootUri: 'file:///c' }, '/c'],
    [{ rootUri: 'file:///a%20b%23c%2520%C3%A9' }, '/a b#c%20é'],
    [{ rootUri: 'file:///проект/日本' }, '/проект/日本'],
    [{ rootUri: 'file:///caf%E9' }, '/caf%E9'],
    [{ rootUri: 'http://host/x' }, '/cwd'],
    [{ rootUri: '1:/no uri' }, '/cwd'],
    [{ workspaceFolders: [], rootUri: null, rootPath: '/d' }, '/d'],
    [{ workspaceFolders: [{ uri: 'untitled:x', name: 'x' }], rootUri: null }, '/cwd'],
  ])('works in the folder of %j', async (params, folder) => {
    const editor = await startEditor({ params });
    await attached(editor);
    expect(editor.hub.attaches[0]!.workspace).toBe(folder);
  });

  it('counts as the editor counts that offers it a choice, and says so', async () => {
    const offer = (positionEncodings: string[]) =>
      startEditor({ capabilities: { general: { positionEncodings } } });
    const { initialized } = await offer(['utf-8', 'utf-32', 'utf-16']);
    expect(initialized.capabilities.positionEncoding).toBe('utf-16');
    const old = await startEditor();
    expect(old.initialized.capabilities).not.toHaveProperty('positionEncoding');
  });

  it('is named to the hub as a person calls it', async () => {
    const editor = await startEditor({ name: 'Eglot' });
    await attached(editor);
    expect(editor.hub.names).toEqual(['Emacs']);
  });

  it('gives the other settings to the hub when one is wrong, and says which', async () => {
    const editor = await startEditor({
      options: { agent: { command: 7 }, whileBusy: 'followUp', colour: 'red', start: { model: 'm' } },
    });
    await attached(editor);
    expect(editor.hub.attaches[0]).toMatchObject({ whileBusy: 'followUp', start: { model: 'm' } });
    expect(editor.hub.attaches[0]).not.toHaveProperty('agent');
    const [agent, colour] = await editor.until('window/showMessage', 2);
    expect(agent).toMatchObject({ type: 1, message: expect.stringMatching(/"agent.command" is wrong/) });
    expect(colour.message).toMatch(/no setting "colour".*"whileBusy"/);
  });

  it('does not obey a process that was never there, nor one that is', async () => {
    const asked: number[] = [];
    const editor = await startEditor({
      params: { processId: 4711 },
      server: { isAlive: (pid) => asked.push(pid) === 0 },
    });
    editor.clock.advance(60_000);
    await turn();
    editor.hub.data.get_state = { isStreaming: false };
    expect(await editor.execute('atomic.getState')).toEqual({ isStreaming: false });
    expect(asked).toEqual([4711]);
  });

  it('ends when the editor’s process does', async () => {
    let lives = true;
    const editor = await startEditor({ params: { processId: 4711 }, server: { isAlive: () => lives } });
    editor.clock.advance(60_000);
    lives = false;
    editor.clock.advance(3000);
    expect(await editor.exit).toBe(1);
  });
});

describe('settings that change', () => {
  it('reach the hub, from under "atomic" and from the top', async () => {
    const editor = await startEditor();
    await attached(editor);
    const change = (settings: unknown) =>
      editor.connection.sendNotification('workspace/didChangeConfiguration', { settings });
    await change({ atomic: { whileBusy: 'followUp' }, other: { x: 1 } });
    await editor.when(() => editor.hub.attaches.length === 2);
    expect(editor.hub.attaches[1]!.whileBusy).toBe('followUp');
    await change({ agent: { command: 'pi' }, somebodyElse: true });
    await editor.when(() => editor.hub.attaches.length === 3);
    expect(editor.hub.attaches[2]).toMatchObject({ agent: { command: 'pi' }, whileBusy: 'followUp' });
    await change({ atomic: { whileBusy: 'never' } });
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual([expect.stringMatching(/"whileBusy" is wrong/)]);
    expect(editor.hub.attaches).toHaveLength(3);
  });
});

describe('an error', () => {
  it('names the log, where the log says more', async () => {
    const editor = await startEditor({ server: { logs: '/state/log' } });
    const refused = await editor.failure(editor.execute('atomic.getState'));
    expect(refused).toMatchObject({
      message: 'The agent refused get_state. (log: /state/log)',
      data: { name: 'AgentRefused', log: '/state/log' },
    });
    const wrong = await editor.failure(editor.execute('atomic.nothing'));
    expect(wrong.message).not.toContain('/state/log');
    expect(wrong.data).toMatchObject({ log: '/state/log' });
    editor.hub.append({ type: 'notice', level: 'error', message: `It failed ${'very '.repeat(200)}badly.` });
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/^It failed .*… \(log: \/state\/log\)$/);
    editor.hub.append({ type: 'notice', level: 'info', message: 'All is well.' });
    editor.clock.advance(5000);
    await editor.until('window/showMessage', 2);
    expect(editor.messages()[1]).toBe('All is well.');
  });
});

describe('the end', () => {
  it('is 0 after shutdown and exit, and nothing is done in between', async () => {
    const editor = await startEditor();
    expect(await editor.connection.sendRequest('shutdown')).toBe(null);
    expect((await editor.failure(editor.execute('atomic.abort'))).data.name).toBe('NotReady');
    await editor.connection.sendNotification('exit');
    expect(await editor.exit).toBe(0);
  });
  it('is 1 when the stream just ends, and the hub’s connection is closed', async () => {
    const editor = await startEditor();
    await attached(editor);
    expect(editor.hub.open).toBe(1);
    editor.stream.destroy();
    expect(await editor.exit).toBe(1);
    expect(editor.hub.open).toBe(0);
  });
  it('comes after what a private hub started has ended', async () => {
    let ended = () => {};
    const private_ = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const editor = await startEditor({ server: { ended: () => private_ } });
    let code: number | undefined;
    void editor.exit.then((it) => {
      code = it;
    });
    await editor.connection.sendNotification('exit');
    await turn();
    await turn();
    expect(code).toBe(undefined);
    ended();
    expect(await editor.exit).toBe(1);
  });
  it('comes with a signal', async () => {
    const stop = new AbortController();
    const editor = await startEditor({ server: { signal: stop.signal } });
    stop.abort();
    expect(await editor.exit).toBe(1);
  });
  it('does not come with bytes that are no text within a message', async () => {
    const editor = await startEditor();
    await attached(editor);
    const command = { command: 'atomic.prompt', arguments: ['caf<here> \ud800'] };
    const [head, tail] = JSON.stringify({
      jsonrpc: '2.0',
      id: 'raw',
      method: 'workspace/executeCommand',
      params: command,
    }).split('<here>');
    const body = Buffer.concat([Buffer.from(head!), Buffer.from([0xe9]), Buffer.from(tail!)]);
    editor.stream.write(`Content-Length: ${body.length}\r\n\r\n`);
    editor.stream.write(body);
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]!.params).toEqual({ message: 'caf\ufffd \ud800' });
  });
  it('comes with bytes that are no message', async () => {
    const editor = await startEditor();
    editor.stream.write('hello\r\n\r\n');
    expect(await editor.exit).toBe(1);
  });
});
