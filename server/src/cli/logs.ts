// The hub's log for a person. Guarantees: with `follow`, every line that is written is shown once, also when the file is
// rotated. Must not know: what is logged.
import fs from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { harmless } from './render.ts';
import { exitCodes, line, type Terminal } from './terminal.ts';

export interface LogsOptions {
  follow: boolean;
  json: boolean;
  /** How many of the last lines are shown first. */
  lines: number;
}

/** Shows the log; with `follow` until Ctrl-C. */
export async function runLogs(terminal: Terminal, options: LogsOptions): Promise<number> {
  const { output, error, places } = terminal;
  const file = path.join(places.log, 'hub.log');
  const show = (text: string) => line(output, options.json ? text : readableLine(text));
  let place = { inode: 0, at: 0 };
  let decoder = new StringDecoder('utf8');
  let open = '';

  /** Shows what was added; a file that is another one now is shown from its beginning. */
  const look = (first: boolean): boolean => {
    let descriptor: number;
    try {
      descriptor = fs.openSync(file, 'r');
    } catch {
      return false;
    }
    try {
      const { ino, size } = fs.fstatSync(descriptor);
      if (ino !== place.inode || size < place.at) {
        place = { inode: ino, at: 0 };
        decoder = new StringDecoder('utf8');
        open = '';
      }
      const fresh = Buffer.alloc(size - place.at);
      const read = fs.readSync(descriptor, fresh, 0, fresh.length, place.at);
      place.at += read;
      const texts = (open + decoder.write(fresh.subarray(0, read))).split('\n');
      open = texts.pop() ?? '';
      const whole = texts.filter((text) => text !== '');
      for (const text of first ? whole.slice(whole.length - Math.min(options.lines, whole.length)) : whole)
        show(text);
      return true;
    } finally {
      fs.closeSync(descriptor);
    }
  };
  const found = look(true);
  if (!options.follow) {
    if (!found) line(error, `atomic-lsp: There is no log yet (${file}): it begins with the first hub.`);
    return found ? exitCodes.done : exitCodes.failed;
  }
  fs.mkdirSync(places.log, { recursive: true, mode: 0o700 });
  return new Promise((resolve) => {
    const watcher = fs.watch(places.log, () => void look(false));
    const end = () => {
      watcher.close();
      endInterrupts();
      resolve(exitCodes.done);
    };
    const endInterrupts = terminal.onInterrupt(end);
    output.once('error', end);
    look(false);
  });
}

/** A log line as `time LEVEL message key=value …`; what is no JSON stays as it is. */
export function readableLine(text: string): string {
  try {
    const { level, time, pid, msg, ...fields } = JSON.parse(text) as Record<string, unknown>;
    const rest = Object.entries(fields).map(
      ([name, value]) =>
        `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
    );
    return harmless(
      [String(time), String(level).toUpperCase().padEnd(5), `[${String(pid)}]`, String(msg), ...rest].join(
        ' ',
      ),
    );
  } catch {
    return harmless(text);
  }
}
