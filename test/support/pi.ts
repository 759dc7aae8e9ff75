// The real pi, from npm, as an agent for tests. Guarantees: installed once for a lock file, whoever of several test processes
// comes first; each agent has a private home, talks to the given model server alone and reaches no network.
// Must not know: sessions, editors, what is said to it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelServer } from './model-server.ts';

export interface Program {
  command: string;
  args: string[];
}

/** How an agent is chosen for a session; what else a test needs of it. */
export interface PiAgent extends Program {
  env: Record<string, string>;
  /** The agent's private home; `agent/` in it holds settings, models, sessions. */
  home: string;
  /** A folder that holds the agent as a program named `pi`, for PATH. */
  bin: string;
  /** Removes the home, unless the test gave it. */
  dispose(): void;
}

export interface PiOptions {
  model: ModelServer;
  /** An existing folder to live in, to be found again by a second agent; otherwise a new temporary one. */
  home?: string;
  /** Names of test/agents/extensions (`dialogs`) or absolute paths. */
  extensions?: readonly string[];
  /** More arguments of pi. */
  args?: readonly string[];
  /** Added to settings.json, over a retry without waiting. */
  settings?: Record<string, unknown>;
}

const agents = fileURLToPath(new URL('../agents/', import.meta.url));
const older = join(agents, 'pi-0.58');

/** Provider and models that every agent here has: `scripted` writes text, `thinker` thinks and sees images too. */
export const provider = 'local';
export const models = ['scripted', 'thinker'] as const;

/** pi 1.6.0 and a Node that can run it (22.19 or newer). The first call installs them with `npm ci`, needing a registry. */
export async function ensurePi(): Promise<Program> {
  await installed(agents);
  return {
    command: node(),
    args: [join(agents, 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js')],
  };
}

/** pi 0.58.3, whose `message_update`s are cumulative. The first call installs it. */
export async function ensurePi058(): Promise<Program> {
  await installed(older);
  return {
    command: process.execPath,
    args: [join(older, 'node_modules/@mariozechner/pi-coding-agent/dist/cli.js')],
  };
}

/** An agent choice that runs pi 1.6.0 against the model server. */
export const piAgent = async (options: PiOptions): Promise<PiAgent> => atHome(await ensurePi(), options);

/** An agent choice that runs pi 0.58.3 against the model server; the extensions of the newer one do not fit. */
export const pi058Agent = async (options: PiOptions): Promise<PiAgent> =>
  atHome(await ensurePi058(), options);

function atHome(program: Program, options: PiOptions): PiAgent {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'atomic-lsp-pi-'));
  const agentFolder = join(home, 'agent');
  const bin = join(home, 'bin');
  for (const folder of [agentFolder, bin]) mkdirSync(folder, { recursive: true });
  const common = {
    contextWindow: 128_000,
    maxTokens: 16_384,
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  };
  const settings = join(agentFolder, 'settings.json');
  write(join(agentFolder, 'models.json'), {
    providers: {
      [provider]: {
        baseUrl: options.model.url,
        api: 'openai-completions',
        apiKey: 'none',
        models: [
          { id: models[0], name: 'Scripted', ...common },
          { id: models[1], name: 'Thinker', reasoning: true, input: ['text', 'image'], ...common },
        ],
      },
    },
  });
  // An agent that lives here again keeps what it saved.
  if (!existsSync(settings) || options.settings)
    write(settings, {
      defaultProvider: provider,
      defaultModel: models[0],
      retry: { enabled: true, maxRetries: 3, baseDelayMs: 10 },
      ...options.settings,
    });
  const args = [
    ...program.args,
    ...(options.extensions ?? []).flatMap((name) => ['-e', extensionPath(name)]),
    ...(options.args ?? []),
  ];
  const launcher = join(bin, 'pi');
  writeFileSync(
    launcher,
    `#!${process.execPath}\nconst { spawn } = require('node:child_process');\n` +
      `const child = spawn(${JSON.stringify(program.command)}, [...${JSON.stringify(args)}, ...process.argv.slice(2)], { stdio: 'inherit' });\n` +
      `for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => child.kill(name));\n` +
      `child.on('exit', (code) => process.exit(code ?? 1));\n`,
  );
  chmodSync(launcher, 0o755);
  const choice = {
    command: program.command,
    args,
    env: {
      HOME: home,
      PI_CODING_AGENT_DIR: agentFolder,
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
      // Loopback is not reached through a proxy.
      NO_PROXY: '127.0.0.1,localhost',
      no_proxy: '127.0.0.1,localhost',
    },
  };
  return besides(choice, {
    home,
    bin,
    dispose() {
      if (options.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  });
}

/** An agent choice with more for the test, which is not seen where the choice is sent or checked. */
export function besides<Choice extends object, More extends object>(
  choice: Choice,
  more: More,
): Choice & More {
  for (const [name, value] of Object.entries(more))
    Object.defineProperty(choice, name, { value, enumerable: false });
  return choice as Choice & More;
}

const extensionPath = (name: string): string =>
  name.startsWith('/') ? name : join(agents, 'extensions', `${name}.ts`);

const write = (path: string, value: unknown): void =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** The Node that runs pi: our own when it is new enough, else the one that came with the install. */
function node(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  const found = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`]
    .map((name) => join(agents, 'node_modules', name, 'bin/node'))
    .find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    `pi needs Node 22.19 or newer, and none is packaged for ${process.platform} on ${process.arch}: run the tests with a newer Node.`,
  );
}

const installs = new Map<string, Promise<void>>();

/** Resolves once the folder's node_modules are those of its lock file. */
function installed(folder: string): Promise<void> {
  const running = installs.get(folder) ?? install(folder);
  installs.set(folder, running);
  return running;
}

async function install(folder: string): Promise<void> {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const wanted = createHash('sha256')
    .update(`${process.platform} ${process.arch}\n`)
    .update(lock)
    .digest('hex');
  const stamp = join(folder, 'node_modules/.installed');
  const ready = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (ready()) return;
  const release = await locked(createHash('sha256').update(folder).digest('hex').slice(0, 16));
  try {
    if (ready()) return;
    // Nothing here is built on install; the programs come ready-made.
    await npm(folder, ['ci', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund']);
    writeFileSync(stamp, wanted);
  } finally {
    await release();
  }
}

function npm(folder: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `npm ${args[0]} in ${folder} failed (exit ${code}); the real agent's tests need a registry once.\n${Buffer.concat(said).toString('utf8').slice(-2_000)}`,
          ),
        );
    });
  });
}

/**
 * A lock over processes that ends with its holder: listening on a socket. Who comes second waits until the first one's
 * connection ends. Resolves with the release.
 */
async function locked(name: string): Promise<() => Promise<void>> {
  const abstract = process.platform === 'linux';
  const path = `${abstract ? '\0' : `${tmpdir()}/`}atomic-lsp-agents-${process.getuid?.() ?? 0}-${name}`;
  for (;;) {
    const release = await new Promise<(() => Promise<void>) | undefined>((resolve, reject) => {
      const waiting = new Set<{ destroy(): void }>();
      const server = createServer((socket) => {
        waiting.add(socket.on('error', () => {}));
      });
      server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') resolve(undefined);
        else reject(error);
      });
      server.listen(path, () =>
        resolve(
          () =>
            new Promise((closed) => {
              server.close(() => closed());
              for (const socket of waiting) socket.destroy();
            }),
        ),
      );
    });
    if (release) return release;
    await new Promise<void>((over) => {
      const socket = connect(path);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // Left behind by a holder that died, where sockets are files.
        if (!abstract && error.code === 'ECONNREFUSED') rmSync(path, { force: true });
      });
      socket.on('close', () => over());
      socket.resume();
    });
  }
}
