// A private home for real editors: their settings, state and sockets lie in one temporary folder. Guarantees that an
// editor in it sees nothing of the person's own settings, that its path has a space in it, and that after `close` no
// process that was started in it is left. Must not know which editor lives in it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { endProcesses, processesWithEnvironment, runMark } from './processes.ts';

/** A temporary folder that programs take for the user's home. */
export interface EditorHome {
  /** The folder; its path has a space in it and is short enough for unix sockets below it. */
  readonly path: string;
  /** The whole environment for a program of this home: HOME, the XDG folders, nothing personal. */
  readonly env: Readonly<Record<string, string>>;
  /** The running processes that were started in this home, whoever their parent is. */
  processes(): number[];
  /** Ends what still runs in this home, then removes it. */
  close(): Promise<void>;
}

/** Every process of a home has this variable, with the home's path; so a detached one is found too. */
const mark = 'ATOMIC_TEST_HOME';

/** What a program needs of the environment of the tests. The rest could change what an editor or an agent does. */
const kept = ['PATH', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'TZ', 'NODE_EXTRA_CA_CERTS', runMark];

/** A new private home; `close` it when its editors are closed. */
export function createEditorHome(): EditorHome {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'a home-')));
  const xdg = {
    XDG_CONFIG_HOME: path.join(home, 'config'),
    XDG_STATE_HOME: path.join(home, 'state'),
    XDG_DATA_HOME: path.join(home, 'data'),
    XDG_CACHE_HOME: path.join(home, 'cache'),
    XDG_RUNTIME_DIR: path.join(home, 'run'),
  };
  for (const folder of Object.values(xdg)) fs.mkdirSync(folder, { mode: 0o700 });
  const env: Record<string, string> = {};
  for (const name of kept) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, xdg, { HOME: home, LANG: 'C.UTF-8', [mark]: home });
  const processes = () => processesWithEnvironment(`${mark}=${home}`);
  return {
    path: home,
    env,
    processes,
    async close() {
      await endProcesses(processes);
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    },
  };
}
