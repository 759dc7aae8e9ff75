// An agent that has written before the hub looks: what it announced, what it read and what it tells make up for it.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { fileWork } from './file-work.ts';

type StreamEvent = Extract<Fact, { type: 'message_update' }>['assistantMessageEvent'];
const { accept, append, at, bash, ended, listed, put, read, revert, started, wrote } = fileWork();
const announced = (id: string, name: string, args: Record<string, unknown>) =>
  append({
    type: 'message_update',
    assistantMessageEvent: {
      type: 'toolcall_end',
      contentIndex: 0,
      toolCall: { type: 'toolCall', id, name, arguments: args },
    },
  });

describe('an agent that is faster than the look', () => {
  it('is seen from the announcement of the call on', async () => {
    put('a', 'before\n');
    const args = { path: 'a', content: 'after\n' };
    announced('early', 'write', args);
    put('a', 'after\n');
    append({ type: 'tool_execution_start', toolCallId: 'early', toolName: 'write', args });
    ended('early', 'write');
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-before', '+after']);
  });

  it('does not get what a person saved between the announcement and the call', async () => {
    put('a', 'before\n');
    const args = { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] };
    announced('asked', 'edit', args);
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
