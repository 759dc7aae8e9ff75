// Chaos by hand, as long as wanted: `node test/chaos/run.mjs [--herds N] [--seeds N] [--pi N] [--from SEED] [--save] [--stopped]`.
// Guarantees: plays just these seeds, shows those that failed and, with `--save`, adds them to seeds.json, so that every later run of the tests plays
// them. Must not know: what a seed stands for.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const number = { type: 'string', default: '0' };
const { values } = parseArgs({
  options: {
    herds: number,
    seeds: number,
    pi: number,
    from: { type: 'string', default: '1' },
    save: { type: 'boolean' },
    stopped: { type: 'boolean' },
  },
});
const kinds = { herds: values.herds, histories: values.seeds, pi: values.pi };
const asked = Object.fromEntries(
  Object.entries(kinds).flatMap(([kind, count]) =>
    Number(count) > 0 ? [[kind, { count: Number(count), from: Number(values.from) }]] : [],
  ),
);
if (values.stopped) asked.stopped = true;
if (Object.keys(asked).length === 0) {
  console.error('Say how many: node test/chaos/run.mjs --seeds 100 (or --herds 200, --pi 20, --stopped).');
  process.exit(2);
}
const files = [
  ...(asked.herds ? ['test/integration/chaos-herds.test.ts'] : []),
  ...(asked.histories || asked.pi ? ['test/integration/chaos.test.ts'] : []),
  ...(asked.stopped ? ['test/integration/stopped-editor.test.ts'] : []),
];
const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
const report = join(folder, 'report.json');
const reporters = ['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`];
const vitest = join(here, '../../node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', ...files, ...reporters], {
  cwd: join(here, '../..'),
  env: { ...process.env, ATOMIC_CHAOS: JSON.stringify(asked) },
  stdio: 'inherit',
});
child.on('close', (code) => {
  let tests = [];
  try {
    tests = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap((file) => file.assertionResults);
  } catch {}
  rmSync(folder, { recursive: true, force: true });
  const named = (state) => tests.filter(({ status }) => status === state).map(({ fullName }) => fullName);
  const failed = named('failed');
  console.log(`${named('passed').length} passed, ${failed.length} failed`);
  for (const name of failed) console.log(`  ${name}`);
  if (values.save && failed.length > 0) {
    const saved = JSON.parse(readFileSync(join(here, 'seeds.json'), 'utf8'));
    for (const name of failed) {
      const seed = Number(/seed (\d+)$/.exec(name)?.[1]);
      const kind = /^a herd/.test(name) ? 'herds' : /pi/.test(name) ? 'pi' : 'histories';
      if (Number.isFinite(seed) && !saved[kind].includes(seed)) saved[kind].push(seed);
    }
    writeFileSync(join(here, 'seeds.json'), `${JSON.stringify(saved, null, 2)}\n`);
  }
  process.exit(code ?? 1);
});
