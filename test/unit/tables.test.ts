// The tables of what is seen where (test/*.md) name tests that are there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandTable } from '../../server/src/protocol/commands.ts';

const folder = join(import.meta.dirname, '..');
const tables = ['behaviours.md', 'behaviours-neovim.md', 'behaviours-emacs.md', 'bug-kinds.md'];

/** The last cell of each row by the row's first. */
const rowsOf = (table: string): [string, string][] =>
  table
    .split('\n')
    .filter((line) => /^\| *\d+ *\|/.test(line))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      return [cells[1]!, cells.at(-2)!];
    });

/** What is wrong with what a cell names: `file`: “name of a test”, “another”; `file`: … */
function problemsIn(cell: string, sourceOf: (file: string) => string | undefined): string[] {
  const pieces = cell.split(/`((?:unit|contract|integration|e2e|fuzz)\/[\w/-]+)`/);
  const named = pieces.length > 1;
  const problems = named || /^(?:Not built|By design): ./.test(cell) ? [] : ['names no test and no reason'];
  for (let at = 1; at < pieces.length; at += 2) {
    const file = pieces[at]!;
    const source = sourceOf(file);
    if (source === undefined) {
      problems.push(`there is no ${file}`);
      continue;
    }
    for (const [, name] of pieces[at + 1]!.matchAll(/“([^”]+)”/g)) {
      const begin = name!.startsWith('…') ? '.*' : '';
      const text = name!.replace(/^… ?|…$/g, '').trim();
      const words = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');
      const title = new RegExp(`\\(\\s*['"\`]${begin}${words}|ert-deftest ${words}`);
      if (!title.test(source)) problems.push(`${file} has no test “${name}”`);
    }
  }
  return problems;
}

const sourceOf = (file: string): string | undefined => {
  const path = [`${file}.test.ts`, `${file}.el`].map((it) => join(folder, it)).find(existsSync);
  return path === undefined ? undefined : readFileSync(path, 'utf8');
};

describe.each(tables)('%s', (name) => {
  const rows = rowsOf(readFileSync(join(folder, name), 'utf8'));
  it('has rows, each once', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(([number]) => number)).size).toBe(rows.length);
  });
  it.each(rows)('names tests that are there in row %s', (_, cell) => {
    expect(problemsIn(cell, sourceOf)).toEqual([]);
  });
});

it('what is not there is found', () => {
  const sources: Record<string, string> = {
    'unit/a': "it('does this well', …)\nit.each([1])(\n  'and that', …)",
  };
  const problems = (cell: string) => problemsIn(cell, (file) => sources[file]);
  expect(problems('`unit/a`: “does this”, “and that”, “… well”')).toEqual([]);
  expect(problems('`unit/a`')).toEqual([]);
  expect(problems('By design: so')).toEqual([]);
  expect(problems('somehow')).toHaveLength(1);
  expect(problems('`unit/b`: “does this”')).toEqual(['there is no unit/b']);
  expect(problems('`unit/a`: “does that”, “this well”')).toHaveLength(2);
});

it('every command has the prefix of this program', () => {
  expect(commandTable.filter(({ id }) => !id.startsWith('atomic.'))).toEqual([]);
});
