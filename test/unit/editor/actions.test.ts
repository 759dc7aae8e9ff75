// Code actions: offered by kind and state, one line each, and fast whatever the agent does.
import { describe, expect, it } from 'vitest';
import type { Command } from 'vscode-languageserver';
import { commandTable } from '../../../server/src/protocol/commands.ts';
import { actions, at, editorWith, promptUri, run, running, titled } from './code-support.ts';
import { opened } from './support.ts';

describe('what is offered', () => {
  it('is nothing when the editor asks of its own accord', async () => {
    const editor = await editorWith();
    expect(await actions(editor, 'file:///a.ts', { triggerKind: 2 })).toEqual([]);
    expect((await actions(editor, 'file:///a.ts', { triggerKind: 1 })).length).toBeGreaterThan(5);
  });

  it('is of the kinds that were asked for', async () => {
    const editor = await editorWith();
    const kinds = async (...only: string[]) => [
      ...new Set((await actions(editor, 'file:///a.ts', { only })).map(({ kind }) => kind!.split('.')[0])),
    ];
    expect(await kinds('source')).toEqual(['source']);
    expect(await kinds('source.organizeImports', 'source.fixAll')).toEqual([]);
    expect(await kinds('refactor.rewrite')).toEqual(['refactor']);
    expect(await kinds('refactor.rewri')).toEqual([]);
    expect(await kinds('')).toEqual(['refactor', 'source']);
  });

  it('has titles of one line, each once, and commands of the table', async () => {
    const editor = await editorWith();
    editor.hub.data.get_commands = {
      commands: [
        { name: 'review', description: 'Looks\nat it', source: 'prompt' },
        { name: 'review', description: 'Looks\nat it', source: 'prompt' },
        { name: 'pdf', source: 'skill' },
        { name: 'own', source: 'extension' },
      ],
    };
    editor.hub.append(running);
    await editor.when(() => editor.hub.journal.last > 0);
    const offers = await actions(editor, 'file:///a.ts');
    const titles = offers.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    expect(titles.filter((title) => title.includes('/'))).toEqual([
      'Atomic: /review (Looks at it)',
      'Atomic: /review (Looks at it) (2)',
      'Atomic: /pdf',
    ]);
    for (const title of titles) expect(title).not.toContain('\n');
    for (const { command } of offers) expect(commandTable.map(({ id }) => id)).toContain(command!.command);
    await actions(editor, 'file:///a.ts');
    expect(editor.hub.reads).toHaveLength(1);
  });

  it('asks no agent that is not running, and does not wait for one that is silent', async () => {
    const editor = await editorWith();
    await actions(editor, 'file:///a.ts');
    expect(editor.hub.reads).toEqual([]);
    editor.hub.append(running);
    let asked = false;
    Object.defineProperty(editor.hub.data, 'get_commands', {
      get() {
        asked = true;
        return new Promise(() => {});
      },
    });
    await editor.when(() => editor.hub.journal.last > 0);
    const answer = actions(editor, 'file:///a.ts');
    await editor.when(() => asked && editor.clock.pending > 0);
    editor.clock.advance(50);
    expect((await answer).length).toBeGreaterThan(5);
  });

  it('stops and steers only while something is going on', async () => {
    const editor = await editorWith();
    const stops = async () =>
      (await actions(editor, 'file:///a.ts')).filter(({ kind }) => /abort|steer/.test(kind!)).length;
    expect(await stops()).toBe(0);
    editor.hub.append({ type: 'agent_start' } as never);
    await editor.until('window/workDoneProgress/create');
    expect(await stops()).toBe(2);
  });

  it('is commands where the editor knows no literals', async () => {
    const editor = await editorWith({ capabilities: {} });
    const [first] = (await actions(editor, 'file:///a.ts')) as unknown as Command[];
    expect(first).toEqual({
      title: 'Ask Atomic about this',
      command: 'atomic.ask',
      arguments: [{ uri: 'file:///a.ts', range: at(1, 0, 1, 1) }],
    });
  });

  it('is of the session alone in the session’s own files', async () => {
    const editor = await editorWith();
    const kinds = (await actions(editor, promptUri())).map(({ kind }) => kind);
    expect(kinds.length).toBeGreaterThan(3);
    expect(kinds.filter((kind) => !kind!.startsWith('source.'))).toEqual([]);
  });
});

describe('an open question', () => {
  it('is answered from any document', async () => {
    const editor = await editorWith({ name: 'helix', params: { capabilities: {} } });
    editor.hub.append(opened({ id: 'q', method: 'select', title: 'Which?', options: ['One', 'Two'] }));
    await editor.until('window/showMessage');
    const offers = (await actions(editor, promptUri())) as unknown as Command[];
    expect(offers.slice(0, 3).map(({ title }) => title)).toEqual([
      'Answer “One” to: Which?',
      'Answer “Two” to: Which?',
      'Refuse to answer: Which?',
    ]);
    await editor.execute(offers[1]!.command, ...offers[1]!.arguments!);
    await editor.when(() => editor.hub.intents.length === 1);
    expect(editor.hub.intents[0]).toMatchObject({ command: 'answer', params: { dialog: 'q', index: 1 } });
  });

  it('that wants text is given a file', async () => {
    const editor = await editorWith();
    editor.hub.append(opened({ id: 'q', method: 'input', title: 'Name?' }));
    await editor.until('window/showMessage');
    const offer = titled(await actions(editor, 'file:///a.ts', { only: ['quickfix'] }), /^Write an answer/);
    await run(offer, editor);
    const [{ uri }] = (await editor.until('window/showDocument')) as [{ uri: string }];
    expect(uri).toContain('/answers/');
  });
});
