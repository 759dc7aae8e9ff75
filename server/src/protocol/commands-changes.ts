// Rows: files that the agent changed. Guarantees and absences: see command-row.ts.
import * as z from 'zod';
import { type Params, row, text } from './command-row.ts';

const group = 'Files that the agent changed';
const path = text.optional();

/** `/home/me/src/a.ts (modified, +3 −1)`, as a choice. */
const label = ({ path, status, added, removed }: Params): string =>
  `${path} (${status}, +${added} −${removed})`;

export const changesRows = [
  row({
    name: 'list_changes',
    group,
    title: 'List changed files',
    doc: 'What the agent’s tools changed in files since the session began or the changes were accepted, also by an earlier agent or hub. A tool call that names its file is seen; what a shell command changes is seen only in files that such a call has changed before. What somebody else changed meanwhile is left out.',
    params: { path },
    bare: (path) => ({ path }),
    kind: 'read',
    returns:
      '`{files: [{path, status, added, removed, diff, hunks, note?}]}`: absolute path, `added`, `modified` or `deleted`, numbers of lines, a unified diff. A hunk is `{header, oldStart, oldLines, newStart, newLines, lines, mixed?}`; `mixed` is true where somebody else changed the same lines later. `note` says why there is no diff.',
    example: { path: 'src/main.ts' },
  }),
  row({
    name: 'changes',
    group,
    title: 'Show changes',
    doc: 'Opens a diff of everything that the agent changed in files, `changes.diff`.',
    kind: 'local',
    action: 'always',
    returns: '`{opens}`: the file.',
  }),
  row({
    name: 'revert_file',
    group,
    title: 'Take back changes of a file',
    doc: 'Puts a file back to what it was before the agent, or takes back one hunk of it as `list_changes` numbers them. What somebody else changed in it stays. Refused where that cannot be told apart, and where the editor has unsaved changes of the file.',
    params: {
      path: text,
      hunk: z.int().min(0).optional(),
      /** The hunk's header as it was listed: refused where it is another one now. */
      header: z.string().optional(),
    },
    bare: (path) => ({ path }),
    kind: 'act',
    lane: 'free',
    ask: {
      with: 'pick',
      title: 'Take back all changes of which file?',
      from: 'list_changes',
      list: 'files',
      label,
      take: ({ path }) => ({ path }),
      empty: 'The agent has changed no file in this session.',
    },
    returns: '`{intent}`, whose outcome holds `{path}`.',
    example: { path: 'src/main.ts', hunk: 0 },
  }),
  row({
    name: 'accept_changes',
    group,
    title: 'Accept changes',
    doc: 'Takes what files are now as their original: of one file, or of all. They are off the list until the agent changes them again.',
    params: { path },
    bare: (path) => ({ path }),
    kind: 'act',
    lane: 'free',
    told: ({ paths }) =>
      Array.isArray(paths)
        ? `Accepted: ${paths.length === 1 ? paths[0] : `${paths.length} files`}.`
        : undefined,
    returns: '`{intent}`, whose outcome holds `{paths}`.',
    example: { path: 'src/main.ts' },
  }),
];
