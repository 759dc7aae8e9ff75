// A real editor in a terminal of its own, for benchmarks of clients. Guarantees: a home that nothing else uses and that is gone at the
// end, with the terminal. Must not know: which editor, what is measured.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Seconds that a run may take, besides those of its text. */
const patience = 60;

/** The folder with the editors' programs. */
export const editors = join(
  process.env.ATOMIC_TEST_EDITORS ||
    join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atomic-editors'),
  'trixie/bin',
);

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Resolves with what `measure` makes of a fresh home: its folder, and the environment of a program in it. */
export function inHome(measure) {
  const home = mkdtempSync(join(tmpdir(), 'atomic-bench-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    ...Object.fromEntries(
      ['STATE_HOME', 'RUNTIME_DIR', 'CONFIG_HOME', 'CACHE_HOME', 'DATA_HOME'].map((it) => [
        `XDG_${it}`,
        home,
      ]),
    ),
  };
  try {
    return measure(home, env);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Runs an editor in a terminal until it ends; the JSON that it wrote to `result`.
 *
 * `runs` and `seconds`: how often the text comes, and how long it takes; throws with the screen when the editor takes much longer.
 */
export function inTerminal({ command, home, env, columns, lines, runs, seconds, result }) {
  const socket = `atomic-bench-${process.pid}`;
  const limit = runs * (2 * seconds + patience) * 1000;
  const tmux = (...args) =>
    execFileSync('tmux', ['-L', socket, ...args], {
      cwd: home,
      env,
      timeout: limit,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const size = ['-x', `${columns}`, '-y', `${lines}`];
  try {
    tmux('new-session', '-d', ...size, `${quoted}; tmux -L ${socket} wait-for -S done`);
    try {
      tmux('wait-for', 'done');
    } catch (error) {
      // What the editor shows says why.
      const screen = tmux('capture-pane', '-p').trimEnd();
      throw new Error(`The editor did not end within ${limit / 1000} s; its screen:\n${screen}`, {
        cause: error,
      });
    }
    return JSON.parse(readFileSync(result, 'utf8'));
  } finally {
    try {
      tmux('kill-server');
    } catch {
      // It ended with its last session.
    }
  }
}
