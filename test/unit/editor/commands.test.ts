// Executed commands: their arguments, their answers, what they ask for, and what a refusal says.
import { describe, expect, it } from 'vitest';
import { commandTable } from '../../../server/src/protocol/commands.ts';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import { attached, fakeHub, startEditor, turn } from './support.ts';

const models = { models: ['one', 'two', 'three'].map((id) => ({ provider: 'p', id })) };

describe('a command that does work', () => {
  it('is answered with its intent, in every form of arguments', async () => {
    const editor = await startEditor();
    for (const args of [['fix it'], ['fix', 'it'], [['fix it']], [{ message: 'fix it' }]]) {
      const { intent } = (await editor.execute('atomic.prompt', ...args)) as { intent: string };
      const sent = editor.hub.intents.at(-1)!;
      expect(sent).toMatchObject({ id: intent, command: 'prompt', params: { message: 'fix it' } });
    }
    expect(new Set(editor.hub.intents.map(({ id }) => id)).size).toBe(4);
  });

  it('is answered before the hub is there, and its failure told then', async () => {
    const hub = fakeHub();
    let fail = (_: unknown) => {};
    hub.onConnect = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const editor = await startEditor({ hub });
    const answer = editor.execute('atomic.prompt', 'hi');
    await turn();
    await editor.when(() => editor.clock.pending > 0);
    editor.clock.advance(100);
    expect(await answer).toEqual({ intent: expect.any(String) });
    expect(editor.messages()).toEqual([]);
    fail(new AtomicError('SocketRefused', 'The folder is not yours.'));
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual(['The folder is not yours.']);
  });

  it('fails with the sentence of the hub, as an error of the one form', async () => {
    const editor = await startEditor();
    editor.hub.onIntent = () => {
      throw new AtomicError('NoSuchDialog', 'The agent has no open question now.');
    };
    const failure = await editor.failure(editor.execute('atomic.answer1'));
    expect(failure).toMatchObject({
      code: -32016,
      message: 'The agent has no open question now.',
      data: { name: 'NoSuchDialog' },
    });
    expect(editor.messages()).toEqual([]);
  });

  it('is told of when the agent refuses it later, and only where it came from', async () => {
    const editor = await startEditor();
    const { intent } = (await editor.execute('atomic.setModel', 'p/x')) as { intent: string };
    const outcome = { type: 'intent_settled', command: 'set_model', outcome: 'refused' } as const;
    editor.hub.append(
      { ...outcome, intent: 'of somebody else', error: 'Not ours.' },
      { ...outcome, intent, error: 'No such model.' },
    );
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual(['No such model.']);
  });
});

describe('a command that reads', () => {
  it('answers with the data', async () => {
    const editor = await startEditor();
    editor.hub.data.get_available_models = models;
    expect(await editor.execute('atomic.getAvailableModels')).toEqual(models);
  });
  it('fails with the agent’s refusal', async () => {
    const editor = await startEditor();
    const failure = await editor.failure(editor.execute('atomic.getState'));
    expect(failure.data.name).toBe('AgentRefused');
  });
  it('gives up before an impatient editor does', async () => {
    const hub = fakeHub();
    const editor = await startEditor({ hub, name: 'Eglot' });
    await attached(editor);
    hub.die();
    hub.onConnect = () => new Promise(() => {});
    const failing = editor.failure(editor.execute('atomic.getState'));
    await editor.when(() => hub.names.length >= 1 && editor.clock.pending > 1);
    editor.clock.advance(8000);
    expect((await failing).message).toMatch(/no answer within 8 s/);
  });
  it('is a raw command as well, and one that nobody knows becomes work', async () => {
    const editor = await startEditor();
    editor.hub.data.get_state = { a: 1 };
    expect(await editor.execute('atomic.rpc', '{"type":"get_state","id":"7"}')).toEqual({ a: 1 });
    await editor.execute('atomic.rpc', { command: { type: 'dance', speed: 2 } });
    expect(editor.hub.intents.at(-1)).toMatchObject({
      command: 'rpc',
      params: { command: { type: 'dance', speed: 2 } },
    });
  });
});

describe('arguments that do not fit', () => {
  it.each([
    ['atomic.prompt', [{ message: 'x', text: 'y' }], 'BadArguments', /"text"; it takes "message".*Example/],
    ['atomic.setModel', ['gpt'], 'BadArguments', /needs "provider".*Example/],
    ['atomic.setThinkingLevel', ['loud'], 'BadArguments', /cannot use "level"/],
    ['atomic.abort', ['now'], 'BadArguments', /takes no text/],
    ['atomic.dance', [], 'UnknownCommand', /no command "atomic.dance"/],
    ['atomic.prompt', ['  '], 'EmptyPrompt', /needs text: give it as an argument/],
    ['atomic.steer', [{ message: '' }], 'EmptyPrompt', /atomic.steer needs text/],
  ])('%s %j is %s', async (command, args, name, sentence) => {
    const editor = await startEditor();
    const failure = await editor.failure(editor.execute(command, ...args));
    expect(failure.data.name).toBe(name);
    expect(failure.message).toMatch(sentence);
    expect(editor.hub.intents).toEqual([]);
    await editor.execute('atomic.prompt', 'and the next one works');
    expect(editor.hub.intents).toHaveLength(1);
  });
});

describe('a command without what it needs', () => {
  it('asks after its answer, and acts on the choice', async () => {
    const editor = await startEditor({
      answers: { 'window/showMessageRequest': ({ actions }) => actions[1] },
    });
    editor.hub.data.get_available_models = models;
    expect(await editor.execute('atomic.setModel')).toEqual({ asking: 'Model' });
    await editor.when(() => editor.hub.intents.length === 1);
    const [asked] = editor.of('window/showMessageRequest');
    expect(asked).toEqual({
      type: 3,
      message: 'Model',
      actions: [{ title: 'p/one' }, { title: 'p/two' }, { title: 'p/three' }],
    });
    expect(editor.hub.intents[0]).toMatchObject({
      command: 'set_model',
      params: { provider: 'p', modelId: 'two' },
    });
  });
  it('is answered by a command where the editor shows no questions', async () => {
    const editor = await startEditor({ name: 'Helix', capabilities: {}, params: { capabilities: {} } });
    await editor.execute('atomic.setAutoCompaction');
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/atomic.answer1 = On, atomic.answer2 = Off; atomic.dialogCancel/);
    await editor.execute('atomic.answer2');
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({
      command: 'set_auto_compaction',
      params: { enabled: false },
    });
  });
  it('takes text by atomic.answer', async () => {
    const editor = await startEditor();
    await editor.execute('atomic.bash');
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/Shell command — answer with atomic.answer \(with your text/);
    await editor.execute('atomic.answer', 'npm test');
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({ command: 'bash', params: { command: 'npm test' } });
  });
  it('does nothing when it is refused, or when there is nothing to choose from', async () => {
    const editor = await startEditor({ answers: { 'window/showMessageRequest': () => null } });
    editor.hub.data.get_available_models = { models: [] };
    await editor.execute('atomic.setModel');
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/^No model has credentials yet/);
    await editor.execute('atomic.setAutoRetry');
    await editor.until('window/showMessage', 2);
    await editor.execute('atomic.dialogCancel');
    const failing = await editor.failure(
      Promise.resolve().then(() => {
        editor.hub.onIntent = () => {
          throw new AtomicError('NoSuchDialog', 'The agent has no open question now.');
        };
        return editor.execute('atomic.answer1');
      }),
    );
    expect(failing.data.name).toBe('NoSuchDialog');
    expect(editor.hub.intents.map(({ command }) => command)).toEqual(['answer']);
  });
});

it('every command of the table is answered, with no argument and with its example', async () => {
  const editor = await startEditor();
  for (const { id, name, kind, example } of commandTable) {
    editor.hub.data[name] = {};
    for (const args of [[], [example]]) {
      const answer = await editor.execute(id, ...args).catch((error) => error);
      if (args.length > 0 && kind === 'act' && !name.startsWith('answer') && name !== 'rpc')
        expect(answer).toEqual({ intent: expect.any(String) });
      if (kind === 'read') expect(answer).toBeTypeOf('object');
      if (answer instanceof Error)
        expect((answer as unknown as { data: { name: string } }).data.name).toMatch(
          /EmptyPrompt|BadArguments/,
        );
    }
  }
});
