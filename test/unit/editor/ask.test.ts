// Questions of the agent: shown one at a time, answered in every way, closed when they are settled elsewhere, never guessed.
import { describe, expect, it } from 'vitest';
import { type CancellationToken, ResponseError } from 'vscode-jsonrpc/node';
import { attached, opened, other, settled, startEditor, turn, us } from './support.ts';

const allow = opened({ id: 'd1', title: 'Run rm?', options: ['Allow', 'Deny'] });
const helix = { name: 'Helix', params: { capabilities: { window: { workDoneProgress: true } } } };

/** A message request that is answered when the test says so. */
function pendingRequest() {
  let reply: (result: unknown) => void = () => {};
  let cancelled = 0;
  const handler = (_: unknown, token: CancellationToken) => {
    token.onCancellationRequested(() => {
      cancelled += 1;
    });
    return new Promise((resolve) => {
      reply = resolve;
    });
  };
  return { handler, reply: (result: unknown) => reply(result), cancelled: () => cancelled };
}

describe('in an editor that shows them', () => {
  it('a choice is answered by its index', async () => {
    const editor = await startEditor({
      answers: { 'window/showMessageRequest': () => ({ title: 'Deny' }) },
    });
    await attached(editor);
    editor.hub.append(allow);
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.of('window/showMessageRequest')).toEqual([
      { type: 3, message: 'Run rm?', actions: [{ title: 'Allow' }, { title: 'Deny' }] },
    ]);
    expect(editor.hub.intents[0]).toMatchObject({ command: 'answer', params: { dialog: 'd1', index: 1 } });
    expect(editor.messages()).toEqual([]);
  });

  it('labels that repeat, are empty or span lines have titles of their own', async () => {
    const editor = await startEditor({
      answers: { 'window/showMessageRequest': ({ actions }) => ({ title: actions[4].title }) },
    });
    await attached(editor);
    editor.hub.append(opened({ id: 'd1', options: ['a', 'a', '', 'b\nc', '  ', 'a (2)'] }));
    await editor.when(() => editor.hub.intents.length === 1);
    const titles = editor.of('window/showMessageRequest')[0].actions.map((it: { title: string }) => it.title);
    expect(titles).toEqual(['a', 'a (2)', '(empty)', 'b c', '(empty) (2)', 'a (2) (2)']);
    expect(editor.hub.intents[0]!.params).toEqual({ dialog: 'd1', index: 4 });
  });

  it.each([
    ['Neovim', ['Yes', 'No']],
    ['Eglot', ['No', 'Yes']],
  ])('in %s a confirmation offers %j', async (name, titles) => {
    const editor = await startEditor({
      name,
      answers: { 'window/showMessageRequest': () => ({ title: 'Yes' }) },
    });
    await attached(editor);
    editor.hub.append(opened({ id: 'd1', method: 'confirm', title: 'Sure?', message: 'It is\nlate.' }));
    await editor.when(() => editor.hub.intents.length === 1);
    const [asked] = editor.of('window/showMessageRequest');
    expect(asked.actions.map((it: { title: string }) => it.title)).toEqual(titles);
    expect(editor.hub.intents[0]!.params).toEqual({ dialog: 'd1', confirmed: true });
  });

  it.each([[null], [{}], [{ title: 'Something else' }], ['Allow'], [new ResponseError(-32800, 'cancelled')]])(
    'a dismissal (%j) is no answer: the question stays open and is told again',
    async (result) => {
      const editor = await startEditor({ answers: { 'window/showMessageRequest': () => result } });
      await attached(editor);
      editor.hub.append(allow);
      await editor.until('window/showMessage');
      expect(editor.messages()[0]).toMatch(/Run rm\? — atomic.answer1 = Allow, atomic.answer2 = Deny/);
      expect(editor.hub.intents).toEqual([]);
      await editor.execute('atomic.answer2');
      expect(editor.hub.intents[0]).toMatchObject({ command: 'answer', params: { dialog: 'd1', index: 1 } });
    },
  );

  it('comes one after the other', async () => {
    const request = pendingRequest();
    const editor = await startEditor({ answers: { 'window/showMessageRequest': request.handler } });
    await attached(editor);
    editor.hub.append(allow, opened({ id: 'd2', title: 'And?', options: ['x'] }));
    await editor.until('window/showMessageRequest');
    await turn();
    await turn();
    expect(editor.of('window/showMessageRequest')).toHaveLength(1);
    request.reply({ title: 'Allow' });
    const asked = await editor.until('window/showMessageRequest', 2);
    expect(asked[1].message).toBe('And?');
  });

  it('that another editor led to is shown when everybody is asked, and can be answered before', async () => {
    const editor = await startEditor({
      answers: { 'window/showMessageRequest': () => ({ title: 'Deny' }) },
    });
    await attached(editor);
    editor.hub.append(opened({ id: 'd1', title: 'Theirs', options: ['Allow', 'Deny'], origin: other }));
    editor.hub.append(opened({ id: 'd2', title: 'Ours', options: ['Allow', 'Deny'], origin: us }));
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.of('window/showMessageRequest').map(({ message }) => message)).toEqual(['Ours']);
    editor.hub.append(settled('d2'), { type: 'dialog_offered', id: 'd1' });
    await editor.when(() => editor.hub.intents.length === 2);
    expect(editor.of('window/showMessageRequest').map(({ message }) => message)).toEqual(['Ours', 'Theirs']);
    editor.hub.append(settled('d1'), opened({ id: 'd3', options: ['Allow', 'Deny'], origin: other }));
    await editor.execute('atomic.answer1');
    expect(editor.hub.intents[2]).toMatchObject({ command: 'answer', params: { dialog: 'd3', index: 0 } });
  });

  it('is closed when it was settled elsewhere, and a late answer is ignored', async () => {
    const request = pendingRequest();
    const editor = await startEditor({ answers: { 'window/showMessageRequest': request.handler } });
    await attached(editor);
    editor.hub.append(allow);
    await editor.until('window/showMessageRequest');
    editor.hub.append(settled('d1', other));
    await editor.when(() => request.cancelled() === 1);
    await editor.until('window/showMessage');
    expect(editor.messages()).toEqual(['Answered in Helix: Run rm?']);
    request.reply({ title: 'Allow' });
    editor.hub.data.get_state = {};
    await editor.execute('atomic.getState');
    expect(editor.hub.intents).toEqual([]);
  });

  it('says that the agent went on when its time was up', async () => {
    const request = pendingRequest();
    const editor = await startEditor({ answers: { 'window/showMessageRequest': request.handler } });
    await attached(editor);
    editor.hub.append(allow);
    await editor.until('window/showMessageRequest');
    editor.hub.append(settled('d1', undefined, 'expired'));
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/went on without an answer/);
  });

  it('tells the other ways after a minute of silence, and still takes the answer', async () => {
    const request = pendingRequest();
    const editor = await startEditor({ answers: { 'window/showMessageRequest': request.handler } });
    await attached(editor);
    editor.hub.append(allow);
    await editor.until('window/showMessageRequest');
    editor.clock.advance(60_000);
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/atomic.answer1 = Allow/);
    request.reply({ title: 'Allow' });
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]!.params).toEqual({ dialog: 'd1', index: 0 });
  });

  it('is not shown while the editor waits for an answer of ours', async () => {
    const editor = await startEditor({ answers: { 'window/showMessageRequest': () => null } });
    await attached(editor);
    let release = () => {};
    editor.hub.onIntent = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const answer = editor.execute('atomic.prompt', 'hi');
    await editor.when(() => editor.hub.intents.length === 1);
    editor.hub.append(allow);
    for (let n = 0; n < 5; n += 1) await turn();
    expect(editor.of('window/showMessageRequest')).toEqual([]);
    let first = '';
    void answer.then(() => {
      first ||= 'answer';
    });
    editor.answers['window/showMessageRequest'] = () => {
      first ||= 'question';
      return null;
    };
    release();
    await editor.until('window/showMessageRequest');
    expect(first).toBe('answer');
  });
});

describe('in an editor that does not', () => {
  it('a question is one line, and answered by its number', async () => {
    const editor = await startEditor(helix);
    await attached(editor);
    editor.hub.append(allow, opened({ id: 'd2', method: 'confirm', title: 'Sure?' }));
    await editor.until('window/showMessage');
    await turn();
    expect(editor.messages()).toEqual([
      'Run rm? — atomic.answer1 = Allow, atomic.answer2 = Deny; atomic.dialogCancel refuses.',
    ]);
    await editor.execute('atomic.answer1');
    editor.hub.append(settled('d1'));
    await editor.until('window/showMessage', 2);
    expect(editor.messages()[1]).toMatch(/^Sure\? — atomic.answer1 = Yes, atomic.answer2 = No/);
    await editor.execute('atomic.dialogCancel');
    expect(editor.hub.intents.map(({ params }) => params)).toEqual([
      { dialog: 'd1', index: 0 },
      { dialog: 'd2', cancelled: true },
    ]);
    expect(editor.of('window/showMessageRequest')).toEqual([]);
  });
  it('text is given by a command', async () => {
    const editor = await startEditor(helix);
    await attached(editor);
    editor.hub.append(opened({ id: 'd1', method: 'input', title: 'Name?' }));
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toBe(
      'Name? — answer with atomic.answer (with your text, or without to write it in a file), refuse with atomic.dialogCancel.',
    );
    await editor.execute('atomic.answer', 'Ada Lovelace');
    expect(editor.hub.intents[0]!.params).toEqual({ dialog: 'd1', value: 'Ada Lovelace' });
  });
  it('is said again where another message has taken its place, until it is answered', async () => {
    const editor = await startEditor(helix);
    await attached(editor);
    editor.hub.append(allow);
    await editor.until('window/showMessage');
    const [question] = editor.messages();
    editor.hub.append({ type: 'notice', level: 'info', message: 'Compacted.' });
    await turn();
    for (const wanted of [2, 3]) {
      editor.clock.advance(2000);
      await editor.until('window/showMessage', wanted);
    }
    expect(editor.messages()).toEqual([question, 'Compacted.', question]);
    await editor.execute('atomic.answer1');
    editor.hub.append(settled('d1', us), { type: 'notice', level: 'info', message: 'Done.' });
    await turn();
    editor.clock.advance(2000);
    await editor.until('window/showMessage', 4);
    editor.clock.advance(60_000);
    await turn();
    expect(editor.messages().slice(3)).toEqual(['Done.']);
  });
  it('is given up when the person asks for something else', async () => {
    const editor = await startEditor(helix);
    await attached(editor);
    editor.hub.data.get_available_models = { models: [{ provider: 'p', id: 'one' }] };
    editor.hub.data.get_available_thinking_levels = { levels: ['low', 'high'] };
    await editor.execute('atomic.setModel');
    await editor.until('window/showMessage');
    await editor.execute('atomic.setThinkingLevel');
    await editor.until('window/showMessage', 2);
    expect(editor.messages()[1]).toMatch(/^Thinking level — atomic.answer1 = low/);
    await editor.execute('atomic.answer2');
    await turn();
    expect(editor.hub.intents.map(({ command }) => command)).toEqual(['set_thinking_level']);
  });
  it('an editor that claims to and does not is told by message, once and for all', async () => {
    const editor = await startEditor({ name: 'Unknown' });
    await attached(editor);
    editor.hub.append(allow);
    await editor.until('window/showMessage');
    expect(editor.messages()[0]).toMatch(/atomic.answer1 = Allow/);
    await editor.execute('atomic.answer1');
    editor.hub.append(settled('d1'), opened({ id: 'd2', options: ['x'] }));
    await editor.until('window/showMessage', 2);
    expect(editor.of('window/showMessageRequest')).toHaveLength(1);
  });
});

describe('in a client with dialogs of its own', () => {
  const rich = { options: { client: { name: 'atomic.nvim', dialogs: true } } };
  it('the whole question is handed over, and the answer is taken as it is', async () => {
    const editor = await startEditor({
      ...rich,
      answers: { 'atomic/dialog': () => ({ value: 'text\nlines' }) },
    });
    await attached(editor);
    editor.hub.append(opened({ id: 'd1', method: 'editor', title: 'Edit', prefill: 'x' }));
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.of('atomic/dialog')).toEqual([
      { session: '1', dialog: { id: 'd1', method: 'editor', title: 'Edit', prefill: 'x', openedAt: 1 } },
    ]);
    expect(editor.hub.intents[0]!.params).toEqual({ dialog: 'd1', value: 'text\nlines' });
  });
  it('is cancelled when it was settled elsewhere, and null leaves it open', async () => {
    const request = pendingRequest();
    const editor = await startEditor({ ...rich, answers: { 'atomic/dialog': request.handler } });
    await attached(editor);
    editor.hub.append(allow, opened({ id: 'd2', options: ['x'] }));
    await editor.until('atomic/dialog');
    editor.hub.append(settled('d1', other));
    await editor.when(() => request.cancelled() === 1);
    await editor.until('atomic/dialog', 2);
    request.reply(null);
    await editor.execute('atomic.answer1');
    expect(editor.hub.intents.map(({ params }) => params)).toEqual([{ dialog: 'd2', index: 0 }]);
  });
});
