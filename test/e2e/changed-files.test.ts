// Files that the agent changes while they are open, in editors without a plugin, with the real pi: a clean one is shown anew by one
// command that the person is told, an unsaved one is left alone; the changes are shown and taken back.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { startHelix } from '../support/helix.ts';
import { program } from '../support/language-server.ts';
import { startModelServer } from '../support/model-server.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const original = 'one ü\ntwo\nthree\n';
/** Two edits of the file, each in a run of its own. */
async function editingAgent(name: string) {
  const edit = (oldText: string, newText: string) => [
    { toolCall: 'edit', arguments: { path: name, edits: [{ oldText, newText }] } },
  ];
  const model = await startModelServer([edit('two', 'twenty'), 'Done.', edit('three', 'thirty'), 'Done.']);
  const { command, args, env, dispose } = await piAgent({ model });
  closing.push(() => model.close(), dispose);
  return {
    command: process.execPath,
    args: [program],
    initializationOptions: { agent: { command, args, env } },
  };
}

describeWithEditor('nvim', 'a changed file in Neovim', () => {
  beforeAll(ensurePi, 600_000);

  it('is shown by :checktime, kept where it is unsaved, and taken back', async () => {
    const name = 'c ü.txt';
    const neovim = await startNeovim({ files: ['first.txt'], server: await editingAgent(name) });
    closing.push(() => neovim.close());
    const file = join(neovim.cwd, name);
    const onDisk = () => readFileSync(file, 'utf8');
    const told = (wanted: RegExp) =>
      neovim.events.next('window/showMessage', ({ message }) => wanted.test(message));
    writeFileSync(file, original);
    await neovim.edit(name);
    // The server answers when it knows the document.
    expect(await neovim.executeCommand('atomic.listChanges')).toEqual({ files: [] });

    await neovim.executeCommand('atomic.prompt', ['one']);
    await told(/^c ü\.txt has changed on disk: :checktime/);
    await neovim.lua('vim.cmd.checktime()');
    expect(await neovim.text()).toBe('one ü\ntwenty\nthree');

    await neovim.lua('vim.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })');
    await neovim.executeCommand('atomic.prompt', ['two']);
    await told(/^c ü\.txt has changed on disk, and you have unsaved changes in it/);
    await neovim.lua('vim.cmd("silent! checktime")');
    expect(await neovim.text()).toBe('mine\ntwenty\nthree');
    await expect(neovim.executeCommand('atomic.revertFile', [name])).rejects.toMatchObject({
      message: expect.stringContaining('unsaved changes'),
    });
    expect(onDisk()).toBe('one ü\ntwenty\nthirty\n');

    await neovim.lua('vim.cmd("edit!")');
    await neovim.executeCommand('atomic.changes');
    await neovim.waitFor('vim.fn.bufname():match("changes%.diff$")');
    expect(await neovim.text()).toContain('-two\n-three\n+twenty\n+thirty');
    expect(await neovim.lua('return vim.bo.filetype')).toBe('diff');
    const again = told(/^c ü\.txt has changed on disk: :checktime/);
    await neovim.executeCommand('atomic.revertFile', [{ path: name, hunk: 0 }]);
    await again;
    expect(onDisk()).toBe(original);
    await neovim.edit(name);
    expect(await neovim.text()).toBe(original.trimEnd());
  });
});

describeWithEditor('hx', 'a changed file in Helix', () => {
  beforeAll(ensurePi, 600_000);

  it('is shown by :reload, kept where it is unsaved, and taken back', async () => {
    const name = 'c ü.md';
    const helix = await startHelix({
      files: ['first.md'],
      cols: 200,
      // As clients/helix says, so that commands are there in the diff.
      languagesToml: '[[language]]\nname = "diff"\nlanguage-servers = ["atomic"]\n',
      server: await editingAgent(name),
    });
    closing.push(() => helix.close());
    const file = join(helix.cwd, name);
    const onDisk = () => readFileSync(file, 'utf8');
    writeFileSync(file, original);
    const opened = async () => {
      await helix.command(`open "${name}"`);
      await helix.waitForScreen((screen) => /(NOR|INS) +c ü\.md/.test(screen));
    };
    const prompt = async (text: string) => {
      await helix.executeCommand('atomic.compose');
      await helix.waitForScreen((screen) => /(NOR|INS) .*prompt\.md/.test(screen));
      await helix.insert(text);
      await helix.command('write');
    };
    await opened();
    await helix.waitForLog(/didOpen.*c%20%C3%BC\.md/);

    await prompt('one');
    await helix.waitForScreen('c ü.md has changed on disk: :reload in it shows it.');
    await opened();
    await helix.command('reload');
    await helix.waitForScreen('twenty');

    await helix.insert('mine ');
    await helix.waitForScreen('mine one ü');
    await prompt('two');
    await helix.waitForScreen(/c ü\.md has changed on disk, and you have unsaved changes in it/);
    await opened();
    await helix.waitForScreen((screen) => screen.includes('mine one ü') && screen.includes('three'));
    await helix.executeCommand('atomic.revertFile');
    await helix.waitForScreen('Take back all changes of which file?');
    await helix.executeCommand('atomic.answer1');
    await helix.waitForScreen(/was left as it is, because you have unsaved changes in it/);
    expect(onDisk()).toBe('one ü\ntwenty\nthirty\n');

    await helix.command('reload');
    await helix.waitForScreen('thirty');
    await helix.executeCommand('atomic.changes');
    await helix.waitForScreen((screen) => screen.includes('changes.diff') && screen.includes('+thirty'));
    await helix.executeCommand('atomic.revertFile');
    await helix.waitForScreen('Take back all changes of which file?');
    await helix.executeCommand('atomic.answer1');
    await helix.waitForScreen('c ü.md has changed on disk: :reload in it shows it.');
    expect(existsSync(file) && onDisk()).toBe(original);
  });
});
