// Proves the drivers of the real editors against a tiny language server, so that a failure of another test is not theirs.
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { describeWithEditor } from '../support/editors.ts';
import { startNeovim } from '../support/neovim.ts';

const program = path.join(import.meta.dirname, '../editors/stub-server.mjs');
const server = {
  command: process.execPath,
  args: [program, 'an argument'],
  env: { STUB_ENV: 'gïven "so"' },
  initializationOptions: { text: 'a "b" \\ c\n', list: [1, { deep: true }], none: {} },
};
const given = {
  argv: ['an argument'],
  env: server.env.STUB_ENV,
  options: server.initializationOptions,
};

/** What was started, closed after each test however it ended. */
const open: { close(): Promise<void> }[] = [];
const kept = <T extends { close(): Promise<void> }>(editor: T): T => {
  open.push(editor);
  return editor;
};
afterEach(async () => {
  for (const editor of open.splice(0)) await editor.close();
});

describeWithEditor('nvim', 'Neovim without a screen', () => {
  it('gives the server its arguments, environment and options, and the test its result', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server }));
    const result = await nvim.executeCommand('stub.given', [{ a: 1 }, null, []]);
    expect(result).toEqual({ ...given, args: [{ a: 1 }, null, []] });
    await expect(nvim.executeCommand('stub.fail')).rejects.toMatchObject({
      message: expect.stringContaining('told to fail'),
      code: -32603,
    });
  });

  it('tells messages and progress', async () => {
    const nvim = kept(await startNeovim({ files: ['a.md'], server }));
    await nvim.executeCommand('stub.hello');
    expect(await nvim.events.next('window/showMessage')).toEqual({ type: 3, message: 'hello from the stub' });
    await nvim.executeCommand('stub.work');
    await nvim.events.next('$/progress', ({ value }) => value.kind === 'end');
    expect(nvim.events.of('$/progress').map(({ value }) => value.kind)).toEqual(['begin', 'report', 'end']);
  });

  it('lets the test answer and dismiss questions', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server }));
    await nvim.executeCommand('stub.ask');
    await nvim.executeCommand('stub.ask');
    const one = await nvim.events.next('select');
    const two = await nvim.events.next('select');
    expect(one).toMatchObject({ prompt: 'Is it so?: ', items: ['Yes', 'No'] });
    await nvim.answer(two.id, 2);
    expect(await nvim.events.next('window/showMessage')).toMatchObject({ message: 'answered No' });
    await nvim.answer(one.id, null);
    expect(await nvim.events.next('window/showMessage')).toMatchObject({ message: 'answered nothing' });
  });

  it('waits for a condition without stopping Neovim, reads the user configuration, edits', async () => {
    const nvim = kept(await startNeovim({ init: 'vim.g.configured = "yes"', files: ['one.txt'] }));
    const waiting = nvim.waitFor<number>('vim.g.later');
    await nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "a", ... })', 'b');
    expect(await nvim.text('one.txt')).toBe('a\nb');
    await nvim.lua('vim.g.later = 7');
    expect(await waiting).toBe(7);
    expect(await nvim.lua('return vim.g.configured')).toBe('yes');
    await nvim.lua('vim.cmd.write()');
    await nvim.edit('two [x] %.txt');
    expect(await nvim.lua('return vim.fn.expand("%:t")')).toBe('two [x] %.txt');
    await expect(nvim.waitFor('error("bad")')).rejects.toThrow('bad');
    await expect(nvim.waitFor('false', { timeout: 50 })).rejects.toThrow('did not come true');
  });

  it('can be killed, and leaves no process when it is closed', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server }));
    expect(nvim.home.processes()).toContain(nvim.pid);
    expect(nvim.home.processes().length).toBeGreaterThan(1);
    await nvim.kill();
    expect(signalled(nvim.pid, 0)).toBe(false);
    await expect(nvim.events.next('never')).rejects.toThrow('Neovim ended');
    await nvim.close();
    expect(nvim.home.processes()).toEqual([]);
  });

  it('two share a home', async () => {
    const home = kept(createEditorHome());
    const [one, two] = await Promise.all([
      startNeovim({ home, files: ['a.txt'], server }),
      startNeovim({ home, files: ['b.txt'], server }),
    ]);
    await one.close();
    expect(signalled(one.pid, 0)).toBe(false);
    expect(await two.executeCommand('stub.given')).toMatchObject(given);
    await two.close();
  });
});
