// The folders of state files. Guarantees: a session has one folder, whose name can be read by a person and is plain ASCII
// whatever the workspace is called; folders are for their user alone; what is written about a session is whole or not
// there. Must not know: running sessions, who writes the other files.
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { AtomicError } from '../protocol/errors.ts';
import { shortHash } from './address.ts';
import { markOf, processMark } from './orphans.ts';

/** What is known of a session without asking its agent. */
const sessionMeta = z.looseObject({
  workspace: z.string(),
  session: z.string(),
  /** The agent's own file, to continue from. */
  sessionFile: z.string().optional(),
  sessionName: z.string().optional(),
  /** Milliseconds since the epoch. */
  updated: z.number(),
  /** The agent that runs for this session, and the hub that runs it. */
  running: z.object({ agent: processMark, owner: processMark }).optional(),
});
export type SessionMeta = z.infer<typeof sessionMeta>;

const metaFile = 'meta.json';
/** Characters of a name that are kept for reading. */
const readable = 40;

/** `My Projekt/ü` → `My-Projekt-u`: ASCII letters, digits, `.`, `_` and `-`, never empty, never hidden. */
function readableName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, readable)
    .replace(/[-.]+$/, '');
  return plain || 'folder';
}

/** The folder name of a workspace, from its real path; the digits make it unique. */
export const workspaceFolderName = (workspace: string): string =>
  `${readableName(path.basename(workspace))}-${shortHash(workspace)}`;

/** The folder name of a session: the name itself where it is plain, else made readable and unique. */
export function sessionFolderName(session: string): string {
  const plain =
    /^[a-z0-9][a-z0-9._-]*$/.test(session) &&
    session.length <= readable &&
    !/-[0-9a-f]{16}$|[.-]$/.test(session) &&
    // Names that mean devices on Windows.
    !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/.test(session);
  return plain ? session : `${readableName(session)}-${shortHash(session)}`;
}

/** `root/<workspace>/<session>`; `root` is `$XDG_STATE_HOME/atomic-lsp`. */
export const sessionFolder = (root: string, workspace: string, session: string): string =>
  path.join(root, workspaceFolderName(workspace), sessionFolderName(session));

/** Makes the folder with all above it, mode 0700. Throws `FileFailed`. */
export function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (process.platform !== 'win32') fs.chmodSync(folder, 0o700);
  } catch (error) {
    throw new AtomicError(
      'FileFailed',
      `The folder for state files, ${folder}, cannot be made (${(error as Error).message}): make the folder above it writable, or set XDG_STATE_HOME to another.`,
    );
  }
}

/** What the folder's file says; undefined when there is none, or it is damaged. */
export function readMeta(folder: string): SessionMeta | undefined {
  try {
    return sessionMeta.parse(JSON.parse(fs.readFileSync(path.join(folder, metaFile), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes the file in one step: a reader, or a crash, sees the old or the new one. Throws what the system says. */
export function writeMeta(folder: string, meta: SessionMeta): void {
  const file = path.join(folder, metaFile);
  const fresh = `${file}.${process.pid}.new`;
  try {
    fs.writeFileSync(fresh, `${JSON.stringify(meta, null, 2)}\n`, { mode: 0o600 });
    fs.renameSync(fresh, file);
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    throw error;
  }
}

/** Removes what a process left that was killed while it wrote a file anew (`meta.json.1234.new`). Never throws. */
export function removeUnfinished(folder: string): void {
  for (const place of [folder, path.join(folder, 'originals')]) {
    for (const name of namesIn(place)) {
      const [, pid] = /(?:^|\.)(\d+)\.new$/.exec(name) ?? [];
      if (pid === undefined || Number(pid) === process.pid || markOf(Number(pid))) continue;
      try {
        fs.rmSync(path.join(place, name), { force: true });
      } catch {
        // It takes up room and does no other harm.
      }
    }
  }
}

/** The session that a file of the state folder belongs to (`…/prompt.md`); undefined for files elsewhere. */
export function sessionOfFile(
  root: string,
  file: string,
): { workspace: string; session: string; folder: string } | undefined {
  // An editor may give the real path where we know the link, or the other way round.
  for (const [base, from] of [
    [root, file],
    [realPath(root), realPath(file)],
  ] as const) {
    const [workspaceName, sessionName, ...rest] = path.relative(base, from).split(path.sep);
    if (!workspaceName || workspaceName === '..' || !sessionName || rest.length === 0) continue;
    const folder = path.join(base, workspaceName, sessionName);
    const meta = readMeta(folder);
    if (meta) return { workspace: meta.workspace, session: meta.session, folder };
  }
  return undefined;
}

/** The folders of all sessions that were ever attached. */
export function allSessionFolders(root: string): { folder: string; meta: SessionMeta }[] {
  return namesIn(root).flatMap((workspace) =>
    namesIn(path.join(root, workspace)).flatMap((session) => {
      const folder = path.join(root, workspace, session);
      const meta = readMeta(folder);
      return meta ? [{ folder, meta }] : [];
    }),
  );
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** The real path of what exists of it; a file that is not there yet has a real folder. */
export function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPath(parent), path.basename(file));
  }
}
