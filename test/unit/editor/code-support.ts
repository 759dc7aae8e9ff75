// What tests of code actions share: an editor with a project and a session's folder on disk. Guarantees that both are gone after each
// test, when nothing writes to them any more. Must not know what is tested.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach } from 'vitest';
import type { CodeAction } from 'vscode-languageserver';
import { attached, type EditorHow, type FakeEditor, fakeHub, startEditor } from './support.ts';

export let folder = '';
export let project = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
  project = mkdtempSync(join(tmpdir(), 'a pröject-'));
  // After all that `afterEach` does: editors have ended. What they had begun to write may come to its end only now.
  return () => {
    for (const it of [folder, project]) rmSync(it, { recursive: true, force: true, maxRetries: 5 });
  };
});

export const literals = { codeActionLiteralSupport: { codeActionKind: { valueSet: [''] } } };
export const running = {
  type: 'agent_started',
  agent: { command: 'pi', name: 'pi', demo: false },
  pid: 7,
} as never;

export async function editorWith(how: EditorHow = {}): Promise<FakeEditor> {
  const hub = fakeHub();
  hub.folder = folder;
  const editor = await startEditor({
    hub,
    capabilities: {
      window: { workDoneProgress: true, showMessage: {}, showDocument: { support: true } },
      textDocument: { codeAction: literals },
    },
    ...how,
    params: { rootUri: pathToFileURL(project).href, ...how.params },
    answers: { 'window/showDocument': () => ({ success: true }), ...how.answers },
    server: {
      sessionOf: (file) => (file.startsWith(folder) ? { workspace: project, session: 'default' } : undefined),
    },
  });
  await attached(editor);
  return editor;
}
export const open = (editor: FakeEditor, uri: string, text: string, languageId = 'typescript') =>
  editor.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId, version: 1, text },
  });
export const at = (start: number, from: number, end: number, to: number) => ({
  start: { line: start, character: from },
  end: { line: end, character: to },
});
export async function actions(
  editor: FakeEditor,
  uri: string,
  context: object = {},
  range = at(1, 0, 1, 1),
): Promise<CodeAction[]> {
  return await editor.connection.sendRequest('textDocument/codeAction', {
    textDocument: { uri },
    range,
    context: { diagnostics: [], ...context },
  });
}
export const run = ({ command }: CodeAction, editor: FakeEditor) =>
  editor.execute(command!.command, ...(command!.arguments ?? []));
export const titled = (offers: CodeAction[], title: RegExp) => {
  const found = offers.find((offer) => title.test(offer.title));
  if (!found) throw new Error(`no ${title} in ${offers.map((offer) => offer.title).join(', ')}`);
  return found;
};
export const sent = async (editor: FakeEditor, n = 0) => {
  await editor.when(() => editor.hub.intents.length > n);
  return editor.hub.intents[n]!.params.message as string;
};
/** Resolves when it holds; time goes on until then. */
export const later = (editor: FakeEditor, holds: () => boolean) =>
  editor.when(() => {
    if (!holds()) editor.clock.advance(20);
    return holds();
  });
export const fileWith = (name: string, text: string | Buffer) => {
  const file = join(project, name);
  writeFileSync(file, text);
  return pathToFileURL(file).href;
};
export const promptFile = () => join(folder, 'prompt.md');
export const promptUri = () => pathToFileURL(promptFile()).href;
