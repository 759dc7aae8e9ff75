// Which changes of files the hub knows and shows as the agent’s.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileWork, numbered } from './file-work.ts';

const { at, bash, begin, ended, listed, originals, put, read, revert, started, wrote } = fileWork();

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
