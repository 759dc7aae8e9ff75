// The Neovim plugin while 1 MB streams at 1,000 deltas a second: node test/bench/neovim.mjs [REPETITIONS [DELTAS]]. Prints, as
// JSON, the longest block of the main loop and the processor time, both against the same text inserted by a local timer in the
// same Neovim, and what the plugin costs at the start. Needs the editors of test/editors/provision.sh, tmux and a build.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { editors, inHome, inTerminal, median } from './in-terminal.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const repetitions = Number(process.argv[2] ?? 3);
const stream = { deltas: Number(process.argv[3] ?? 10_000), rate: 1_000, size: 100 };
const neovim = join(editors, 'nvim');
const lua = (value) => JSON.stringify(value);
const agent = [here('stream-agent.mjs'), ...Object.values(stream).map(String)];
const init = `vim.opt.runtimepath:prepend(${lua(here('../../clients/neovim'))})
vim.g.atomic = {
  cmd = { ${lua(process.execPath)}, ${lua(here('../../dist/main.js'))}, '--stdio' },
  settings = { hub = false, agent = { command = ${lua(process.execPath)}, args = { ${agent.map(lua).join(', ')} } } },
  history = 0,
}
`;

/** Milliseconds that Neovim says to have spent on the plugin at its start. */
function startCost(home, env) {
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

const { runs, startMs } = inHome((home, env) => {
  const seconds = stream.deltas / stream.rate;
  const result = join(home, 'result.json');
  writeFileSync(join(home, 'init.lua'), init);
  return {
    startMs: median(Array.from({ length: 9 }, () => startCost(home, env))),
    runs: inTerminal({
      command: [
        neovim,
        ...['-u', join(home, 'init.lua'), '-c', `luafile ${here('neovim.lua')}`],
        ...['-c', `lua atomic_bench.run(${repetitions}, ${seconds}, ${lua(result)})`],
      ],
      home,
      env,
      columns: 160,
      lines: 50,
      runs: repetitions,
      seconds,
      result,
    }),
  };
});
const figure = (side, name, digits = 1) => Number(median(runs.map((run) => run[side][name])).toFixed(digits));
const report = {
  characters: runs[0].characters,
  startMs: Number(startMs.toFixed(2)),
  longestBlockMs: figure('bridge', 'longest'),
  localLongestBlockMs: figure('here', 'longest'),
  busiestMs: figure('bridge', 'busiest'),
  localBusiestMs: figure('here', 'busiest'),
  cpuSeconds: figure('bridge', 'cpu', 2),
  localCpuSeconds: figure('here', 'cpu', 2),
  cpuRatio: Number(median(runs.map((run) => run.bridge.cpu / run.here.cpu)).toFixed(2)),
  runs,
};
console.log(JSON.stringify(report, null, 2));
