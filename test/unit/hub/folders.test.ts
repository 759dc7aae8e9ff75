// Folders of state files: readable, unique, plain; what is written about a session is found again.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  allSessionFolders,
  makeFolder,
  readMeta,
  sessionFolder,
  sessionFolderName,
  sessionOfFile,
  workspaceFolderName,
  writeMeta,
} from '../../../server/src/hub/folders.ts';

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'state-'));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

describe('names', () => {
  it('can be read', () => {
    expect(workspaceFolderName('/home/a/My Projekt ü')).toMatch(/^My-Projekt-u-[0-9a-f]{16}$/);
    expect(workspaceFolderName('/home/a/проект')).toMatch(/^folder-[0-9a-f]{16}$/);
    expect(workspaceFolderName('/')).toMatch(/^folder-[0-9a-f]{16}$/);
    expect(sessionFolderName('default')).toBe('default');
    expect(sessionFolderName('fix.the_bug-2')).toBe('fix.the_bug-2');
  });
  it('differ where only case or marks differ, also where the file system sees no difference', () => {
    const names = ['a', 'A', 'ä', 'a ', 'a/b', 'a-b', '..', '.', '', 'con', 'CON'].map(sessionFolderName);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });
  it('are plain whatever they are made from', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        for (const folder of [sessionFolderName(name), workspaceFolderName(`/x/${name}`)]) {
          expect(folder).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/);
          expect(folder.length).toBeLessThanOrEqual(60);
        }
      }),
    );
  });
  it('cannot be imitated by another name', () => {
    expect(sessionFolderName(sessionFolderName('Fix It'))).not.toBe(sessionFolderName('Fix It'));
  });
});

describe('what is known of a session', () => {
  const write = (workspace: string, session: string) => {
    const folder = sessionFolder(root, workspace, session);
    makeFolder(folder);
    writeMeta(folder, { workspace, session, updated: 1, sessionFile: '/x/1.jsonl' });
    return folder;
  };
  it('is for its user alone and leaves nothing else behind', () => {
    const folder = write('/work space', 'default');
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.readdirSync(folder)).toEqual(['meta.json']);
    expect(fs.statSync(path.join(folder, 'meta.json')).mode & 0o777).toBe(0o600);
    expect(readMeta(folder)).toEqual({
      workspace: '/work space',
      session: 'default',
      updated: 1,
      sessionFile: '/x/1.jsonl',
    });
  });
  it('is found from the path of a file in the folder, through links and before the file is there', () => {
    const folder = write('/a/b', 'Tab Two');
    const link = `${root}-link`;
    fs.symlinkSync(root, link);
    try {
      const expected = { workspace: '/a/b', session: 'Tab Two' };
      expect(sessionOfFile(root, path.join(folder, 'prompt.md'))).toMatchObject(expected);
      expect(sessionOfFile(root, path.join(folder, 'answers', 'x.md'))).toMatchObject(expected);
      expect(sessionOfFile(link, path.join(folder, 'prompt.md'))).toMatchObject(expected);
      expect(sessionOfFile(root, folder.replace(root, link).concat('/prompt.md'))).toMatchObject(expected);
      expect(sessionOfFile(root, folder)).toBeUndefined();
      expect(sessionOfFile(root, path.join(root, 'log', 'hub.log'))).toBeUndefined();
      expect(sessionOfFile(root, '/a/b/prompt.md')).toBeUndefined();
    } finally {
      fs.rmSync(link);
    }
  });
  it('is nothing when the file is damaged', () => {
    const folder = write('/a', 'default');
    fs.writeFileSync(path.join(folder, 'meta.json'), '{"workspace":');
    expect(readMeta(folder)).toBeUndefined();
    expect(allSessionFolders(root)).toEqual([]);
  });
  it('is listed for all sessions', () => {
    write('/a', 'default');
    write('/a', 'two');
    write('/b', 'default');
    expect(
      allSessionFolders(root)
        .map(({ meta }) => `${meta.workspace} ${meta.session}`)
        .sort(),
    ).toEqual(['/a default', '/a two', '/b default']);
  });
});
