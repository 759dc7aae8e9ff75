// Completion in a prompt: which files there are, which fit best, and what is offered for the rest.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../server/src/hub/log.ts';
import { type CompleteContext, commandOffers, namedOffers } from '../../../server/src/prompt/complete.ts';
import { createFileList } from '../../../server/src/prompt/file-list.ts';
import { mentionsIn, writingAt } from '../../../server/src/prompt/mentions.ts';
import type { OpenDocument } from '../../../server/src/prompt/places.ts';
import { createRanking, ranked } from '../../../server/src/prompt/rank.ts';
import { symbolsIn } from '../../../server/src/prompt/symbols.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { folderWith, placeOf } from './support.ts';

const listed = async (folder: string, limit?: number) => {
  const list = createFileList({ folder, clock: fakeClock(), log: silentLog, ...(limit && { limit }) });
  const { names, whole } = await list.list(60_000);
  return { names: [...names].sort(), whole };
};

describe('the files of a folder', () => {
  it('are those that version control does not ignore, as nested and negated rules say', async () => {
    const folder = folderWith({
      '.gitignore': '*.log\n/build/\n!keep.log\nsecret\n',
      'a.ts': '',
      'x.log': '',
      'keep.log': '',
      'build/out.js': '',
      'src/build/in.js': '',
      'src/.gitignore': '!x.log\n*.tmp\nfolder/*\n!folder/wanted\n',
      'src/x.log': '',
      'src/y.tmp': '',
      'src/folder/wanted': '',
      'src/folder/other': '',
      'src/secret/key': '',
      'größe/mit leer.md': '',
      'node_modules/p/index.js': '',
      '.git/config': '',
      '.git/info/exclude': 'größe/*.bak\n',
      'größe/x.bak': '',
    });
    expect((await listed(folder)).names).toEqual(
      [
        '.gitignore',
        'a.ts',
        'größe/',
        'größe/mit leer.md',
        'keep.log',
        'src/',
        'src/.gitignore',
        'src/build/',
      ]
        .concat(['src/build/in.js', 'src/folder/', 'src/folder/wanted', 'src/x.log'])
        .sort(),
    );
    // A folder within keeps the rules from above.
    expect((await listed(path.join(folder, 'src/folder'))).names).toEqual(['wanted']);
  });

  it('end at links that lead out or round', async () => {
    const outside = folderWith({ 'out.txt': '' });
    const folder = folderWith({ 'a.txt': '', 'sub/b.txt': '' });
    symlinkSync(outside, path.join(folder, 'away'));
    symlinkSync(path.join(outside, 'out.txt'), path.join(folder, 'out.txt'));
    symlinkSync(folder, path.join(folder, 'sub/round'));
    symlinkSync('sub/b.txt', path.join(folder, 'b.txt'));
    symlinkSync('nowhere', path.join(folder, 'broken'));
    expect((await listed(folder)).names).toEqual(['a.txt', 'b.txt', 'sub/', 'sub/b.txt']);
  });

  it('come in slices, and as far as they are there when the time is over', async () => {
    const folder = folderWith(
      Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`d${n % 40}/f${n}.txt`, ''])),
    );
    const clock = fakeClock();
    const list = createFileList({ folder, clock, log: silentLog });
    let turns = 0;
    const first = list.list(100);
    clock.advance(100);
    const partial = await first;
    expect(partial.whole).toBe(false);
    expect(partial.names.length).toBeLessThan(3040);
    let whole = false;
    const rest = list.list(60_000).finally(() => {
      whole = true;
    });
    while (!whole) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    expect((await rest).names).toHaveLength(3040);
    expect(turns).toBeGreaterThan(5);
  });

  it('are bounded, and the first come first', async () => {
    const folder = folderWith({ 'deep/er/a': '', 'deep/b': '', c: '' });
    expect(await listed(folder, 2)).toEqual({ names: ['c', 'deep/'], whole: false });
  });

  it('are looked at again after a while, and when somebody says so', async () => {
    const folder = folderWith({ a: '' });
    const clock = fakeClock();
    const list = createFileList({ folder, clock, log: silentLog });
    const until = async (count: number) => {
      while ((await list.list(1000)).names.length !== count)
        await new Promise((resolve) => setImmediate(resolve));
    };
    await until(1);
    writeFileSync(path.join(folder, 'b'), '');
    expect((await list.list(1000)).names).toHaveLength(1);
    list.stale();
    await until(2);
    writeFileSync(path.join(folder, 'c'), '');
    clock.advance(15_000);
    await until(3);
  });

  it('are none where there is no folder', async () => {
    expect((await listed('/nowhere/at/all')).names).toEqual([]);
  });
});

describe('ranked', () => {
  const paths = [
    'src/editor/editor.ts',
    'src/editor/',
    'test/editor.test.ts',
    'src/credits.ts',
    'docs/editors.md',
  ];
  it.each([
    ['editor', ['src/editor/', 'src/editor/editor.ts', 'docs/editors.md', 'test/editor.test.ts']],
    ['src/ed', ['src/editor/', 'src/editor/editor.ts', 'src/credits.ts']],
    ['EDTS', ['docs/editors.md', 'test/editor.test.ts', 'src/editor/editor.ts', 'src/credits.ts']],
    ['nothing', []],
  ])('%s', (typed, expected) => {
    expect(ranked(typed, paths, 10).paths.slice(0, expected.length)).toEqual(expected);
    if (expected.length === 0) expect(ranked(typed, paths, 10).paths).toEqual([]);
  });

  it('prefers what one is at work with, and says that there are more', () => {
    const ranking = createRanking('', 2, new Set(['docs/editors.md']));
    for (const one of paths) ranking.add([one]);
    expect(ranking.best()).toEqual({
      paths: ['docs/editors.md', 'src/editor/'],
      more: true,
    });
  });
});

describe('symbolsIn', () => {
  const found = (text: string, languageId = '') =>
    symbolsIn(text, languageId).map(({ name, from, to }) => `${name} ${from}-${to}`);
  it.each([
    ['export async function one() {\n  x\n}\n\nconst two = (a) =>\n  a;\n', '', ['one 1-3', 'two 5-6']],
    [
      'def one():\n    pass\n\nclass Two:\n    def three(self):\n        pass\n',
      '',
      ['one 1-2', 'Two 4-6', 'three 5-6'],
    ],
    ['pub(crate) fn größe<T>()\n{\n  x\n}\nimpl<T> Two for T {}\n', '', ['größe 1-4', 'Two 5-5']],
    ['func (r *T) One() {\n\tx\n}\n', '', ['One 1-3']],
    ['(defun my-one ()\n  x)\n\n(defvar two 1)\n', '', ['my-one 1-2', 'two 4-4']],
    [
      '# My heading!\ntext\n## Sub\n```\n# no\n```\n# Other\nend',
      'markdown',
      ['my-heading 1-6', 'sub 3-6', 'other 7-8'],
    ],
    ['const x = 1;\nreturn function;\nif (class) {}', '', []],
  ])('%j', (text, languageId, expected) => {
    expect(found(text, languageId)).toEqual(expected);
  });
});

describe('offers', () => {
  const contextOf = (
    folders: string[],
    documents: OpenDocument[] = [],
    liked: string[] = [],
  ): CompleteContext => ({
    place: placeOf(folders, documents),
    files: (folder) => createFileList({ folder, clock: fakeClock(), log: silentLog }).list(60_000),
    liked,
  });
  const texts = async (typed: string, context: CompleteContext) => {
    const writing = writingAt(typed, typed.length)!;
    return (await namedOffers(writing, context)).offers.map(({ text }) => text);
  };

  it('name files and folders of all folders so that they are found again', async () => {
    const one = folderWith({ 'a b.ts': '', 'it’s (1).md': '', 'sub/c.ts': '', 'x:12': '' });
    const two = folderWith({ 'd.ts': '' });
    const name = path.basename(two);
    const context = contextOf([one, two], [], [path.join(one, 'sub/c.ts')]);
    expect(await texts('@', context)).toEqual(
      expect.arrayContaining([
        '@"a b.ts"',
        '@"it’s (1).md"',
        '@sub/',
        '@sub/c.ts',
        '@"x:12"',
        `@"${name}/"`,
        `@"${name}/d.ts"`,
      ]),
    );
    expect((await texts('@', context))[0]).toBe('@sub/c.ts');
    expect(await texts('@"a', context)).toContain('@"a b.ts"');
    for (const text of await texts('@', context))
      expect(mentionsIn(`x ${text}, y`)).toMatchObject([{ end: text.length + 2 }]);
  });

  it('go where the list does not: above, home, absolute, ignored', async () => {
    const root = folderWith({
      'work/.gitignore': 'node_modules\n',
      'work/node_modules/p/index.js': '',
      'side/.x': '',
      'side/s.md': '',
    });
    const context = contextOf([path.join(root, 'work')]);
    expect(await texts('@../si', context)).toEqual(['@../side/']);
    expect(await texts('@../side/', context)).toEqual(['@../side/s.md']);
    expect(await texts('@../side/.', context)).toEqual(['@../side/.x', '@../side/s.md']);
    expect(await texts('@node_modules/p/', context)).toEqual(['@node_modules/p/index.js']);
    expect(await texts(`@"${root}/si`, context)).toEqual([`@"${root}/side/"`]);
    expect(await texts('@/nowhere/x', context)).toEqual([]);
  });

  it('are lines of a file by what they declare, and symbols of open documents', async () => {
    const text = 'x\nfunction one() {\n}\nclass Two {}\n';
    const folder = folderWith({ 'a b.ts': text });
    const documents = [
      { file: path.join(folder, 'a b.ts'), name: 'a b.ts', languageId: 'typescript', text },
      { file: '/other/a b.ts', name: 'a b.ts', languageId: 'typescript', text: '' },
      { name: 'Untitled-1', languageId: '', text: '' },
    ];
    const context = contextOf([folder], documents);
    expect(await texts('@"a b.ts:', context)).toEqual(['@"a b.ts":2-3', '@"a b.ts":4']);
    expect(await texts('#', context)).toEqual(['#"a b.ts"', '#Untitled-1', '#"other/a b.ts"']);
    expect(await texts('#"a b.ts:', context)).toEqual(['#"a b.ts":one', '#"a b.ts":Two']);
  });

  it('are the agent’s commands before those of its terminal', () => {
    const { offers, more } = commandOffers('mod', [
      { name: 'model-report', source: 'prompt', description: 'Reports\non models.' },
    ]);
    expect(offers.map(({ text, detail }) => [text, detail])).toEqual([
      ['/model', 'Choose the model'],
      ['/model-report', 'Reports on models.'],
    ]);
    expect(more).toBe(false);
    expect(commandOffers('', undefined)).toMatchObject({ more: true });
    expect(commandOffers('', []).offers.map(({ text }) => text)).not.toContain('/settings');
  });

  it('never leave a folder of an unreadable name out', async () => {
    const folder = folderWith();
    mkdirSync(path.join(folder, '-"quoted"'));
    expect(await texts('@', contextOf([folder]))).toEqual(['@"-\\"quoted\\"/"']);
  });
});
