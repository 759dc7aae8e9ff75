// Which real editors the tests can have. Guarantees that a missing editor is a skip with the editor's name in the
// report, and a failure in CI; looks only, never installs (`test/editors/provision.sh` does). Must not know how an
// editor is driven.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'vitest';

export type EditorName = 'nvim' | 'emacs' | 'emacsclient' | 'hx' | 'vim';

/** The path of a provisioned editor program, undefined when it was not provisioned. */
export function editorPath(name: EditorName): string | undefined {
  // The same rule is in test/editors/provision.sh.
  const { ATOMIC_TEST_EDITORS, XDG_CACHE_HOME } = process.env;
  const cache =
    ATOMIC_TEST_EDITORS || path.join(XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'atomic-editors');
  const folder = path.join(cache, 'trixie');
  const program = path.join(folder, 'bin', name);
  return fs.existsSync(path.join(folder, 'ready')) && fs.existsSync(program) ? program : undefined;
}

/** The same, or an error that says how to get it. */
export function requiredEditor(name: EditorName): string {
  const program = editorPath(name);
  if (program === undefined) throw new Error(`${name} is missing: run test/editors/provision.sh`);
  return program;
}

/**
 * A `describe` for tests that need a real editor. Without the editor they are reported as skipped, by the name of what
 * is missing; with CI in the environment that is a failure instead.
 */
export function describeWithEditor(name: EditorName, title: string, tests: () => void): void {
  if (editorPath(name) !== undefined) return void describe(title, tests);
  if (process.env.CI) {
    describe(title, () => {
      it(`has ${name}`, () => void requiredEditor(name));
    });
  } else {
    describe.skip(`${title} (skipped: ${name} is missing, run test/editors/provision.sh)`, tests);
  }
}
