// Taking back what the agent changed in files, and accepting it.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileWork, numbered } from './file-work.ts';

const { accept, at, bash, begin, listed, originals, put, read, revert, wrote } = fileWork();

describe('taking back', () => {
  const lines = numbered(40);
  const changed = lines.with(2, 'agent\n').with(20, 'agent too\n').with(35, 'agent, too\n');

  it('takes one hunk, and leaves the others and what a person did', async () => {
    put('a', lines.join(''));
    wrote('a', changed.join(''));
    put('a', changed.with(28, 'person\n').join(''));
    const [file] = await listed();
    expect(file!.hunks).toHaveLength(3);
    await revert({ path: 'a', hunk: 1, header: file!.hunks[1]!.header });
    expect(read('a')).toBe(lines.with(2, 'agent\n').with(28, 'person\n').with(35, 'agent, too\n').join(''));
    expect((await listed())[0]!.hunks).toHaveLength(2);
    await expect(revert({ path: 'a', hunk: 1, header: file!.hunks[1]!.header })).rejects.toMatchObject({
      code: 'RevertRefused',
    });
    await expect(revert({ path: 'a', hunk: 7 })).rejects.toMatchObject({
      message: expect.stringContaining('it has 2'),
    });
    await revert({ path: 'a', hunk: 0 });
    await revert({ path: 'a', hunk: 0 });
    expect(read('a')).toBe(lines.with(28, 'person\n').join(''));
    expect(await listed()).toEqual([]);
  });

  it('refuses lines that somebody else changed, names them, and takes the rest', async () => {
    put('a', lines.join(''));
    wrote('a', changed.join(''));
    const both = changed.with(20, 'person over agent\n');
    put('a', both.join(''));
    expect((await listed())[0]!.hunks.map(({ mixed }) => mixed)).toEqual([undefined, true, undefined]);
    await expect(revert({ path: 'a' })).rejects.toMatchObject({
      message: expect.stringContaining('line 21'),
    });
    await expect(revert({ path: 'a', hunk: 1 })).rejects.toMatchObject({ code: 'RevertRefused' });
    expect(read('a')).toBe(both.join(''));
    await revert({ path: 'a', hunk: 2 });
    await revert({ path: 'a', hunk: 0 });
    expect(read('a')).toBe(lines.with(20, 'person over agent\n').join(''));
  });

  it('keeps line ends, bytes that are no UTF-8, rights and what is binary', async () => {
    put('crlf', 'one\r\ntwo\r\nthree');
    wrote('crlf', 'one\r\n2\r\nthree');
    put('latin', Buffer.from('gr\xfcn\nblau\n', 'latin1'));
    wrote('latin', Buffer.from('gr\xfcn\nrot\n', 'latin1'));
    put('run', '#!/bin/sh\n');
    fs.chmodSync(at('run'), 0o755);
    wrote('run', 'other\n');
    bash(() => fs.rmSync(at('run')));
    put('bin', Buffer.from([0, 255, 10]));
    wrote('bin', Buffer.from([0, 1]));
    expect((await listed('latin'))[0]!.hunks[0]!.lines).toEqual([' grün', '-blau', '+rot']);
    for (const name of ['crlf', 'latin', 'run', 'bin']) await revert({ path: name });
    expect(read('crlf')).toBe('one\r\ntwo\r\nthree');
    expect(fs.readFileSync(at('latin'))).toEqual(Buffer.from('gr\xfcn\nblau\n', 'latin1'));
    expect(read('run')).toBe('#!/bin/sh\n');
    expect(fs.statSync(at('run')).mode & 0o777).toBe(0o755);
    expect(fs.readFileSync(at('bin'))).toEqual(Buffer.from([0, 255, 10]));
  });

  it('removes a file that the agent made, but not with what a person wrote into it', async () => {
    wrote('new', 'a\n');
    wrote('filled', 'a\nb\nc\nd\n');
    put('filled', 'a\nb\nc\nd\nperson\n');
    await revert({ path: 'new' });
    expect(fs.existsSync(at('new'))).toBe(false);
    await expect(revert({ path: 'filled' })).rejects.toMatchObject({ code: 'RevertRefused' });
    expect(read('filled')).toContain('person');
  });

  it('refuses what is not there and a binary file that somebody else changed', async () => {
    await expect(revert({ path: 'nothing' })).rejects.toMatchObject({ code: 'RevertRefused' });
    put('bin', Buffer.from([0]));
    wrote('bin', Buffer.from([0, 1]));
    put('bin', Buffer.from([0, 2]));
    await expect(revert({ path: 'bin' })).rejects.toMatchObject({
      message: expect.stringContaining('somebody else'),
    });
  });
});

describe('accepting', () => {
  it('takes a file, or all, off the list until the agent changes them again', async () => {
    put('a', '1\n');
    wrote('a', '2\n');
    wrote('b', 'b\n');
    wrote('c', 'c\n');
    expect(await accept('a')).toEqual({ paths: [at('a')] });
    expect((await listed()).map(({ path: file }) => file)).toEqual([at('b'), at('c')]);
    expect((await accept()).paths).toEqual([at('b'), at('c')]);
    expect(await listed()).toEqual([]);
    wrote('a', '3\n');
    expect((await listed())[0]!.hunks[0]!.lines).toEqual(['-2', '+3']);
  });
});

it('keeps its copies for the user alone, and survives a list that is damaged', async () => {
  put('a', 'x');
  wrote('a', 'y');
  const place = originals();
  expect(fs.statSync(place).mode & 0o777).toBe(0o700);
  for (const name of fs.readdirSync(place))
    expect(fs.statSync(path.join(place, name)).mode & 0o777).toBe(0o600);
  fs.writeFileSync(path.join(place, 'index.json'), '{');
  begin();
  expect(await listed()).toEqual([]);
  wrote('b', 'b');
  expect(await listed()).toHaveLength(1);
});
