// Runs benchmarks and keeps what they told: a file for the commit in results/, and the page. Guarantees: only figures of a tree without
// changes are kept as those of a commit; the others go to results/local/ and to no page. Must not know: any benchmark.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { benchmarks } from './benchmarks.ts';
import type { Figure } from './figures.ts';
import { performancePage, type Results, shownFigure } from './page.ts';

const root = join(import.meta.dirname, '../..');
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** What is changed besides what benchmarks write. */
const changes = () =>
  git('status', '--porcelain', '--', '.', ':!test/bench/results', ':!docs/performance.md') !== '';

const machine = (): string =>
  `${os.availableParallelism()} × ${os.cpus()[0]?.model.trim()}, ${os.type()} ${os.release()}`;

/** Runs those that are named by their letters, or all. */
export async function bench(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !benchmarks.some(({ id }) => id === name));
  if (unknown.length > 0) {
    console.error(
      `There is no benchmark "${unknown[0]}": there are ${benchmarks.map(({ id }) => id).join(', ')}.`,
    );
    process.exitCode = 2;
    return;
  }
  const commit = git('rev-parse', '--short=10', 'HEAD');
  const kept = !changes();
  const file = join(root, 'test/bench/results', kept ? `${commit}.json` : 'local/last.json');
  const earlier: Results | undefined = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const results: Results = {
    commit,
    committed: git('show', '-s', '--format=%cI', 'HEAD'),
    machine: machine(),
    node: process.version,
    benchmarks: earlier?.commit === commit ? earlier.benchmarks : {},
  };
  for (const { id, title, run } of benchmarks) {
    if (names.length > 0 && !names.includes(id)) continue;
    console.log(`\n${id}. ${title}`);
    const load = os.loadavg()[0]!;
    const begun = performance.now();
    let figures: Figure[];
    try {
      figures = await run('full');
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
      continue;
    }
    const seconds = Math.round((performance.now() - begun) / 1000);
    results.benchmarks[id] = { title, date: new Date().toISOString(), load, seconds, figures };
    for (const figure of figures) console.log(`  ${shownFigure(figure)}`);
    console.log(`  (${seconds} s, load before ${load.toFixed(1)})`);
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(results, null, 2));
  if (!kept) {
    console.log(`\nThe tree has changes, so these figures belong to no commit: ${file}`);
    return;
  }
  const page = join(root, 'docs/performance.md');
  writeFileSync(page, performancePage(results));
  execFileSync(join(root, 'node_modules/.bin/biome'), ['format', '--write', file, page], { stdio: 'ignore' });
  console.log(`\nwrote ${file} and ${page}`);
}
