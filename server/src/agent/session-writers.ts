// Who else writes to a session file, as far as the system shows it. Guarantees: our own agent and what it started are never meant, nor
// are programs that only read; where the system shows no processes, only what was added to the file counts. Must not know:
// what follows from it.
import { open, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { SessionWriters } from '../session/ports.ts';

/** Bytes of an addition that are looked at. */
const looked = 1_048_576;
/** Processes that are looked at together. */
const together = 16;

export const sessionWriters: SessionWriters = {
  size: (path) =>
    stat(path).then(
      ({ size }) => size,
      () => undefined,
    ),
  async other(path, { known, own }) {
    // This is quicker to see than processes.
    if (known !== undefined && (await hasNewMessages(path, known)))
      return 'another program has added messages to it';
    return otherProcess(path, own);
  },
};

/** Whether messages stand behind the first bytes (protocol reference, section 4.6). */
async function hasNewMessages(path: string, known: number): Promise<boolean> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      if (size <= known) return false;
      const length = Math.min(size - known, looked);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, known);
      return buffer
        .toString('utf8', 0, bytesRead)
        .split('\n')
        .some((line) => typeOf(line) === 'message');
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

function typeOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** A process that has the file open for writing, or is an agent that was started for it (Linux: /proc). */
async function otherProcess(path: string, own: number | undefined): Promise<string | undefined> {
  const names = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  for (let at = 0; at < names.length; at += together) {
    const found = await Promise.all(names.slice(at, at + together).map((name) => user(name, path, own)));
    const first = found.find((it) => it !== undefined);
    if (first) return first;
  }
  return undefined;
}

async function user(name: string, path: string, own: number | undefined): Promise<string | undefined> {
  try {
    const folder = `/proc/${name}`;
    const words = (await readFile(`${folder}/cmdline`, 'utf8')).split('\0').filter(Boolean);
    // One of the kernel's own.
    if (words.length === 0) return undefined;
    const cwd = () => readlink(`${folder}/cwd`);
    const uses = (await isStartedFor(words, path, cwd)) || (await hasOpen(folder, path));
    return uses && !(await isOwn(folder, own))
      ? `process ${name}, ${basename(words[0]!)}, uses it`
      : undefined;
  } catch {
    // Another user's, or gone meanwhile.
    return undefined;
  }
}

/** An agent leads a group of its own, in which all that it starts is. */
async function isOwn(folder: string, own: number | undefined): Promise<boolean> {
  if (own === undefined) return false;
  const text = await readFile(`${folder}/stat`, 'latin1');
  // The program's name stands in parentheses and may hold anything; then come the state, the parent and the group.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[2]) === own;
}

async function isStartedFor(
  words: readonly string[],
  path: string,
  cwd: () => Promise<string>,
): Promise<boolean> {
  const given = words.flatMap((word, at) =>
    word === '--session' ? [words[at + 1] ?? ''] : word.startsWith('--session=') ? [word.slice(10)] : [],
  );
  for (const session of given) if (session === path || resolve(await cwd(), session) === path) return true;
  return false;
}

async function hasOpen(folder: string, path: string): Promise<boolean> {
  const descriptors = await readdir(`${folder}/fd`);
  const targets = await Promise.all(
    descriptors.map((descriptor) => readlink(`${folder}/fd/${descriptor}`).catch(() => '')),
  );
  for (const [at, descriptor] of descriptors.entries()) {
    if (targets[at] !== path) continue;
    const info = await readFile(`${folder}/fdinfo/${descriptor}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8);
    // O_WRONLY or O_RDWR.
    if ((flags & 3) !== 0) return true;
  }
  return false;
}
