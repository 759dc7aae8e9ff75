// A real terminal for programs that need one, by tmux. Guarantees a tmux server of its own for each terminal, that
// waiting for the screen wakes up on output and not on a clock, and that the program is gone after `close`. Must not
// know which program runs.
//
// tmux runs in control mode: commands go in as lines, replies come back between %begin and %end, and whatever the
// program writes is announced with %output.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { textOf } from '../editors/files.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';

export interface TerminalOptions {
  command: string;
  args?: readonly string[];
  cwd?: string;
  /** Added to the environment of the home. */
  env?: Readonly<Record<string, string>>;
  cols?: number;
  rows?: number;
  /** A home to share; without it the terminal has its own and removes it. */
  home?: EditorHome;
}

/** What `waitForScreen` takes: the screen matches, contains, or satisfies it. */
export type ScreenCondition = RegExp | string | ((screen: string) => boolean);

/** A program in a terminal. */
export interface Terminal {
  readonly home: EditorHome;
  /** The process id of the program. */
  readonly pid: number;
  /** Settles when the program has ended, with its exit status (undefined after a signal). */
  readonly exited: Promise<number | undefined>;
  /** Presses keys by their tmux names: `Enter`, `Escape`, `C-x`, `M-x`, `Up`, or a single character. */
  keys(...names: string[]): Promise<void>;
  /** Types text as it is; a newline is the Enter key. */
  text(literal: string): Promise<void>;
  /** What is to be seen, blanks at the ends of lines left out. */
  screen(): Promise<string>;
  /** The same with colours, for `test/editors/terminal-picture.mjs`. */
  ansi(): Promise<string>;
  /** Waits until the screen is as wanted, and returns it. */
  waitForScreen(wanted: ScreenCondition, options?: { timeout?: number }): Promise<string>;
  resize(cols: number, rows: number): Promise<void>;
  /** Signals the program. */
  kill(signal?: NodeJS.Signals): void;
  /** Ends the program and its terminal; safe to call twice. */
  close(): Promise<void>;
}

const runner = path.join(import.meta.dirname, '../editors/run.sh');

const settings = [
  'set -g default-terminal tmux-256color',
  'set -sa terminal-features ",*:RGB"',
  'set -s escape-time 0',
  'set -g status off',
  'set -g remain-on-exit on',
  'set -g automatic-rename off',
  'set -g allow-rename off',
  'set -g focus-events off',
  // Nothing is left when the tests are killed: their end of the control client's pipe goes, then tmux, then the program.
  'set -s exit-unattached on',
];

/** Starts a program in a terminal of its own. */
export async function startTerminal(options: TerminalOptions): Promise<Terminal> {
  const home = options.home ?? createEditorHome();
  const folder = fs.mkdtempSync(path.join(home.path, 'tty-'));
  fs.writeFileSync(path.join(folder, 'tmux.conf'), `${settings.join('\n')}\n`);
  const { cols = 100, rows = 30, args = [] } = options;
  const server = ['-u', '-S', path.join(folder, 'tmux'), '-f', path.join(folder, 'tmux.conf')];
  // `window-size manual` in the settings would do too, but tmux 3.3 dies of it; resize-window sets it for the window.
  const session = ['new-session', '-x', `${cols}`, '-y', `${rows}`, '-c', options.cwd ?? home.path];
  const tmux = spawn('tmux', [...server, '-C', ...session, '--', runner, folder, options.command, ...args], {
    env: { ...home.env, TERM: 'xterm-256color', COLORTERM: 'truecolor', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const control = controlMode(tmux);
  const ask = (...words: string[]) => control.ask(words.map(quoted).join(' '));

  const closed = once(tmux, 'close').then(() => {});
  const over = new AbortController();
  void closed.then(() => over.abort());
  const gone = closed.then(() => Promise.reject(new Error('tmux ended')));
  gone.catch(() => {});
  const exited = textOf(path.join(folder, 'exit'), over.signal).then(
    (status) => (Number(status) < 128 ? Number(status) : undefined),
    () => undefined,
  );
  let closing: Promise<void> | undefined;
  const close = async () => {
    if (tmux.exitCode === null) tmux.stdin.end('kill-server\n');
    signalled(pid, 'SIGKILL');
    await closed;
    if (options.home === undefined) await home.close();
    else fs.rmSync(folder, { recursive: true, force: true });
  };
  const capture = async (...flags: string[]) => (await ask('capture-pane', '-p', ...flags)).join('\n');
  const screen = async () => (await capture()).replace(/[ \t]+$/gm, '').trimEnd();

  let pid = 0;
  try {
    await control.attached;
    await ask('resize-window', '-x', `${cols}`, '-y', `${rows}`);
    pid = Number(await Promise.race([textOf(path.join(folder, 'pid'), over.signal), gone]));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    home,
    pid,
    exited,
    screen,
    ansi: () => capture('-e', '-N'),
    async keys(...names) {
      await ask('send-keys', ...names);
    },
    async text(literal) {
      const bytes = [...Buffer.from(literal.replace(/\r?\n/g, '\r'))].map((byte) => byte.toString(16));
      for (let at = 0; at < bytes.length; at += 500)
        await ask('send-keys', '-H', ...bytes.slice(at, at + 500));
    },
    async waitForScreen(wanted, { timeout = 30_000 } = {}) {
      let ended: string | undefined;
      let stop = () => {};
      const over = new Promise<void>((resolve) => {
        stop = resolve;
      });
      const timer = setTimeout(() => {
        ended = 'in time';
        stop();
      }, timeout);
      void closed.then(() => {
        ended = 'before the terminal was closed';
        stop();
      });
      try {
        for (;;) {
          const changed = control.changed();
          const seen = await screen();
          if (satisfied(seen, wanted)) return seen;
          if (ended !== undefined) throw new Error(`The screen did not become ${wanted} ${ended}:\n${seen}`);
          await Promise.race([changed, over]);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    async resize(columns, lines) {
      await ask('resize-window', '-x', `${columns}`, '-y', `${lines}`);
    },
    kill: (signal = 'SIGTERM') => void signalled(pid, signal),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function satisfied(screen: string, wanted: ScreenCondition): boolean {
  if (typeof wanted === 'string') return screen.includes(wanted);
  return wanted instanceof RegExp ? screen.search(wanted) >= 0 : wanted(screen);
}

/** A word of a tmux command line. */
const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Speaks tmux's control mode: replies in the order of the commands, and an event for each output of the program. */
function controlMode(tmux: ChildProcess) {
  const events = new EventEmitter().setMaxListeners(0);
  const waiting: { resolve(lines: string[]): void; reject(error: Error): void }[] = [];
  let reply: { guard: string; own: boolean; lines: string[] } | undefined;
  let errors = '';

  const onLine = (line: string) => {
    const [kind, ...words] = line.split(' ');
    if (reply !== undefined) {
      if ((kind !== '%end' && kind !== '%error') || words.join(' ') !== reply.guard) {
        reply.lines.push(line);
        return;
      }
      const { own, lines } = reply;
      reply = undefined;
      if (!own) return;
      const request = waiting.shift();
      if (kind === '%end') request?.resolve(lines);
      else request?.reject(new Error(`tmux: ${lines.join('\n')}`));
    } else if (kind === '%begin') {
      // The last word says whether the reply is to a command of ours or to one of tmux's own.
      reply = { guard: words.join(' '), own: words[2] === '1', lines: [] };
    } else if (kind === '%output') {
      events.emit('changed');
    } else if (kind === '%session-changed') {
      events.emit('attached');
    }
  };
  createInterface({ input: tmux.stdout! }).on('line', onLine);
  tmux.stderr!.on('data', (chunk) => {
    errors += chunk;
  });
  tmux.stdin!.on('error', () => {});
  const ended = (why: string) => {
    for (const request of waiting.splice(0)) request.reject(new Error(`tmux ended: ${why}`));
  };
  tmux.on('error', (error) => ended(error.message));
  tmux.on('close', () => ended(errors));

  const attached = new Promise<void>((resolve) => events.once('attached', resolve));
  tmux.once('close', () => events.emit('attached'));

  return {
    /** Settles when there is a session that commands are about, or none will be. */
    attached,
    /** Settles at the next output of the program. */
    changed: () => new Promise<undefined>((resolve) => events.once('changed', () => resolve(undefined))),
    ask: (line: string) =>
      new Promise<string[]>((resolve, reject) => {
        if (tmux.exitCode !== null || !tmux.stdin!.writable)
          return reject(new Error(`tmux ended: ${errors}`));
        waiting.push({ resolve, reject });
        tmux.stdin!.write(`${line}\n`);
      }),
  };
}
