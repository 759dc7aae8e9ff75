// What is offered for completion, against git itself: for trees and rules that nobody thought of.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../server/src/hub/clock.ts';
import { silentLog } from '../../server/src/hub/log.ts';
import { createFileList } from '../../server/src/prompt/file-list.ts';

const name = fc.constantFrom('a', 'b.log', 'c.ts', 'größe', 'mit leer');
const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const rule = fc
  .tuple(
    fc.constantFrom('', '!'),
    fc.constantFrom('', '/', '**/'),
    fc.oneof(name, fc.constant('*.log'), file),
    fc.constantFrom('', '/', '/*'),
  )
  .map((parts) => parts.join(''));
const rules = fc.dictionary(
  fc.constantFrom('', 'a/', 'größe/', 'a/mit leer/'),
  fc.array(rule, { minLength: 1, maxLength: 3 }).map((lines) => `${lines.join('\n')}\n`),
);

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'core.quotePath=false', ...args], { cwd: folder, encoding: 'utf8' });

it('lists what git lists', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { maxLength: 12 }), rules, async (files, ignores) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'ignored-'));
      try {
        git(folder, 'init', '-q');
        const write = (at: string, text: string) => {
          try {
            mkdirSync(path.dirname(path.join(folder, at)), { recursive: true });
            writeFileSync(path.join(folder, at), text);
          } catch {
            // A file stands where a folder would be, or the other way round.
          }
        };
        for (const at of files) write(at, '');
        for (const [at, text] of Object.entries(ignores)) write(`${at}.gitignore`, text);
        const wanted = git(folder, 'ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean);
        const list = createFileList({ folder, clock: systemClock, log: silentLog });
        const { names } = await list.list(60_000);
        expect(names.filter((it) => !it.endsWith('/')).sort()).toEqual(wanted.sort());
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
});
