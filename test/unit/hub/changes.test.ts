// Which changes of files the hub knows and shows as the agent’s.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { fileWork, numbered } from './file-work.ts';

type StreamEvent = Extract<Fact, { type: 'message_update' }>['assistantMessageEvent'];
const { accept, append, at, bash, begin, ended, listed, originals, put, read, revert, started, wrote } =
  fileWork();

describe('the list', () => {
  it('has added, modified and deleted files, and none that only were read', async () => {
    put('m ü.txt', 'one\ntwo\n');
    put('d.txt', 'gone\n');
    put('r.txt', 'read\n');
    wrote('m ü.txt', 'one\n2\n');
    wrote('new.txt', 'new\n', '@new.txt');
    wrote('d.txt', 'changed\n');
    bash(() => fs.rmSync(at('d.txt')));
    ended(started('read', { path: 'r.txt' }), 'read');
    expect(await listed()).toEqual([
      {
        path: at('m ü.txt'),
        status: 'modified',
        added: 1,
        removed: 1,
        diff: '--- a/m ü.txt\t\n+++ b/m ü.txt\t\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
        hunks: [
          {
            header: '@@ -1,2 +1,2 @@',
            oldStart: 1,
            oldLines: 2,
            newStart: 1,
            newLines: 2,
            lines: [' one', '-two', '+2'],
          },
        ],
      },
      expect.objectContaining({ path: at('new.txt'), status: 'added', added: 1, removed: 0 }),
      expect.objectContaining({ path: at('d.txt'), status: 'deleted', added: 0, removed: 1 }),
    ]);
    expect((await listed('new.txt')).map(({ path: file }) => file)).toEqual([at('new.txt')]);
    expect(await listed('r.txt')).toEqual([]);
  });

  it('is empty after changes that leave nothing', async () => {
    put('a', 'x\n');
    wrote('a', 'y\n');
    wrote('a', 'x\n');
    ended(started('write', { path: 'never' }), 'write', { isError: true });
    expect(await listed()).toEqual([]);
    expect(fs.readdirSync(originals())).toEqual(['index.json']);
  });

  it('keeps to the first original over many calls, another hub, and a crash in the middle of a call', async () => {
    put('a', 'first\n');
    wrote('a', 'second\n');
    begin();
    wrote('a', 'third\n');
    const id = started('write', { path: 'b' });
    put('b', 'half');
    begin();
    const [a, b] = await listed();
    expect(a!.hunks[0]!.lines).toEqual(['-first', '+third']);
    expect(b).toMatchObject({ status: 'added', path: at('b') });
    ended(id, 'write');
    await revert({ path: 'b' });
    expect(fs.existsSync(at('b'))).toBe(false);
  });

  it('sees one file behind a link, its target and another spelling', async () => {
    put('target', 'x\n');
    fs.symlinkSync(at('target'), at('link'));
    wrote('link', 'y\n', '~/link');
    wrote('target', 'z\n', at('target'));
    const files = await listed();
    expect(files.map(({ path: file, added }) => [file, added])).toEqual([[at('link'), 1]]);
    await revert({ path: 'target' });
    expect(read('target')).toBe('x\n');
    expect(fs.lstatSync(at('link')).isSymbolicLink()).toBe(true);
  });

  it('leaves out what others did between the agent’s calls, and after them', async () => {
    const lines = numbered(30);
    put('a', lines.join(''));
    wrote('a', lines.with(2, 'agent\n').join(''));
    put('a', lines.with(2, 'agent\n').with(20, 'person\n').join(''));
    wrote('a', lines.with(2, 'agent\n').with(10, 'again\n').with(20, 'person\n').join(''));
    put('a', ['above\n', ...lines.with(2, 'agent\n').with(10, 'again\n').with(20, 'person\n')].join(''));
    const [file] = await listed();
    expect(file).toMatchObject({ added: 2, removed: 2 });
    await revert({ path: 'a' });
    expect(read('a')).toBe(['above\n', ...lines.with(20, 'person\n')].join(''));
    expect(await listed()).toEqual([]);
  });

  it('takes what a shell command does to a file of the agent for the agent’s', async () => {
    put('a', '1\n');
    wrote('a', '2\n');
    bash(() => put('a', '3\n'));
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-1', '+3']);
    await revert({ path: 'a' });
    expect(read('a')).toBe('1\n');
  });

  it('is honest about files that cannot be kept or shown', async () => {
    begin({ file: 1000, total: 1500 });
    put('big', 'x'.repeat(1001));
    put('one', 'x'.repeat(900));
    put('two', 'y'.repeat(900));
    wrote('big', 'small');
    wrote('one', '1');
    wrote('two', '2');
    wrote('pipe', Buffer.from([0, 1]));
    expect((await listed()).map(({ path: file, note }) => [path.basename(file), note])).toEqual([
      ['big', expect.stringContaining('larger')],
      ['one', undefined],
      ['two', expect.stringContaining('acceptChanges makes room')],
      ['pipe', 'It is not text.'],
    ]);
    await expect(revert({ path: 'big' })).rejects.toMatchObject({ code: 'RevertRefused' });
    expect(read('big')).toBe('small');
  });

  it('leaves turns to others while it is made', async () => {
    for (const name of ['a', 'b', 'c']) wrote(name, 'x\n');
    let turns = 0;
    const count = () => {
      turns += 1;
      if (turns < 10) setImmediate(count);
    };
    setImmediate(count);
    expect(await listed()).toHaveLength(3);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('shows no diff that is too long, and all of it has a bound', async () => {
    wrote('long', 'a line of some length\n'.repeat(20_000));
    const [file] = await listed();
    expect(file).toMatchObject({
      added: 20_000,
      diff: '',
      hunks: [],
      note: expect.stringContaining('too long'),
    });
    expect((await listed('long'))[0]!.hunks).toHaveLength(1);
  });
});

describe('an agent that is faster than the look', () => {
  it('is seen from the announcement of the call on', async () => {
    put('a', 'before\n');
    const args = { path: 'a', content: 'after\n' };
    append({
      type: 'message_update',
      assistantMessageEvent: {
        type: 'toolcall_end',
        contentIndex: 0,
        toolCall: { type: 'toolCall', id: 'early', name: 'write', arguments: args },
      },
    });
    put('a', 'after\n');
    append({ type: 'tool_execution_start', toolCallId: 'early', toolName: 'write', args });
    ended('early', 'write');
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-before', '+after']);
  });

  it('does not get what a person saved between the announcement and the call', async () => {
    put('a', 'before\n');
    const args = { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] };
    append({
      type: 'message_update',
      assistantMessageEvent: {
        type: 'toolcall_end',
        contentIndex: 0,
        toolCall: { type: 'toolCall', id: 'asked', name: 'edit', arguments: args },
      },
    });
    put('a', 'person\nx\n');
    append({ type: 'tool_execution_start', toolCallId: 'asked', toolName: 'edit', args });
    put('a', 'person\ny\n');
    ended('asked', 'edit');
    expect((await listed())[0]!.hunks[0]!.lines).toEqual([' person', '-x', '+y']);
  });

  it('is reconstructed from its edit', async () => {
    put('a', 'is two\n\n\nlast\n');
    const edit = { path: 'a', edits: [{ oldText: 'one', newText: 'two' }] };
    ended(started('edit', edit), 'edit');
    expect((await listed())[0]).toMatchObject({ added: 1, removed: 1 });
    put('a', 'is two\n\nperson\nlast of all\n');
    ended(started('edit', { path: 'a', edits: [{ oldText: 'last', newText: 'last of all' }] }), 'edit');
    const lines = ['-is one', '+is two', ' ', ' person', '-last', '+last of all'];
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(lines);
  });

  it('has run its command already when we hear of it', async () => {
    put('a', '1\n');
    wrote('a', '2\n');
    put('a', '3\n');
    fs.utimesSync(at('a'), Date.now() / 1000, Date.now() / 1000 + 60);
    bash(() => {});
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-1', '+3']);
    // What was changed some time before is no work of the command.
    put('a', '4\n');
    fs.utimesSync(at('a'), Date.now() / 1000, Date.now() / 1000 - 2);
    bash(() => {});
    await expect(revert({ path: 'a' })).rejects.toMatchObject({
      message: expect.stringContaining('same lines'),
    });
    const toolCall = { type: 'toolCall' as const, id: 'c', name: 'bash', arguments: { command: 'work' } };
    wrote('a', '5\n');
    append({
      type: 'message_update',
      assistantMessageEvent: { type: 'toolcall_end', contentIndex: 0, toolCall },
    });
    put('a', '6\n');
    fs.utimesSync(at('a'), Date.now() / 1000, Date.now() / 1000 - 2);
    append({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'bash', args: toolCall.arguments });
    ended('c', 'bash');
    expect((await listed())[0]!.hunks[0]!.lines).toContain('+6');
    await revert({ path: 'a' });
  });

  it('is seen while its arguments come, and from what it read', async () => {
    const update = (assistantMessageEvent: StreamEvent) =>
      append({ type: 'message_update', assistantMessageEvent });
    const args = { path: 'ä "b".txt', content: '{"path":"c"}' };
    put('ä "b".txt', 'before\n');
    update({ type: 'toolcall_start', contentIndex: 1 });
    for (const delta of JSON.stringify(args).match(/.{1,5}/gs)!)
      update({ type: 'toolcall_delta', contentIndex: 1, delta });
    put('ä "b".txt', args.content);
    const toolCall = { type: 'toolCall' as const, id: 'streamed', name: 'write', arguments: args };
    update({ type: 'toolcall_end', contentIndex: 1, toolCall });
    append({ type: 'tool_execution_start', toolCallId: 'streamed', toolName: 'write', args });
    ended('streamed', 'write');
    put('r', 'read\n');
    ended(started('read', { path: 'r' }), 'read');
    put('r', 'written\n');
    ended(started('write', { path: 'r', content: 'written\n' }), 'write');
    expect((await listed()).map(({ hunks }) => hunks[0]!.lines[0])).toEqual(['-before', '-read']);
  });

  it('may be in the middle of a write when we look', async () => {
    const whole = 'new\n'.repeat(2000);
    const args = { path: 'a', content: whole };
    put('empty', '');
    const shortly = Date.now() / 1000 - 4;
    fs.utimesSync(at('empty'), shortly, shortly);
    wrote('empty', 'filled\n');
    expect((await listed())[0]).toMatchObject({ status: 'modified', added: 1, removed: 0 });
    await accept();
    for (const half of ['', whole.slice(0, 4096)]) {
      put('a', 'before\n');
      ended(started('read', { path: 'a' }), 'read');
      put('a', half);
      const id = started('write', args);
      put('a', whole);
      ended(id, 'write');
      expect((await listed())[0]).toMatchObject({ added: 2000, removed: 1 });
      put('a', '');
      const edit = started('edit', { path: 'a', edits: [] });
      put('a', `${whole}more\n`);
      ended(edit, 'edit');
      expect((await listed())[0]).toMatchObject({ added: 2001, removed: 1 });
      await revert({ path: 'a' });
      expect(read('a')).toBe('before\n');
    }
    put('b', '');
    const lost = started('edit', { path: 'b', edits: [] });
    put('b', 'edited\n');
    ended(lost, 'edit');
    await expect(revert({ path: 'b' })).rejects.toMatchObject({ code: 'RevertRefused' });
    expect(read('b')).toBe('edited\n');
  });

  it('is not taken for somebody else when it writes again', async () => {
    put('a', 'first\n');
    wrote('a', 'second\n');
    put('a', 'third\n');
    ended(started('write', { path: 'a', content: 'third\n' }), 'write');
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-first', '+third']);
  });

  it('is named where nobody saw what was there, but not when it changes nothing', async () => {
    put('a', 'late\n');
    ended(started('write', { path: 'a', content: 'late\n' }), 'write');
    put('same', 'old\n');
    fs.utimesSync(at('same'), 1, 1);
    ended(started('write', { path: 'same', content: 'old\n' }), 'write');
    expect(await listed()).toEqual([
      expect.objectContaining({
        path: at('a'),
        diff: '',
        note: expect.stringContaining('before it could be'),
      }),
    ]);
    await expect(revert({ path: 'a' })).rejects.toMatchObject({ code: 'RevertRefused' });
    expect(read('a')).toBe('late\n');
    await accept('a');
    expect(await listed()).toEqual([]);
  });

  it('may write one file by two calls at once', async () => {
    put('a', '1\n2\n3\n');
    const one = started('edit', { path: 'a' });
    const two = started('edit', { path: 'a' });
    await expect(revert({ path: 'a' })).rejects.toMatchObject({ code: 'RevertRefused' });
    put('a', 'x\n2\n3\n');
    ended(one, 'edit');
    put('a', 'x\n2\ny\n');
    ended(two, 'edit');
    expect((await listed())[0]).toMatchObject({ added: 2, removed: 2 });
  });
});
