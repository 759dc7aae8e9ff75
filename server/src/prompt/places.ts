// Where the paths and names of a prompt lead. Guarantees: the same name leads to the same place for everybody who asks; what is
// shown of a place is what can be typed for it. Must not know: what is in the files.
import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/** An open document of the editor. */
export interface OpenDocument {
  /** Absent for one that has no file yet. */
  file?: string;
  /** What the editor calls it. */
  name: string;
  languageId: string;
  text: string;
}

/** The world of one prompt. */
export interface Place {
  /** Absolute paths of the workspace's folders; the agent works in the first. */
  folders: readonly string[];
  /** The editor's open documents but for prompts and transcripts, the one opened last first. */
  documents(): readonly OpenDocument[];
}

export interface Found {
  file: string;
  isFolder: boolean;
  size: number;
  /** Neither a file nor a folder: a device, a pipe. */
  special: boolean;
}

/** Every file that a path may mean, in the order in which they count. */
export function candidates(name: string, { folders }: Place): string[] {
  if (name === '~' || /^~[\\/]/.test(name)) return [path.join(homedir(), name.slice(1))];
  if (path.isAbsolute(name)) return [path.normalize(name)];
  const [head = '', ...rest] = name.split('/');
  return [
    ...folders.map((folder) => path.resolve(folder, name)),
    // Of several folders one can be named.
    ...folders
      .filter((folder) => folders.length > 1 && path.basename(folder) === head)
      .map((folder) => path.join(folder, ...rest)),
  ];
}

/** What a path leads to; undefined when there is nothing. */
export async function foundAt(name: string, place: Place): Promise<Found | undefined> {
  for (const file of candidates(name, place)) {
    try {
      const stats = await stat(file);
      const isFolder = stats.isDirectory();
      return { file, isFolder, size: stats.size, special: !isFolder && !stats.isFile() };
    } catch {
      // The next may be there.
    }
  }
  return undefined;
}

/** A file as a prompt names it: from the folder that it lies in, with `/`. */
export function shownPath(file: string, { folders }: Pick<Place, 'folders'>): string {
  for (const [n, folder] of folders.entries()) {
    const inside = path.relative(folder, file);
    if (inside === '' || inside === '..' || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))
      continue;
    return (n === 0 ? inside : path.join(path.basename(folder), inside)).replaceAll(path.sep, '/');
  }
  return file.replaceAll(path.sep, '/');
}

/** The shortest name of each open document that no other has. */
export function documentNames(place: Place): { name: string; document: OpenDocument }[] {
  const documents = place.documents();
  const whole = documents.map((document) => longName(document, place));
  return documents.map((document, n) => {
    const parts = whole[n]!.split('/').filter((part) => part !== '');
    for (let count = 1; count <= parts.length; count += 1) {
      const name = parts.slice(-count).join('/');
      if (whole.filter((other) => isNamed(other, name)).length === 1) return { name, document };
    }
    return { name: whole[n]!, document };
  });
}

/** The open document of this name; of several the one opened last. */
export function documentNamed(name: string, place: Place): OpenDocument | undefined {
  const documents = place.documents();
  return (
    documents.find((document) => longName(document, place) === name) ??
    documents.find((document) => isNamed(longName(document, place), name))
  );
}

/** The open document that shows a file. */
export function documentOf(file: string, place: Place): OpenDocument | undefined {
  const documents = place.documents().filter((document) => document.file !== undefined);
  return (
    documents.find((document) => document.file === file) ??
    // The same file through a link.
    documents.find(
      (document) => path.basename(document.file!) === path.basename(file) && same(document.file!, file),
    )
  );
}

function same(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

const longName = ({ file, name }: OpenDocument, place: Place): string =>
  file === undefined ? name : shownPath(file, place);
const isNamed = (whole: string, name: string): boolean => whole === name || whole.endsWith(`/${name}`);
