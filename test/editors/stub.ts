// The tiny language server as an editor is told of it, and editors that are closed after each test however it ended. Must not know
// which editor is used.
import path from 'node:path';
import { afterEach } from 'vitest';

const program = path.join(import.meta.dirname, 'stub-server.mjs');
/** What `startNeovim` and the others take as `server`. */
export const stubServer = {
  command: process.execPath,
  args: [program, 'an argument'],
  env: { STUB_ENV: 'gïven "so"' },
  initializationOptions: { text: 'a "b" \\ c\n', list: [1, { deep: true }], none: {} },
};
/** What the command `stub.given` answers when the server was given that, besides `args`. */
export const given = {
  argv: ['an argument'],
  env: stubServer.env.STUB_ENV,
  options: stubServer.initializationOptions,
};

const open: { close(): Promise<void> }[] = [];

/** Has something closed after the test. */
export const kept = <T extends { close(): Promise<void> }>(editor: T): T => {
  open.push(editor);
  return editor;
};
afterEach(async () => {
  for (const editor of open.splice(0)) await editor.close();
});
