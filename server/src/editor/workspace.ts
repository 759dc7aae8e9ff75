// Which folder an editor works in. Guarantees: an absolute path of the file system, or none. Must not know: whether it exists.
import path from 'node:path';
import type { InitializeParams, WorkspaceFoldersChangeEvent } from 'vscode-languageserver';
import { URI } from 'vscode-uri';

/**
 * The folder of `initialize` (LSP): the first of `workspaceFolders`, else `rootUri`, else `rootPath`, which is all that some
 * editors give for a folder without a project's marks. Undefined when there is none on this machine's disk.
 */
export function workspaceFolder(params: InitializeParams): string | undefined {
  const [first] = workspaceFolders(params.workspaceFolders);
  if (first !== undefined) return first;
  const root = diskPath(params.rootUri);
  if (root !== undefined) return root;
  const { rootPath } = params;
  return typeof rootPath === 'string' && path.isAbsolute(rootPath) ? rootPath : undefined;
}

/** The folders of a list (LSP: `WorkspaceFolder`) that are on this machine's disk, each once. */
export function workspaceFolders(folders: readonly { uri: string }[] | null | undefined): string[] {
  const paths = (Array.isArray(folders) ? folders : []).map((folder) => diskPath(folder?.uri));
  return [...new Set(paths.filter((it) => it !== undefined))];
}

/** The path of an address on this machine's disk; undefined for all others, and for what is no address. */
export function diskPath(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri === '') return undefined;
  try {
    const parsed = URI.parse(uri);
    return parsed.scheme === 'file' && parsed.path !== '' ? parsed.fsPath : undefined;
  } catch {
    return undefined;
  }
}

/** The folders after `workspace/didChangeWorkspaceFolders` (LSP). */
export function foldersAfter(
  before: readonly string[],
  { added, removed }: WorkspaceFoldersChangeEvent,
): string[] {
  const gone = new Set(workspaceFolders(removed));
  return [...new Set([...before.filter((it) => !gone.has(it)), ...workspaceFolders(added)])];
}
