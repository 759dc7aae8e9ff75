// Editors as a server meets them: what they say of themselves in `initialize`, and how they answer. Guarantees: Neovim 0.10.4, Eglot
// 1.17.30 and Helix 25.01.1 as recorded; the others as their sources have it. Must not know: what a server does with it.
import { ResponseError } from 'vscode-jsonrpc/node';
import type { EditorHow } from '../unit/editor/support.ts';

export interface Quirky extends Required<Pick<EditorHow, 'name' | 'params' | 'answers'>> {}

const silence = () => new Promise(() => {});
const refused = (code: number) => () => new ResponseError(code, 'no');
const actionKinds = (...valueSet: string[]) => ({
  codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet } } },
});
const kinds = actionKinds('', 'quickfix', 'refactor', 'refactor.rewrite', 'source');

const client = (
  clientInfo: { name: string; version?: string } | undefined,
  capabilities: object,
  answers: Quirky['answers'] = {},
): Quirky => ({
  name: clientInfo?.name ?? '',
  params: { clientInfo, capabilities: { textDocument: kinds, ...capabilities } },
  answers,
});

/** Refuses a stale edit and says that it was applied; everything else it does well. */
export const neovim = client(
  { name: 'Neovim', version: '0.10.4' },
  {
    general: { positionEncodings: ['utf-16'] },
    window: {
      showMessage: { messageActionItem: { additionalPropertiesSupport: false } },
      showDocument: { support: true },
      workDoneProgress: true,
    },
    workspace: { applyEdit: true, configuration: true, workspaceFolders: true },
  },
  { 'window/showDocument': () => ({ success: true }), 'workspace/applyEdit': () => ({ applied: true }) },
);

/** Null for every request that it does not know, no answer at all after C-g, and true after the person said no. */
export const eglot = client(
  { name: 'Eglot', version: '1.17.30' },
  {
    general: { positionEncodings: ['utf-32', 'utf-8', 'utf-16'] },
    window: { showDocument: { support: true }, workDoneProgress: true },
    workspace: { applyEdit: true, executeCommand: { dynamicRegistration: false }, workspaceFolders: true },
  },
  {
    'window/workDoneProgress/create': () => null,
    'window/showMessageRequest': silence,
    'window/showDocument': () => ({ success: true }),
    'workspace/applyEdit': () => ({ applied: true }),
    'atomic/dialog': () => null,
  },
);

/** The second question at a time fails, because the minibuffer is in use. */
export const busyEglot: Quirky = {
  ...eglot,
  answers: { ...eglot.answers, 'window/showMessageRequest': refused(-32603) },
};

/** A declined edit is a null. */
export const newerEglot: Quirky = {
  ...eglot,
  answers: { ...eglot.answers, 'workspace/applyEdit': () => ({ applied: null }) },
};

/** Knows no message requests, opens documents without saying that it can, and sends changes in any order. */
export const helix = client(
  { name: 'helix', version: '25.01.1' },
  {
    general: { positionEncodings: ['utf-8', 'utf-32', 'utf-16'] },
    window: { workDoneProgress: true },
    workspace: { applyEdit: true, configuration: true, workspaceFolders: true },
  },
  {
    'window/showMessageRequest': refused(-32601),
    'window/showDocument': () => ({ success: true }),
    'workspace/applyEdit': () => ({ applied: true }),
  },
);

/** A closed window is an empty object; edits are taken for two seconds only; it does not say who it is. */
export const kate = client(
  undefined,
  { window: { workDoneProgress: true, showMessage: {} } },
  {
    'window/showMessageRequest': () => ({}),
    'window/showDocument': silence,
    'workspace/applyEdit': () => ({ applied: false }),
  },
);

/** A closed balloon is an error; a document without a selection is never answered. */
export const lsp4ij = client(
  { name: 'IntelliJ IDEA' },
  {
    window: { showMessage: {}, showDocument: { support: true }, workDoneProgress: true },
    workspace: { applyEdit: true },
  },
  {
    'window/showMessageRequest': refused(-32800),
    'window/showDocument': ({ selection }) => (selection ? { success: true } : silence()),
    'workspace/applyEdit': () => ({ applied: true }),
  },
);

/** Answers nothing that it does not know, gives back the first choice only, and shows warnings but no infos. */
export const vimLsp = client(
  { name: 'vim-lsp' },
  { workspace: { applyEdit: true } },
  {
    'window/showMessageRequest': () => null,
    'window/showDocument': silence,
    'window/workDoneProgress/create': silence,
    'client/registerCapability': silence,
    'workspace/applyEdit': () => ({ applied: true }),
  },
);

/** An empty list of choices is an error; commands come from code actions alone. */
export const yegappan = client(
  { name: 'Vim' },
  { workspace: { applyEdit: true } },
  {
    'window/showMessageRequest': ({ actions }) =>
      actions?.length > 0 ? actions.at(-1) : new ResponseError(-32602, 'no actions'),
    'window/showDocument': refused(-32601),
    'workspace/applyEdit': () => ({ applied: true }),
  },
);

/** Says that it knows message requests, and does not. */
export const lapce = client(
  { name: 'Lapce' },
  { window: { showMessage: {} } },
  { 'window/showMessageRequest': refused(-32603) },
);

/** Opens no documents, and asks for progress to be created first. */
export const kakoune = client(
  { name: 'kakoune-lsp' },
  { window: { workDoneProgress: true, showMessage: {} }, workspace: { applyEdit: true } },
  {
    'window/showMessageRequest': silence,
    'window/showDocument': refused(-32601),
    'workspace/applyEdit': () => ({ applied: true }),
  },
);

export const clients: Record<string, Quirky> = {
  Neovim: neovim,
  Eglot: eglot,
  Helix: helix,
  Kate: kate,
  LSP4IJ: lsp4ij,
  'vim-lsp': vimLsp,
  'yegappan/lsp': yegappan,
  Lapce: lapce,
  Kakoune: kakoune,
};
