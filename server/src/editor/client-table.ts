// What editors are like. Guarantees: this is the only file in which an editor's name stands; an unknown editor is judged by
// what it declares. Must not know: sessions, the hub.
import type { InitializeParams } from 'vscode-languageserver';
import type { Settings } from '../protocol/editor.ts';

/** What we need to know of an editor beyond its capabilities. */
export interface Traits {
  /** What a person calls it. */
  name: string;
  /** Whether `window/showMessageRequest` comes back with the choice. */
  answersMessages: boolean;
  /** `window/showDocument` opens a file of ours. */
  showsDocuments: boolean;
  /** The first choice is preselected, so that the safe one has to stand first. */
  preselectsFirst: boolean;
  /** Lower levels of `window/showMessage` are not shown: 2 is a warning, 3 an info. */
  leastShown: 2 | 3;
  /** `window/workDoneProgress/create` and `$/progress` are understood. */
  progress: boolean;
  /** Reports of progress a second. */
  reportsPerSecond: number;
  /** The end of progress may be lost and is to be said again. */
  repeatsEnd: boolean;
  /** Progress takes the place of messages, and its end leaves nothing there but a text that comes with it. */
  hidesMessages: boolean;
  /** Upper bound of `atomic/events` a second. */
  flushesPerSecond: number;
  /** Reads the file of a document without unsaved changes again by itself when it changed on disk. */
  reloadsItself: boolean;
  /** What a person types to read the file of a document again. */
  reload?: string;
  /** How a text grows in a document: by edits, or on disk where edits are lost, refused or saved at once. */
  streams: 'edits' | 'disk';
  /** Edits a second that are no burden. */
  editsPerSecond: number;
  /** An edit for an older version of a document is refused, and not applied at the wrong place. */
  checksVersions: boolean;
  /** Milliseconds until a change that the person makes is told. */
  tellsAfter: number;
  /** An edit reaches a shown document that another server looks after, and a place beyond the end is the end. */
  editsForOthers: boolean;
  /** Milliseconds that a reading command may hold its answer back. */
  patience: number;
  /** Whoever runs a command gets its answer; elsewhere the answer of a reading command is shown by us. */
  givesAnswers: boolean;
}

type Row = Partial<Omit<Traits, 'name'>> & { name: string };

/** Milliseconds; the least patient editors give up after ten seconds. */
const patience = 8000;

const emacs: Row = {
  name: 'Emacs',
  answersMessages: true,
  preselectsFirst: true,
  flushesPerSecond: 30,
  editsPerSecond: 3,
  editsForOthers: true,
  reload: 'M-x revert-buffer',
};

/** By `clientInfo.name` in lower case; measured, see the project's notes on editors. */
const table: Record<string, Row> = {
  neovim: {
    name: 'Neovim',
    answersMessages: true,
    editsPerSecond: 10,
    checksVersions: true,
    tellsAfter: 150,
    editsForOthers: true,
    patience: 30_000,
    reload: ':checktime',
  },
  helix: {
    name: 'Helix',
    answersMessages: false,
    showsDocuments: true,
    preselectsFirst: true,
    repeatsEnd: true,
    hidesMessages: true,
    editsPerSecond: 20,
    checksVersions: true,
    tellsAfter: 0,
    // Not `:reload-all`: that gives up what is unsaved in every other document.
    reload: ':reload',
    givesAnswers: false,
  },
  eglot: emacs,
  emacs,
  'kakoune-lsp': {
    name: 'Kakoune',
    answersMessages: true,
    reportsPerSecond: 1,
    reloadsItself: true,
    streams: 'disk',
  },
  // Only the first of several choices comes back.
  'vim-lsp': { name: 'Vim', answersMessages: false, leastShown: 2, reload: ':checktime', streams: 'disk' },
  vim: { name: 'Vim', answersMessages: true, reload: ':checktime' },
  'coc.nvim': {
    name: 'Vim',
    answersMessages: true,
    reload: ':checktime',
    streams: 'disk',
    givesAnswers: false,
  },
  'sublime text lsp': {
    name: 'Sublime Text',
    answersMessages: true,
    reloadsItself: true,
    givesAnswers: false,
  },
  zed: { name: 'Zed', answersMessages: true, reloadsItself: true, givesAnswers: false },
  'visual studio code': { name: 'VS Code', answersMessages: true, patience: 30_000, reloadsItself: true },
  // Declares message requests and does not answer them.
  lapce: { name: 'Lapce', answersMessages: false, streams: 'disk' },
  // Edits only within two seconds of a command.
  kate: { name: 'Kate', answersMessages: true, streams: 'disk' },
};

/** The traits of the editor that sent these parameters of `initialize` (LSP: `clientInfo`, `capabilities`). */
export function traitsOf(params: InitializeParams, client: Settings['client']): Traits {
  const said = params.clientInfo?.name;
  const row = table[(said ?? '').toLowerCase()] ?? table[(client?.name ?? '').toLowerCase()];
  const { window } = params.capabilities;
  return {
    answersMessages: window?.showMessage !== undefined,
    showsDocuments: window?.showDocument?.support === true,
    preselectsFirst: false,
    leastShown: 3,
    progress: window?.workDoneProgress === true,
    reportsPerSecond: 4,
    repeatsEnd: false,
    hidesMessages: false,
    reloadsItself: false,
    streams: params.capabilities.workspace?.applyEdit ? 'edits' : 'disk',
    editsPerSecond: 4,
    checksVersions: false,
    tellsAfter: 500,
    editsForOthers: false,
    patience,
    givesAnswers: true,
    ...row,
    ...(said?.toLowerCase() === 'helix' && { answersMessages: window?.showMessage !== undefined }),
    name: row?.name ?? said ?? client?.name ?? 'an editor',
    flushesPerSecond: client?.flushesPerSecond ?? row?.flushesPerSecond ?? 60,
  };
}
