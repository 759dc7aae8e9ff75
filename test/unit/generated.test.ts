// What derives from the command table is written and up to date: the pages and the constants of the clients.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { commandTable } from '../../server/src/protocol/commands.ts';
import {
  commandsPage,
  elispCommands,
  luaCommands,
  needsParams,
  protocolTables,
  withoutArguments,
} from '../../server/src/protocol/docs.ts';
import { errorCodes } from '../../server/src/protocol/errors.ts';

const generate = (cwd: string) =>
  new Promise<{ code: number; said: string }>((done) => {
    const child = execFile(
      process.execPath,
      [resolve('scripts/generate.mjs'), '--check'],
      { cwd },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });

test('the generated files are fresh', async () => {
  expect(await generate('.')).toEqual({ code: 0, said: '' });
});

test('stale files are named', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'generated-'));
  try {
    const { code, said } = await generate(empty);
    expect(code).toBe(1);
    for (const file of ['docs/commands.md', 'docs/protocol.md', 'commands.lua', 'atomic-lsp-commands.el'])
      expect(said).toContain(file);
  } finally {
    rmSync(empty, { recursive: true });
  }
});

test.each(commandTable.map((row) => [row.id, row] as const))(
  '%s is in the page and in both clients',
  (id, row) => {
    const [, section] = commandsPage([row]).split(`\`${id}\`\n`);
    expect(section).toContain(row.doc);
    for (const name of Object.keys(row.params.shape)) expect(section).toContain(`\`${name}\``);
    expect(section).toContain('Without arguments: ');
    expect(luaCommands([row])).toContain(`id = "${id}"`);
    expect(elispCommands([row])).toContain(`("${id}"`);
  },
);

test.each(commandTable.map((row) => [row.id, row] as const))(
  '%s has an example that it accepts',
  (_id, row) => {
    expect(row.params.safeParse(row.example).success || !needsParams(row)).toBe(true);
    expect(row.params.safeParse(row.example).error).toBeUndefined();
  },
);

test('no command is useless without arguments', () => {
  const useless = commandTable.filter((row) => withoutArguments(row).startsWith('Is refused'));
  expect(useless.map((row) => row.id)).toEqual([]);
});

test('the contract page has every error, every setting and every method', () => {
  const page = readFileSync('docs/protocol.md', 'utf8');
  for (const name of Object.keys(errorCodes)) expect(page).toContain(`\`${name}\``);
  expect(Object.keys(protocolTables()).every((name) => page.includes(`<!-- generated: ${name} -->`))).toBe(
    true,
  );
  expect(page).toContain('`client.flushesPerSecond`');
  expect(page).toContain('`atomic/intent`');
});
