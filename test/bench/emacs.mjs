// The Emacs package while 1 MB streams at 1,000 deltas a second: node test/bench/emacs.mjs [REPETITIONS [DELTAS]]. Prints, as JSON, the longest
// block of the command loop, how much of that was work (processor time), and the processor time of all, against the same text inserted by a local timer in the same Emacs.
// Needs the editors of test/editors/provision.sh, tmux and a build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const repetitions = Number(process.argv[2] ?? 3);
const deltas = Number(process.argv[3] ?? 10_000);
/** Seconds that a run may take, besides those of its text. */
const patience = 60;
const editors =
  process.env.ATOMIC_TEST_EDITORS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atomic-editors');
const home = mkdtempSync(join(tmpdir(), 'atomic-bench-'));
const result = join(home, 'result.json');
const lisp = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const code = `(progn
  (setq atomic-server-command (list ${lisp(process.execPath)} ${lisp(here('../../dist/main.js'))} "--stdio")
        atomic-draft-directory nil
        atomic-settings '(:hub :json-false :agent (:command ${lisp(process.execPath)}
                          :args [${lisp(here('stream-agent.mjs'))} "${deltas}" "1000" "100"])))
  (atomic-bench-run ${repetitions} ${lisp(result)}))`;
const command = [
  join(editors, 'trixie/bin/emacs'),
  ...['-nw', '-Q', '-L', home, '--eval', '(setq native-comp-jit-compilation nil)'],
  ...['-l', here('emacs.el'), '--eval', code],
];
const socket = `atomic-bench-${process.pid}`;
const limit = (repetitions + 1) * (2 * (deltas / 1000) + patience) * 1000;
const tmux = (...args) =>
  execFileSync('tmux', ['-L', socket, ...args], {
    cwd: home,
    env,
    timeout: limit,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
const env = {
  PATH: process.env.PATH,
  HOME: home,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  ...Object.fromEntries(
    ['STATE_HOME', 'RUNTIME_DIR', 'CONFIG_HOME', 'CACHE_HOME'].map((it) => [`XDG_${it}`, home]),
  ),
};
try {
  // Compiled, as a person has it.
  execFileSync('sh', ['-c', 'cp "$1"/*.el .', 'sh', here('../../clients/emacs')], { cwd: home });
  execFileSync(
    command[0],
    [
      '-Q',
      '--batch',
      '-L',
      '.',
      '-f',
      'batch-byte-compile',
      ...execFileSync('ls', { cwd: home, encoding: 'utf8' })
        .split('\n')
        .filter((name) => name.endsWith('.el')),
    ],
    { cwd: home, env, stdio: 'ignore' },
  );
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  tmux('new-session', '-d', '-x', '120', '-y', '40', `${quoted}; tmux -L ${socket} wait-for -S done`);
  tmux('wait-for', 'done');
  const runs = JSON.parse(readFileSync(result, 'utf8'));
  const figure = (side, name) => median(runs.map((run) => run[side][name]));
  const report = {
    characters: runs[0].characters,
    longestBlockMs: Number(figure('bridge', 'longest').toFixed(1)),
    longestWorkMs: Number(figure('bridge', 'busiest').toFixed(1)),
    localLongestWorkMs: Number(figure('local', 'busiest').toFixed(1)),
    localLongestBlockMs: Number(figure('local', 'longest').toFixed(1)),
    cpuSeconds: Number(figure('bridge', 'cpu').toFixed(3)),
    localCpuSeconds: Number(figure('local', 'cpu').toFixed(3)),
    cpuRatio: Number(median(runs.map(({ bridge, local }) => bridge.cpu / local.cpu)).toFixed(2)),
    runs,
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It ended with its last session.
  }
  rmSync(home, { recursive: true, force: true });
}
