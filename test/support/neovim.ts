// A real Neovim, driven over its own API: without a screen, or in a terminal. Guarantees that the language server is started with
// what Neovim brings alone, that what it sends and what Neovim asks is an event, and that Neovim has ended after `close`. Must not
// know what is tested.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { attach, type NeovimClient } from 'neovim';
import { type EditorEvents, editorEvents, type WaitOptions } from '../editors/events.ts';
import { textOf } from '../editors/files.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { type EditorOptions, type EditorServer, projectFolder, settlesWithin } from '../editors/project.ts';
import { requiredEditor } from './editors.ts';
import { startTerminal, type Terminal } from './terminal.ts';

export interface NeovimOptions extends EditorOptions {
  /** Lua, written to the user's `init.lua` before the start. */
  init?: string;
  /** In a terminal of this size: with a screen, with keys, and with Neovim's own dialogs. */
  terminal?: { cols?: number; rows?: number };
  /**
   * Who answers vim.ui.select and vim.ui.input: the test, with `answer` (without a screen, the default), or Neovim's own
   * dialogs (in a terminal, the default).
   */
  dialogs?: 'test' | 'own';
}

export interface NeovimServer extends EditorServer {
  /** The root folder for all files; if not given, each file's own Git repository. */
  root?: string;
}

/** A failure that the language server answered with. */
export interface ResponseError extends Error {
  code: number;
}

export interface Neovim {
  readonly home: EditorHome;
  readonly cwd: string;
  /** The process that edits (in a terminal the screen is another one). */
  readonly pid: number;
  /** The whole API. */
  readonly api: NeovimClient;
  /** There when it was asked for. */
  readonly terminal: Terminal | undefined;
  /**
   * LSP methods that a server sent; `attach` and `detach` {client, file}; `initialized` {client, capabilities}; `exit` {client,
   * code, signal}; `notify` {message, level}; and, answered by the test, `select` {id, prompt, kind, items} and `input` {id,
   * prompt, default}.
   */
  readonly events: EditorEvents;
  /** Settles when Neovim has ended. */
  readonly exited: Promise<void>;
  /** Runs Lua with `...` as the arguments; gives what it returns. */
  lua<T = unknown>(code: string, ...args: unknown[]): Promise<T>;
  /** Opens a file, relative to `cwd`. */
  edit(file: string): Promise<void>;
  /** The lines of the current buffer, or of that of a file. */
  text(file?: string): Promise<string>;
  /** Starts a server for the current buffer and all later ones; gives its client's number when it can be used. */
  startServer(server: NeovimServer): Promise<number>;
  /** The first value of a Lua expression (or chunk) that is neither nil nor false. Neovim goes on meanwhile. */
  waitFor<T = unknown>(lua: string, options?: WaitOptions): Promise<T>;
  /** Answers a `select` with the number of an item (from 1), an `input` with a text; null dismisses either. */
  answer(id: number, answer: number | string | null): Promise<void>;
  /** Sends a request to the language server (the first, unless a client is named), rejects with a ResponseError. */
  request<T = unknown>(method: string, params?: unknown, client?: number): Promise<T>;
  /** `workspace/executeCommand`, with its result. */
  executeCommand<T = unknown>(command: string, args?: readonly unknown[], client?: number): Promise<T>;
  /** Signals the process that edits, SIGKILL if not given, and waits for its end unless it is SIGSTOP or SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Quits as a user would, without saving; ends it if it does not quit. With a home of its own, all that ran in it. */
  close(): Promise<void>;
}

const insidePart = path.join(import.meta.dirname, '../editors/neovim.lua');
const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {}, level: 'error' } as never;

/** Starts Neovim; it has read its configuration and opened its files when this settles. */
export async function startNeovim(options: NeovimOptions = {}): Promise<Neovim> {
  const program = requiredEditor('nvim');
  const home = options.home ?? createEditorHome();
  const cwd = projectFolder(home, options.cwd);
  if (options.init !== undefined) {
    const folder = path.join(home.env.XDG_CONFIG_HOME!, 'nvim');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'init.lua'), options.init);
  }
  const args = ['--cmd', `lua dofile(${JSON.stringify(insidePart)})`];
  if ((options.dialogs ?? (options.terminal ? 'own' : 'test')) === 'test')
    args.push('--cmd', 'lua atomic_test.take_dialogs()');
  const files = options.files?.length ? ['--', ...options.files] : [];

  let terminal: Terminal | undefined;
  let api: NeovimClient;
  let exited: Promise<void>;
  if (options.terminal) {
    const listening = path.join(fs.mkdtempSync(path.join(home.path, 'nvim-')), 'api');
    args.push('--cmd', `lua vim.fn.writefile({}, ${JSON.stringify(`${listening}.up`)})`);
    const watching = new AbortController();
    const up = textOf(`${listening}.up`, watching.signal);
    terminal = await startTerminal({
      ...options.terminal,
      command: program,
      args: ['--listen', listening, ...args, ...files],
      cwd,
      home,
      ...(options.env && { env: options.env }),
    });
    exited = terminal.exited.then(() => {});
    const failed = exited.then(async () => {
      throw new Error(`Neovim ended at its start:\n${await terminal!.screen()}`);
    });
    failed.catch(() => {});
    up.catch(() => {});
    try {
      await Promise.race([up, failed]);
    } catch (error) {
      await terminal.close();
      if (options.home === undefined) await home.close();
      throw error;
    } finally {
      watching.abort();
    }
    const socket = createConnection(listening);
    socket.on('error', () => {});
    api = attach({ reader: socket, writer: socket, options: { logger: silent } });
  } else {
    const child = spawn(program, ['--embed', '--headless', ...args, ...files], {
      cwd,
      env: { ...home.env, ...options.env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Its stdout may be held open by a language server that lives on, so `close` is not its end.
    exited = once(child, 'exit').then(() => {});
    child.stdin.on('error', () => {});
    api = attach({ proc: child, options: { logger: silent } });
  }

  const events = editorEvents();
  api.on('notification', (name: string, [text]: [string]) => {
    if (name === 'atomic_test') events.add(JSON.parse(text));
  });
  void exited.then(() => events.end('Neovim ended'));
  // The client leaves what was asked unanswered then.
  const gone = exited.then(() => Promise.reject(new Error('Neovim ended')));
  gone.catch(() => {});
  let asked = 0;
  const outcome = async (kind: string, id: number, timeout: number) =>
    events.next(kind, (data) => data.id === id, { timeout });

  let closing: Promise<void> | undefined;
  const neovim: Neovim = {
    home,
    cwd,
    pid: 0,
    api,
    terminal,
    events,
    exited,
    lua: (code, ...rest) => Promise.race([api.lua(code, rest as []), gone]) as Promise<never>,
    async edit(file) {
      await neovim.lua('vim.cmd.edit({ vim.fn.fnameescape(...) })', file);
    },
    async text(file) {
      const lines = await neovim.lua<string[]>(
        'local f = ...; return vim.api.nvim_buf_get_lines(f and vim.fn.bufnr(f) or 0, 0, -1, false)',
        ...(file === undefined ? [] : [path.resolve(cwd, file)]),
      );
      return lines.join('\n');
    },
    async startServer({ command, args = [], name = 'atomic', ...rest }) {
      const server = JSON.stringify({ ...rest, name, cmd: [command, ...args] });
      const client = await neovim.lua<number | null>(
        'return atomic_test.start_server(vim.json.decode((...)))',
        server,
      );
      if (client === null) throw new Error(`Neovim did not start ${command}`);
      const state = await neovim.waitFor<string>(
        `(function() local c = vim.lsp.get_client_by_id(${client})
          return not c and 'ended' or c.initialized and 'initialized' end)()`,
      );
      if (state === 'ended') throw new Error(`${command} ended at its start:\n${lspLog(home)}`);
      return client;
    },
    async waitFor(lua, { timeout = 30_000 } = {}) {
      const id = ++asked;
      await neovim.lua('atomic_test.await(...)', id, lua);
      const { error, value } = await outcome('condition', id, timeout).catch((cause) => {
        throw new Error(`Neovim's ${lua} did not come true`, { cause });
      });
      if (error !== undefined) throw new Error(error);
      return value;
    },
    async answer(id, answer) {
      await neovim.lua('atomic_test.answer(...)', id, ...(answer === null ? [] : [answer]));
    },
    async request(method, params = {}, client) {
      const id = ++asked;
      const code =
        'local id, client, method, params = ...; atomic_test.request(id, client > 0 and client or nil, method, vim.json.decode(params))';
      await neovim.lua(code, id, client ?? 0, method, JSON.stringify(params));
      const { error, result } = await outcome('response', id, 60_000);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
    executeCommand: (command, args = [], client) =>
      neovim.request('workspace/executeCommand', { command, arguments: args }, client),
    async kill(signal = 'SIGKILL') {
      signalled(neovim.pid, signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await exited;
    },
    close() {
      closing ??= (async () => {
        void neovim.lua('vim.schedule(function() vim.cmd("qall!") end)').catch(() => {});
        if (!(await settlesWithin(exited, 5_000))) {
          signalled(neovim.pid, 'SIGKILL');
          await exited;
        }
        await terminal?.close();
        if (options.home === undefined) await home.close();
      })();
      return closing;
    },
  };
  try {
    Object.assign(neovim, { pid: await neovim.lua<number>('return vim.uv.os_getpid()') });
    await neovim.lua('atomic_test.connect(...)', await api.channelId);
    await neovim.waitFor('vim.v.vim_did_enter == 1');
    if (options.server) await neovim.startServer(options.server);
    return neovim;
  } catch (error) {
    await neovim.close();
    throw error;
  }
}

function lspLog(home: EditorHome): string {
  const file = path.join(home.env.XDG_STATE_HOME!, 'nvim/lsp.log');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(-4_000) : '';
}
