// docs/dialects.md is what the suite really does. It is written by `npx vitest run test/contract/dialects.test.ts -u`.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandTable } from '../../server/src/protocol/commands.ts';
import { dialectNames, dialectsPage } from './dialects.ts';

test('the page is fresh', async () => {
  await expect(dialectsPage()).toMatchFileSnapshot(
    fileURLToPath(new URL('../../docs/dialects.md', import.meta.url)),
  );
});

test('no command is unchecked in a dialect that has it', () => {
  const lines = dialectsPage().split('\n');
  for (const { name, dialects } of commandTable) {
    if (!dialects) continue;
    const cells = lines
      .find((line) => line.startsWith(`| \`${name}\` `))
      ?.split('|')
      .slice(2, -1)
      .map((cell) => cell.trim());
    expect(cells, name).toHaveLength(dialectNames.length);
    for (const [at, dialect] of dialectNames.entries())
      expect(cells![at], `${name} in ${dialect}`).toMatch(
        dialects[dialect] === '-' ? /^absent$/ : /real|replay|scripted/,
      );
  }
});
