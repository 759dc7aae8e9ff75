// The built program's verbs as processes in a private home. Guarantees: the program is as new as its source; nothing that was
// started lives after `close`. Must not know: what is tested.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { createEditorHome, type EditorHome } from '../editors/home.ts';

const root = path.join(import.meta.dirname, '../..');
const source = path.join(root, 'server/src');

/** The built program: `dist/main.js` where it is newer than every source file, else a bundle of its own. */
export async function builtProgram(): Promise<{ program: string; dispose: () => void }> {
  const dist = path.join(root, 'dist/main.js');
  const newest = fs
    .readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.statSync(path.join(entry.parentPath, entry.name)).mtimeMs)
    .reduce((a, b) => Math.max(a, b), 0);
  if (fs.existsSync(dist) && fs.statSync(dist).mtimeMs > newest) return { program: dist, dispose: () => {} };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'atomic-lsp-build-'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  await build({
    entryPoints: [path.join(source, 'main.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    define: { 'process.env.ATOMIC_LSP_VERSION': '"0.0.1"' },
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    logLevel: 'error',
  });
  return {
    program: path.join(folder, 'main.js'),
    dispose: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves with all output so far, once it matches. */
  shown(stream: 'out' | 'err', wanted: RegExp): Promise<string>;
}

export interface Cli {
  home: EditorHome;
  workspace: string;
  /** Starts a verb; `input` is all of its standard input. */
  start(args: readonly string[], how?: { env?: Record<string, string>; input?: string }): Running;
  run(args: readonly string[], how?: { env?: Record<string, string>; input?: string }): Promise<Ended>;
  close(): Promise<void>;
}

/** A private home with an empty workspace. */
export function createCli(program: string): Cli {
  const home = createEditorHome();
  const workspace = path.join(home.path, 'project');
  fs.mkdirSync(workspace);
  const start: Cli['start'] = (args, { env, input } = {}) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: workspace,
      env: { ...home.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const text = { out: '', err: '' };
    const looks = new Set<() => void>();
    const take = (to: 'out' | 'err') => (chunk: string) => {
      text[to] += chunk;
      for (const look of [...looks]) look();
    };
    child.stdout.setEncoding('utf8').on('data', take('out'));
    child.stderr.setEncoding('utf8').on('data', take('err'));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    const ended = once(child, 'close').then(([code]) => ({ code, ...text }));
    return {
      child,
      ended,
      shown: (stream, wanted) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (!wanted.test(text[stream])) return;
            looks.delete(look);
            resolve(text[stream]);
          };
          looks.add(look);
          void ended.then(() => {
            look();
            reject(new Error(`it ended without ${wanted}: ${JSON.stringify(text)}`));
          });
          look();
        }),
    };
  };
  return { home, workspace, start, run: (args, how) => start(args, how).ended, close: () => home.close() };
}

/** `ATOMIC_LSP_AGENT` and the rest of the environment for an agent choice. */
export const agentEnvironment = (agent: {
  command: string;
  args?: string[];
  env?: Record<string, string>;
}): Record<string, string> => ({
  ...agent.env,
  ATOMIC_LSP_AGENT: [agent.command, ...(agent.args ?? [])].map((word) => JSON.stringify(word)).join(' '),
});
