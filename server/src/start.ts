#!/usr/bin/env node
// Loads the program. Guarantees: what Node has compiled of it is kept for the next start, in the user's own cache folder and for
// this user alone; whatever is wrong with that, the program runs as without it. Must not know: verbs, what the program does.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';

/** Of the CommonJS module that this file is built into. */
declare const require: unknown;
declare const module: { exports: unknown };

/** Milliseconds after which what was compiled is kept: the start is over by then. */
const settled = 2_000;

const { argv, env, version, arch } = process;
const main = import.meta.filename;
const file = path.join(import.meta.dirname, 'program.js');

/** A cache for each way to run, since each uses other parts of the program. */
const verb = /^[a-z-]+$/.exec(argv[2]?.startsWith('-') ? '' : (argv[2] ?? ''))?.[0] ?? 'server';

function cacheFolder(): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const home = env.HOME || os.homedir();
  const base =
    env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME)
      ? env.XDG_CACHE_HOME
      : process.platform === 'win32' && env.LOCALAPPDATA
        ? env.LOCALAPPDATA
        : path.join(home, '.cache');
  return path.join(base, 'atomic-lsp', 'code');
}

const folder = cacheFolder();
const prefix = `${verb}-${version}-${arch}-`;
/** Another build is another file: V8 itself only compares the length of the source. */
const { size, mtimeMs } = fs.statSync(file);
const name = `${prefix}${size}-${Math.round(mtimeMs)}.bin`;

/** What an earlier start has kept; undefined where there is none, or where somebody else could have written it. */
function kept(): Buffer | undefined {
  if (folder === undefined) return undefined;
  try {
    const handle = fs.openSync(path.join(folder, name), 'r');
    try {
      const { uid, mode } = fs.fstatSync(handle);
      const ours = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
      return ours ? fs.readFileSync(handle) : undefined;
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

/** Written whole or not at all; what earlier builds left is removed. */
function keep(script: vm.Script, where: string): void {
  try {
    fs.mkdirSync(where, { recursive: true, mode: 0o700 });
    const fresh = path.join(where, `${name}.${process.pid}.new`);
    fs.writeFileSync(fresh, script.createCachedData(), { mode: 0o600 });
    fs.renameSync(fresh, path.join(where, name));
    for (const old of fs.readdirSync(where))
      if (old.startsWith(prefix) && old.endsWith('.bin') && old !== name) fs.rmSync(path.join(where, old));
  } catch {
    // A full disk or a folder that cannot be written costs the time of the next start.
  }
}

const cachedData = kept();
// The build escapes whatever is not ASCII, and text of one byte each is read the fastest.
const script = new vm.Script(fs.readFileSync(file, 'latin1'), {
  filename: file,
  ...(cachedData && { cachedData }),
});
if (folder !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
  const once = () => {
    clearTimeout(timer);
    process.off('exit', once);
    keep(script, folder);
  };
  const timer = setTimeout(once, settled).unref();
  process.on('exit', once);
}
script.runInThisContext()(module.exports, require, module, main, import.meta.dirname);
