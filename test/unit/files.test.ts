// A file fits on three screens and says first what it guarantees.
import { expect, test } from 'vitest';
import { headerProblems, lengthProblems, longest, longFiles, projectFiles } from '../../scripts/rules.mjs';

test('no file is too long, and no exception is left over', () => {
  expect(lengthProblems(projectFiles())).toEqual([]);
});

test('every exception names a file that is there', () => {
  const paths = projectFiles().map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(Object.keys(longFiles)));
});

test('every file of the product says first what it guarantees', () => {
  expect(headerProblems(projectFiles())).toEqual([]);
});

test('a long file, a short exception and a missing comment are found', () => {
  const lines = (count: number) => 'x\n'.repeat(count);
  const exceptions = { 'test/long.ts': 'why' };
  expect(lengthProblems([{ path: 'test/a.ts', text: lines(longest) }])).toEqual([]);
  expect(lengthProblems([{ path: 'test/a.ts', text: lines(longest + 1) }])).toHaveLength(1);
  expect(lengthProblems([{ path: 'test/long.ts', text: lines(longest) }], exceptions)).toHaveLength(1);
  expect(lengthProblems([{ path: 'test/long.ts', text: lines(longest + 1) }], exceptions)).toEqual([]);
  expect(headerProblems([{ path: 'server/src/a.ts', text: "import 'b';\n" }])).toHaveLength(1);
  expect(headerProblems([{ path: 'server/src/a.ts', text: '#!/x\n// Guarantees: a.\n' }])).toEqual([]);
});
