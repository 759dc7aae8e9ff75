// Kinds of bugs that others had in an editor, in the Neovim plugin; the list is test/bug-kinds.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, pluginStarter } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

describeWithEditor('nvim', 'the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('survives output that is no text, leaves diffs and windows of others alone, and stops nothing by closing', async () => {
    const wait = gate();
    const neovim = await withPlugin([
      [
        { toolCall: 'edit', arguments: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'TWO' }] } },
        {
          toolCall: 'bash',
          arguments: { command: "printf 'a\\000b 10%%\\r20%%\\007 \\033[31mred\\033[0m \\351\\n'" },
        },
      ],
      'Done.',
      ['Half ', { gate: wait }, 'whole.'],
      'Seen.',
    ]);
    mkdirSync(neovim.cwd, { recursive: true });
    writeFileSync(join(neovim.cwd, 'a.txt'), 'one\ntwo\n');
    writeFileSync(join(neovim.cwd, 'latin.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    // A comparison of the person's own, in another tab.
    await neovim.lua(
      "vim.cmd.edit({ bang = true }); vim.cmd('tabnew | diffthis | vnew | diffthis | tabfirst')",
    );
    const compared =
      'vim.iter(vim.api.nvim_list_wins()):filter(function(w) return vim.wo[w].diff end):totable()';
    const mine = await neovim.value<number[]>(compared);
    expect(mine).toHaveLength(2);

    await neovim.command('Atomic Change it.');
    await neovim.shows('Done.');
    await neovim.phase('idle');
    const chat = await neovim.chat();
    expect(chat).toContain('red');
    expect(chat).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    await neovim.command('Atomic changes');
    await neovim.waitFor(`vim.api.nvim_buf_get_name(0) == 'atomic://changes' and ${here}:find('TWO')`);
    await neovim.api.input('ggd');
    await neovim.waitFor("vim.fn.tabpagenr('$') == 3");
    await neovim.api.input('<C-w>hq');
    await neovim.waitFor("vim.fn.tabpagenr('$') == 2");
    expect(await neovim.value(compared)).toEqual(mine);

    await neovim.command('Atomic Again.');
    await neovim.shows('Half');
    await neovim.lua(`
      for _, name in ipairs({ 'prompt', 'chat' }) do
        local buffer = vim.fn.bufnr('atomic://' .. name)
        if buffer > 0 then vim.api.nvim_buf_delete(buffer, { force = true }) end
      end`);
    expect(await neovim.value("require('atomic').state().phase")).toBe('writing');
    wait.open();
    await neovim.phase('idle');
    await neovim.command('Atomic');
    await neovim.shows('Half whole.');

    await neovim.lua("vim.cmd('tabnew'); vim.cmd('edit ++enc=utf-8 ++bad=keep latin.txt')");
    await neovim.command('1Atomic What is this?');
    await neovim.shows('Seen.');
    expect((await neovim.model.request(neovim.model.requests.length - 1)).prompt).toContain('caf\ufffd');
    expect(await neovim.messages()).not.toMatch(/E\d+:/);
  });
});
