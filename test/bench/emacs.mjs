// The Emacs package while 1 MB streams at 1,000 deltas a second: node test/bench/emacs.mjs [REPETITIONS [DELTAS]]. Prints, as JSON, the
// longest block of the command loop, how much of that was work (processor time), and the processor time of all, against the same text
// inserted by a local timer in the same Emacs. Needs the editors of test/editors/provision.sh, tmux and a build.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { editors, inHome, inTerminal, median } from './in-terminal.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const repetitions = Number(process.argv[2] ?? 3);
const deltas = Number(process.argv[3] ?? 10_000);
const lisp = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const emacs = join(editors, 'emacs');

const runs = inHome((home, env) => {
  const result = join(home, 'result.json');
  const code = `(progn
  (setq atomic-server-command (list ${lisp(process.execPath)} ${lisp(here('../../dist/main.js'))} "--stdio")
        atomic-draft-directory nil
        atomic-settings '(:hub :json-false :agent (:command ${lisp(process.execPath)}
                          :args [${lisp(here('stream-agent.mjs'))} "${deltas}" "1000" "100"])))
  (atomic-bench-run ${repetitions} ${lisp(result)}))`;
  // Compiled, as a person has it.
  const source = here('../../clients/emacs');
  const files = readdirSync(source).filter((name) => name.endsWith('.el'));
  for (const name of files) cpSync(join(source, name), join(home, name));
  execFileSync(emacs, ['-Q', '--batch', '-L', '.', '-f', 'batch-byte-compile', ...files], {
    cwd: home,
    env,
    stdio: 'ignore',
  });
  return inTerminal({
    command: [
      emacs,
      ...['-nw', '-Q', '-L', home, '--eval', '(setq native-comp-jit-compilation nil)'],
      ...['-l', here('emacs.el'), '--eval', code],
    ],
    home,
    env,
    columns: 120,
    lines: 40,
    // One to warm up.
    runs: repetitions + 1,
    seconds: deltas / 1000,
    result,
  });
});
const figure = (side, name, digits = 1) => Number(median(runs.map((run) => run[side][name])).toFixed(digits));
const report = {
  characters: runs[0].characters,
  longestBlockMs: figure('bridge', 'longest'),
  longestWorkMs: figure('bridge', 'busiest'),
  localLongestWorkMs: figure('local', 'busiest'),
  localLongestBlockMs: figure('local', 'longest'),
  cpuSeconds: figure('bridge', 'cpu', 3),
  localCpuSeconds: figure('local', 'cpu', 3),
  cpuRatio: Number(median(runs.map(({ bridge, local }) => bridge.cpu / local.cpu)).toFixed(2)),
  runs,
};
console.log(JSON.stringify(report, null, 2));
