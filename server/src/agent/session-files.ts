// Session files on disk, for agents that have no `list_sessions`. Guarantees: only the beginning of each file is read, whatever
// its size; a file that is not a session is left out; nothing is written. Must not know: who wants the list.
import { open, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SessionFiles, SessionListing } from '../session/ports.ts';

/** Bytes of a file that are looked at: header, name and first prompt stand there. */
const looked = 65_536;
/** Files read at a time. */
const together = 16;

export const sessionFiles: SessionFiles = {
  async list(folder) {
    const names = await readdir(folder).catch(() => []);
    const found: SessionListing[] = [];
    const paths = names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));
    for (let at = 0; at < paths.length; at += together) {
      const listed = await Promise.all(paths.slice(at, at + together).map(listing));
      found.push(...listed.filter((item) => item !== undefined));
    }
    return found.sort((a, b) => b.modified.localeCompare(a.modified));
  },
  exists: (workspace, path) =>
    stat(resolve(workspace, path)).then(
      (file) => file.isFile(),
      () => false,
    ),
};

/** What the beginning of a session file says (protocol reference, section 4.6); undefined when it is none. */
async function listing(path: string): Promise<SessionListing | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { mtime } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(looked), 0, looked, 0);
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
      // The last one may be cut; a file of a single line has an empty one behind it.
      lines.pop();
      const entries = lines.flatMap(parsed);
      const header = entries[0];
      if (header?.type !== 'session') return undefined;
      const name = entries.findLast(({ type }) => type === 'session_info')?.name;
      const first = entries.find(({ type, message }) => type === 'message' && roleOf(message) === 'user');
      const firstMessage = textOf(first?.message);
      return {
        path,
        ...(typeof header.id === 'string' && { id: header.id }),
        ...(typeof header.cwd === 'string' && { cwd: header.cwd }),
        ...(typeof name === 'string' && name !== '' && { name }),
        modified: mtime.toISOString(),
        ...(firstMessage !== undefined && { firstMessage }),
      };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function parsed(line: string): Record<string, unknown>[] {
  try {
    const value = JSON.parse(line);
    return value !== null && typeof value === 'object' ? [value] : [];
  } catch {
    return [];
  }
}

const roleOf = (message: unknown): unknown => (message as { role?: unknown } | undefined)?.role;

/** The first line of a message's text, at most 200 letters. */
function textOf(message: unknown): string | undefined {
  const { content } = (message ?? {}) as { content?: unknown };
  const text =
    typeof content === 'string'
      ? content
      : Array.isArray(content)
        ? content.find((block) => block?.type === 'text')?.text
        : undefined;
  return typeof text === 'string' ? text.trim().split('\n')[0]!.slice(0, 200) : undefined;
}
