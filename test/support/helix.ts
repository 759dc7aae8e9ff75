// A real Helix in a terminal. Guarantees that its configuration is what the options say and nothing else, that waiting is for what
// a person would see, and that it has ended after `close`. Must not know what is tested.
import fs from 'node:fs';
import path from 'node:path';
import type { WaitOptions } from '../editors/events.ts';
import { lookedFor } from '../editors/files.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { type EditorOptions, type EditorServer, projectFolder, settlesWithin } from '../editors/project.ts';
import { requiredEditor } from './editors.ts';
import { type ScreenCondition, startTerminal, type Terminal } from './terminal.ts';

export interface HelixOptions extends EditorOptions {
  /** The user's `languages.toml`; what `server` needs is written in front of it. */
  languagesToml?: string;
  /** The user's `config.toml`. Without it, progress is shown with its text. */
  configToml?: string;
  cols?: number;
  rows?: number;
}

export interface Helix {
  readonly home: EditorHome;
  readonly cwd: string;
  readonly pid: number;
  readonly terminal: Terminal;
  readonly exited: Promise<number | undefined>;
  /** A typed command without its colon, from any mode: `lsp-workspace-command stub.hello`. */
  command(line: string): Promise<void>;
  /** Runs a command of the language server by its name, as a person does (25.01 takes no arguments). */
  executeCommand(command: string): Promise<void>;
  /** Types text in insert mode at the cursor, and leaves insert mode. */
  insert(text: string): Promise<void>;
  screen(): Promise<string>;
  waitForScreen(wanted: ScreenCondition, options?: WaitOptions): Promise<string>;
  /** What Helix wrote in its log, which with `server` has the messages of the language server. */
  log(): string;
  /** Waits until the log matches: with `server`, `-> ` and `<- ` begin what was sent to it and what came. */
  waitForLog(wanted: RegExp | string, options?: WaitOptions): Promise<void>;
  /** Signals it, SIGKILL if not given, and waits for its end unless it is SIGSTOP or SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Quits as a user would, without saving; ends it if it does not quit. With a home of its own, all that ran in it. */
  close(): Promise<void>;
}

/** One escape would become the Alt of the key after it when Helix reads both at once. */
const escapeKey = '\x1b\x1b';

/** Starts Helix; its status line is to be seen, and `server` knows a Markdown or text file of `files`, when this settles. */
export async function startHelix(options: HelixOptions = {}): Promise<Helix> {
  const program = requiredEditor('hx');
  const home = options.home ?? createEditorHome();
  const cwd = projectFolder(home, options.cwd);
  const folder = path.join(home.env.XDG_CONFIG_HOME!, 'helix');
  fs.mkdirSync(folder, { recursive: true });
  const languages = `${options.server ? serverToml(options.server) : ''}${options.languagesToml ?? ''}`;
  fs.writeFileSync(path.join(folder, 'languages.toml'), languages);
  const config = options.configToml ?? '[editor.lsp]\ndisplay-progress-messages = true\n';
  fs.writeFileSync(path.join(folder, 'config.toml'), config);
  const log = path.join(fs.mkdtempSync(path.join(home.path, 'hx-')), 'log');

  const terminal = await startTerminal({
    command: program,
    args: ['-v', '--log', log, ...(options.files ?? [])],
    cwd,
    home,
    ...(options.env && { env: options.env }),
    ...(options.cols && { cols: options.cols }),
    ...(options.rows && { rows: options.rows }),
  });
  let closing: Promise<void> | undefined;
  const helix: Helix = {
    home,
    cwd,
    pid: terminal.pid,
    terminal,
    exited: terminal.exited,
    command: (line) => terminal.text(`${escapeKey}:${line}\r`),
    executeCommand: (command) => helix.command(`lsp-workspace-command ${command}`),
    insert: (text) => terminal.text(`${escapeKey}i${text}${escapeKey}`),
    screen: terminal.screen,
    waitForScreen: terminal.waitForScreen,
    log: () => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : ''),
    async waitForLog(wanted, { timeout = 15_000 } = {}) {
      const matches = () =>
        (typeof wanted === 'string' ? helix.log().includes(wanted) : wanted.test(helix.log()))
          ? true
          : undefined;
      await lookedFor(path.dirname(log), matches, AbortSignal.timeout(timeout)).catch((cause) => {
        throw new Error(`Helix's log has no ${wanted}:\n${helix.log().slice(-4_000)}`, { cause });
      });
    },
    async kill(signal = 'SIGKILL') {
      terminal.kill(signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await terminal.exited;
    },
    close() {
      closing ??= (async () => {
        await helix.command('quit-all!').catch(() => {});
        // It waits up to three seconds for its language servers.
        await settlesWithin(terminal.exited, 5_000);
        await terminal.close();
        if (options.home === undefined) await home.close();
      })();
      return closing;
    },
  };
  try {
    const started = helix.waitForScreen(/^ *(NOR|INS|SEL) /m);
    const failed = terminal.exited.then(async () => {
      throw new Error(`Helix ended at its start:\n${await terminal.screen()}\n${helix.log()}`);
    });
    failed.catch(() => {});
    started.catch(() => {});
    await Promise.race([started, failed]);
    if (options.server && options.files?.some((file) => /\.(?:md|txt)$/.test(file)))
      await helix.waitForLog('"method":"initialized"');
    return helix;
  } catch (error) {
    await helix.close();
    throw error;
  }
}

/** The configuration of a server for Markdown and plain text, in TOML. */
function serverToml({
  command,
  args = [],
  env = {},
  initializationOptions = {},
  name = 'atomic',
}: EditorServer) {
  const servers = `language-servers = [${toml(name)}]`;
  return `[language-server.${toml(name)}]
command = ${toml(command)}
args = ${toml(args)}
environment = ${toml(env)}
config = ${toml(initializationOptions)}
timeout = 60

[[language]]
name = "markdown"
${servers}

[[language]]
name = "plaintext"
scope = "text.plain"
file-types = ["txt"]
${servers}

`;
}

/** A JSON value as a TOML value on one line. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    // The escapes of JSON are escapes of TOML; DEL alone needs one more.
    return JSON.stringify(value).replaceAll('\u007f', '\\u007F');
  }
  if (value === null || typeof value !== 'object') throw new Error(`TOML has no ${value}`);
  const pairs = Object.entries(value).map(([key, item]) => `${toml(key)} = ${toml(item)}`);
  return `{ ${pairs.join(', ')} }`;
}
