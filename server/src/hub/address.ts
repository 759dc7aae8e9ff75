// Where the hub's socket lies. Guarantees: every program of one user comes to the same place; the folder is ours alone and
// no link, the path is short enough for the kernel, and a place that is not safe is refused with one sentence that names
// cause and cure. Must not know: the environment (it is given), who listens or connects.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { AtomicError } from '../protocol/errors.ts';
import { hubProtocol } from '../protocol/hub.ts';

/** Everything that the place depends on. */
export interface AddressSettings {
  platform: NodeJS.Platform;
  /** The user's number; undefined on Windows. */
  uid: number | undefined;
  /** `XDG_RUNTIME_DIR`; anything but an absolute path is ignored, as its specification says. */
  runtimeDir?: string | undefined;
  /** A socket path chosen by the user instead of all this. */
  override?: string | undefined;
  /** Distinguishes users on Windows, where there is no number. */
  user?: string;
  /** For tests: where the system keeps runtime folders, and temporary ones. */
  runRoot?: string;
  tempRoot?: string;
}

export interface HubAddress {
  /** The socket, or the named pipe on Windows. */
  socket: string;
  /** The folder that must be ours; undefined for a named pipe. */
  folder: string | undefined;
  /** Whether the user chose the place, which then may be a folder that others can look into. */
  chosen: boolean;
  platform: NodeJS.Platform;
  uid: number | undefined;
}

/** Bytes of a socket path that the kernel takes (`sun_path` without its final zero); Node cuts longer ones in silence. */
export const socketPathLimit = (platform: NodeJS.Platform): number => (platform === 'linux' ? 107 : 103);

/** The hub's address. Throws `SocketRefused` for a path that is too long or not absolute; touches nothing. */
export function hubAddress(settings: AddressSettings): HubAddress {
  const { platform, uid, override } = settings;
  const name = `hub-${hubProtocol}.sock`;
  if (platform === 'win32') {
    const socket = override ?? `\\\\.\\pipe\\atomic-lsp-${hubProtocol}-${shortHash(settings.user ?? '')}`;
    return { socket, folder: undefined, chosen: override !== undefined, platform, uid };
  }
  if (override !== undefined && !path.isAbsolute(override))
    throw refused(`The hub's socket "${override}" is not an absolute path: give one that begins with "/".`);
  const folder = override === undefined ? defaultFolder(settings) : path.dirname(override);
  const socket = override ?? path.join(folder, name);
  const bytes = Buffer.byteLength(socket);
  const limit = socketPathLimit(platform);
  if (bytes > limit)
    throw refused(
      `The path of the hub's socket has ${bytes} bytes and this system takes ${limit} (${socket}): set ATOMIC_LSP_SOCKET to a shorter path, or XDG_RUNTIME_DIR to a shorter folder.`,
    );
  return { socket, folder, chosen: override !== undefined, platform, uid };
}

/**
 * The same folder for every program of this user, whatever its `TMPDIR`; a program that was started without
 * `XDG_RUNTIME_DIR` (by cron, by sudo) still finds the system's runtime folder.
 */
function defaultFolder(settings: AddressSettings): string {
  const { runtimeDir, uid, runRoot = '/run/user', tempRoot = '/tmp' } = settings;
  if (runtimeDir && path.isAbsolute(runtimeDir)) return path.join(runtimeDir, 'atomic-lsp');
  const system = path.join(runRoot, String(uid));
  if (settings.platform === 'linux' && ownFolder(system, uid)) return path.join(system, 'atomic-lsp');
  return path.join(tempRoot, `atomic-lsp-${uid}`);
}

function ownFolder(folder: string, uid: number | undefined): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === uid && (stat.mode & 0o077) === 0;
}

/**
 * Makes the socket's folder where it is missing and checks it. Throws `SocketRefused` when it is a link, not a folder,
 * somebody else's, or open to others. Both sides call this before they connect or listen.
 */
export function secureFolder(address: HubAddress): void {
  const { folder, uid } = address;
  if (folder === undefined) return;
  const elsewhere = 'or set ATOMIC_LSP_SOCKET to a path in a folder of your own';
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw refused(
        `The folder for the hub's socket cannot be made (${(error as Error).message}): make ${path.dirname(folder)} writable for you, ${elsewhere}.`,
      );
  }
  const stat = fs.lstatSync(folder);
  if (stat.isSymbolicLink())
    throw refused(
      `The folder for the hub's socket, ${folder}, is a symbolic link, which could lead anywhere: remove it, ${elsewhere}.`,
    );
  if (!stat.isDirectory())
    throw refused(
      `${folder} should be the folder of the hub's socket and is a file: remove it, ${elsewhere}.`,
    );
  if (uid !== undefined && stat.uid !== uid)
    throw refused(
      `The folder for the hub's socket, ${folder}, belongs to user ${stat.uid} and not to you (${uid}): have it removed, ${elsewhere}.`,
    );
  const open = stat.mode & (address.chosen ? 0o022 : 0o077);
  if (open !== 0)
    throw refused(
      `The folder for the hub's socket, ${folder}, is open to other users (mode ${(stat.mode & 0o777).toString(8)}): close it with chmod 700 "${folder}", ${elsewhere}.`,
    );
  checkParent(folder, uid, elsewhere);
}

/** Whoever can write to the parent can swap the folder, unless the parent is sticky as temporary folders are. */
function checkParent(folder: string, uid: number | undefined, elsewhere: string): void {
  const parent = path.dirname(folder);
  const stat = fs.statSync(parent);
  const sticky = (stat.mode & 0o1000) !== 0;
  if ((stat.mode & 0o022) !== 0 && !sticky)
    throw refused(
      `Other users can write to ${parent}, and so could swap the folder of the hub's socket: close it with chmod go-w "${parent}", ${elsewhere}.`,
    );
  if (uid !== undefined && stat.uid !== uid && stat.uid !== 0)
    throw refused(
      `${parent}, which holds the folder of the hub's socket, belongs to user ${stat.uid}: choose another place with ATOMIC_LSP_SOCKET.`,
    );
}

/** What lies at the socket's path now. Throws `SocketRefused` when it is no socket or not ours. */
export function socketPresent(address: HubAddress): boolean {
  if (address.folder === undefined) return true;
  const stat = fs.lstatSync(address.socket, { throwIfNoEntry: false });
  if (!stat) return false;
  if (!stat.isSocket())
    throw refused(
      `${address.socket} should be the hub's socket and is something else: remove it, or set ATOMIC_LSP_SOCKET to another path.`,
    );
  if (address.uid !== undefined && stat.uid !== address.uid)
    throw refused(
      `The hub's socket ${address.socket} belongs to user ${stat.uid} and not to you: have it removed, or set ATOMIC_LSP_SOCKET to another path.`,
    );
  return true;
}

/** Sixteen hexadecimal digits that stand for a text. */
export const shortHash = (text: string, digits = 16): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

const refused = (sentence: string): AtomicError => new AtomicError('SocketRefused', sentence);
