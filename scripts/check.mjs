// Everything that can be said about the source without running it, in parallel: one line for each step, what is wrong beneath it,
// exit code 1 when anything is.
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headerProblems, importProblems, lengthProblems, projectFiles } from './rules.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const run = (program, ...args) =>
  new Promise((resolve) => {
    execFile(program, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}`.trim() || error.message : '');
    });
  });
/** Known holes in what is shipped or built with. A registry without advisories says nothing about them, and that is said. */
const audit = async () => {
  const said = await run('npm', 'audit', '--json', '--audit-level=moderate');
  if (said === '') return '';
  let report;
  try {
    report = JSON.parse(said.slice(said.indexOf('{')));
  } catch {}
  if (report?.vulnerabilities) return Object.keys(report.vulnerabilities).join('\n');
  console.log('     audit: this registry has no advisories, so nothing is known about the packages');
  return '';
};
/** A linter from Debian (`lua-check`), which is no npm package: where it is missing that is said, and CI has it. */
const luaLint = async () => {
  const said = await run('luacheck', '--config', 'clients/neovim/.luacheckrc', '-q', '--no-color', ...lua);
  if (!said.includes('ENOENT') || process.env.CI) return said;
  console.log('     lua lint: luacheck is missing (Debian: lua-check), so nothing was linted');
  return '';
};
const bin = (name) => `${root}/node_modules/.bin/${name}`;
const files = projectFiles();
const lua = ['clients/neovim', 'test/editors/neovim.lua'];

const steps = {
  'format and lint': () => run(bin('biome'), 'check', '--max-diagnostics=50'),
  'lua format': () => run(bin('stylua'), '--check', '--config-path', 'clients/neovim/.stylua.toml', ...lua),
  'lua lint': luaLint,
  types: () => run(bin('tsc')),
  'generated files': () => run(process.execPath, 'scripts/generate.mjs', '--check'),
  imports: () => importProblems(files).join('\n'),
  'file lengths': () => lengthProblems(files).join('\n'),
  'first comments': () => headerProblems(files).join('\n'),
  audit,
};

const results = await Promise.all(
  Object.entries(steps).map(async ([name, step]) => {
    const begun = performance.now();
    const problem = await step();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `${problem ? 'FAIL' : 'ok  '} ${name.padEnd(16)} ${seconds} s${problem ? `\n${problem}\n` : ''}`,
    );
    return problem;
  }),
);
process.exitCode = results.some(Boolean) ? 1 : 0;
