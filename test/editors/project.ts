// What the drivers of all editors share: how a language server is named, where the edited files lie, how long an end may take.
// Guarantees the same option names everywhere. Must not know how an editor is driven.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { EditorHome } from './home.ts';

/** The language server that an editor is to start, the same for every editor. */
export interface EditorServer {
  command: string;
  args?: readonly string[];
  /** Added to the environment that the editor gives it. */
  env?: Readonly<Record<string, string>>;
  /** JSON; Helix has no way to write a null in it. */
  initializationOptions?: Readonly<Record<string, unknown>>;
  /** `atomic` if not given. */
  name?: string;
}

/** What `startNeovim`, `startEmacs` and `startHelix` all take. */
export interface EditorOptions {
  /** A home to share; without it the editor has its own, and removes it when it is closed. */
  home?: EditorHome;
  /** The folder that the editor is started in; a Git repository `project` in the home if not given. */
  cwd?: string;
  /** Files to open, relative to `cwd`. They need not exist. */
  files?: readonly string[];
  /** Added to the environment of the home. */
  env?: Readonly<Record<string, string>>;
  /** A language server for every file that is opened. */
  server?: EditorServer;
}

/** The `cwd` of the options, or the project of the home, made if it is not there. */
export function projectFolder(home: EditorHome, cwd: string | undefined): string {
  if (cwd !== undefined) return cwd;
  const folder = path.join(home.path, 'project');
  if (!fs.existsSync(folder)) {
    fs.mkdirSync(folder);
    // Editors find the root of a project by it.
    execFileSync('git', ['init', '-q', '-b', 'main', folder], { env: home.env, stdio: 'ignore' });
  }
  return folder;
}

/** Whether the promise settles before `milliseconds` are over. */
export function settlesWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
