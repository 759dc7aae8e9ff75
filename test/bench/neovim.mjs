// The Neovim plugin while 1 MB streams at 1,000 deltas a second: node test/bench/neovim.mjs [REPETITIONS [DELTAS]]. Prints, as
// JSON, the longest block of the main loop and the processor time, both against the same text inserted by a local timer in the
// same Neovim, and what the plugin costs at the start. Needs the editors of test/editors/provision.sh, tmux and a build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const repetitions = Number(process.argv[2] ?? 3);
const stream = { deltas: Number(process.argv[3] ?? 10_000), rate: 1_000, size: 100 };
/** Seconds that a run may take, besides those of its text. */
const patience = 60;
const editors =
  process.env.ATOMIC_TEST_EDITORS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atomic-editors');
const neovim = join(editors, 'trixie/bin/nvim');
const home = mkdtempSync(join(tmpdir(), 'atomic-bench-'));
const result = join(home, 'result.json');
const lua = (value) => JSON.stringify(value);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const agent = [here('stream-agent.mjs'), ...Object.values(stream).map(String)];

writeFileSync(
  join(home, 'init.lua'),
  `vim.opt.runtimepath:prepend(${lua(here('../../clients/neovim'))})
vim.g.atomic = {
  cmd = { ${lua(process.execPath)}, ${lua(here('../../dist/main.js'))}, '--stdio' },
  settings = { hub = false, agent = { command = ${lua(process.execPath)}, args = { ${agent.map(lua).join(', ')} } } },
  history = 0,
}
`,
);
const socket = `atomic-bench-${process.pid}`;
const env = {
  PATH: process.env.PATH,
  HOME: home,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  ...Object.fromEntries(
    ['STATE_HOME', 'RUNTIME_DIR', 'CONFIG_HOME', 'CACHE_HOME', 'DATA_HOME'].map((it) => [`XDG_${it}`, home]),
  ),
};
const limit = repetitions * (2 * (stream.deltas / stream.rate) + patience) * 1000;
const tmux = (...args) =>
  execFileSync('tmux', ['-L', socket, ...args], {
    cwd: home,
    env,
    timeout: limit,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Milliseconds that Neovim says to have spent on the plugin at its start. */
function startCost() {
  const log = join(home, 'startup.log');
  rmSync(log, { force: true });
  execFileSync(neovim, ['--headless', '--startuptime', log, '-u', join(home, 'init.lua'), '+qa'], {
    cwd: home,
    env,
    stdio: 'ignore',
  });
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .find((it) => it.includes('clients/neovim/plugin/atomic.lua'));
  return Number(/^\S+\s+(\S+)/.exec(line)[1]);
}

try {
  const startMs = median(Array.from({ length: 9 }, startCost));
  const command = [
    neovim,
    ...['-u', join(home, 'init.lua'), '-c', `luafile ${here('neovim.lua')}`],
    ...['-c', `lua atomic_bench.run(${repetitions}, ${stream.deltas / stream.rate}, ${lua(result)})`],
  ];
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  tmux('new-session', '-d', '-x', '160', '-y', '50', `${quoted}; tmux -L ${socket} wait-for -S done`);
  try {
    tmux('wait-for', 'done');
  } catch (error) {
    // What Neovim shows says why.
    const screen = tmux('capture-pane', '-p').toString().trimEnd();
    throw new Error(`Neovim did not end within ${limit / 1000} s; its screen:\n${screen}`, { cause: error });
  }
  const runs = JSON.parse(readFileSync(result, 'utf8'));
  const figure = (side, name) => median(runs.map((run) => run[side][name]));
  const round = (value, digits = 1) => Number(value.toFixed(digits));
  console.log(
    JSON.stringify(
      {
        characters: runs[0].characters,
        startMs: round(startMs, 2),
        longestBlockMs: round(figure('bridge', 'longest')),
        localLongestBlockMs: round(figure('here', 'longest')),
        busiestMs: round(figure('bridge', 'busiest')),
        localBusiestMs: round(figure('here', 'busiest')),
        cpuSeconds: round(figure('bridge', 'cpu'), 2),
        localCpuSeconds: round(figure('here', 'cpu'), 2),
        cpuRatio: round(median(runs.map((run) => run.bridge.cpu / run.here.cpu)), 2),
        runs,
      },
      null,
      2,
    ),
  );
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It ended with its last session.
  }
  rmSync(home, { recursive: true, force: true });
}
