// A real Emacs with Eglot, driven over a socket of the test: as a daemon without a screen, or in a terminal. Guarantees that the
// language server is started by Eglot itself, that what it sends and what Emacs asks is an event, and that Emacs has ended after
// `close`. Must not know what is tested.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type EditorEvents, editorEvents, type WaitOptions } from '../editors/events.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { type EditorOptions, type EditorServer, projectFolder, settlesWithin } from '../editors/project.ts';
import { requiredEditor } from './editors.ts';
import { startTerminal, type Terminal } from './terminal.ts';

export interface EmacsOptions extends EditorOptions {
  /** Emacs Lisp, written to the user's `init.el` before the start. */
  init?: string;
  /** In a terminal of this size: with a screen, with keys, and with Emacs's own dialogs. */
  terminal?: { cols?: number; rows?: number };
  /** Who answers what Emacs asks: the test, with `answer` (without a screen, the default), or the minibuffer (in a terminal). */
  dialogs?: 'test' | 'own';
}

export interface Emacs {
  readonly home: EditorHome;
  readonly cwd: string;
  readonly pid: number;
  /** There when it was asked for. */
  readonly terminal: Terminal | undefined;
  /**
   * LSP methods that a server sent; `attach` and `detach` {file}; `exit`; and, answered by the test, `select` {id, prompt, items,
   * default} and `input` {id, prompt, default}.
   */
  readonly events: EditorEvents;
  /** Settles when Emacs has ended. */
  readonly exited: Promise<void>;
  /**
   * The value of the last of the Lisp forms, evaluated in the buffer of the selected window: nil is null, a list an object if
   * its keys allow it. Rejects with the message of a Lisp error, and the code of one that a server answered with.
   */
  eval<T = unknown>(lisp: string): Promise<T>;
  /** Opens a file, relative to `cwd`. */
  edit(file: string): Promise<void>;
  /** The text of the current buffer, or of that of a file. */
  text(file?: string): Promise<string>;
  /** Starts a server by Eglot for the current buffer's project. */
  startServer(server: EditorServer): Promise<void>;
  /** The first value of Lisp forms that is not nil. Emacs goes on meanwhile. */
  waitFor<T = unknown>(lisp: string, options?: WaitOptions): Promise<T>;
  /** Answers a `select` or an `input` with a text; null is C-g. */
  answer(id: number, answer: string | null): Promise<void>;
  /** `eglot-execute`, with its result. As for a person, Emacs does nothing else until the answer is there. */
  executeCommand<T = unknown>(command: string, args?: readonly unknown[]): Promise<T>;
  /** Signals Emacs, SIGKILL if not given, and waits for its end unless it is SIGSTOP or SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends Emacs without saving. With a home of its own, all that ran in it. */
  close(): Promise<void>;
}

const insidePart = path.join(import.meta.dirname, '../editors/emacs.el');

/** A Lisp string. */
export const lispString = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Starts Emacs; it has read its configuration and opened its files when this settles. */
export async function startEmacs(options: EmacsOptions = {}): Promise<Emacs> {
  const program = requiredEditor('emacs');
  const home = options.home ?? createEditorHome();
  const cwd = projectFolder(home, options.cwd);
  if (options.init !== undefined) {
    const folder = path.join(home.env.XDG_CONFIG_HOME!, 'emacs');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'init.el'), options.init);
  }
  const folder = fs.mkdtempSync(path.join(home.path, 'emacs-'));
  const address = path.join(folder, 'api');
  const listener = createServer().listen(address);
  const connected = once(listener, 'connection') as Promise<[Socket]>;
  connected.catch(() => {});
  const env = {
    ...options.env,
    ATOMIC_TEST_SOCKET: address,
    ATOMIC_TEST_DIALOGS: options.dialogs ?? (options.terminal ? 'own' : 'test'),
  };

  let terminal: Terminal | undefined;
  let exited: Promise<void>;
  let pid = 0;
  let output = async () => '';
  if (options.terminal) {
    const args = ['-nw', '-l', insidePart];
    const screen = await startTerminal({ ...options.terminal, command: program, args, cwd, home, env });
    terminal = screen;
    exited = screen.exited.then(() => {});
    pid = screen.pid;
    output = () => screen.screen();
  } else {
    const args = [`--fg-daemon=${path.basename(folder)}`, '-l', insidePart];
    const log = path.join(folder, 'log');
    const file = fs.openSync(log, 'w');
    const child = spawn(program, args, { cwd, env: { ...home.env, ...env }, stdio: ['ignore', file, file] });
    fs.closeSync(file);
    exited = once(child, 'exit').then(() => {});
    pid = child.pid ?? 0;
    output = async () => fs.readFileSync(log, 'utf8');
  }

  const events = editorEvents();
  let socket: Socket | undefined;
  let asked = 0;
  void exited.then(() => events.end('Emacs ended'));
  const send = (request: object) => void socket?.write(`${JSON.stringify(request)}\n`);
  const outcome = async (kind: string, id: number, timeout: number) => {
    const { error, value } = await events.next(kind, (data) => data.id === id, { timeout });
    if (!error) return value;
    throw Object.assign(new Error(error.message), error.code === null ? {} : { code: error.code });
  };

  let closing: Promise<void> | undefined;
  const emacs: Emacs = {
    home,
    cwd,
    pid,
    terminal,
    events,
    exited,
    eval(code) {
      const id = ++asked;
      send({ do: 'eval', id, code });
      return outcome('outcome', id, 60_000);
    },
    async edit(file) {
      await emacs.eval(`(find-file ${lispString(path.resolve(cwd, file))}) nil`);
    },
    text(file) {
      const buffer = file === undefined ? '(current-buffer)' : lispString(path.resolve(cwd, file));
      const found = file === undefined ? buffer : `(find-buffer-visiting ${buffer})`;
      return emacs.eval(
        `(with-current-buffer ${found} (buffer-substring-no-properties (point-min) (point-max)))`,
      );
    },
    async startServer(server) {
      await emacs.eval(`(atomic-test-start-server ${lispString(JSON.stringify(server))})`);
    },
    async waitFor(code, { timeout = 15_000 } = {}) {
      const id = ++asked;
      send({ do: 'await', id, code });
      return outcome('condition', id, timeout).catch((cause) => {
        throw new Error(`Emacs's ${code} did not come true: ${cause.message}`, { cause });
      });
    },
    async answer(id, answer) {
      send({ do: 'answer', id, answer });
    },
    executeCommand(command, args = []) {
      const request = JSON.stringify({ command, arguments: args });
      return emacs.eval(`(atomic-test-execute ${lispString(request)})`);
    },
    async kill(signal = 'SIGKILL') {
      signalled(pid, signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await exited;
    },
    close() {
      closing ??= (async () => {
        // Its sentinel ends Emacs, at the latest when it is not busy any more.
        socket?.end();
        if (socket === undefined || !(await settlesWithin(exited, 5_000))) {
          signalled(pid, 'SIGKILL');
          await exited;
        }
        socket?.destroy();
        listener.close();
        await terminal?.close();
        if (options.home === undefined) await home.close();
      })();
      return closing;
    },
  };
  try {
    const failed = exited.then(async () => {
      throw new Error(`Emacs ended at its start:\n${await output()}`);
    });
    failed.catch(() => {});
    [socket] = await Promise.race([connected, failed]);
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => events.add(JSON.parse(line)));
    await Promise.race([events.next('started'), failed]);
    for (const file of options.files ?? []) await emacs.edit(file);
    if (options.server) await emacs.startServer(options.server);
    return emacs;
  } catch (error) {
    await emacs.close();
    throw error;
  }
}
