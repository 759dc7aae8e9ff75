// Questions in the Neovim plugin: each way to answer, to put off and to be overtaken.
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { floats, here, pluginStarter } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

const title = "(function() local t = vim.api.nvim_win_get_config(0).title; return t and t[1][1] or '' end)()";

describeWithEditor('nvim', 'questions in the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('counts down in the title, and closes when the agent stops waiting', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await neovim.command('Atomic /ask-select 60000');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    const first = await neovim.value<string>(title);
    expect(first).toMatch(/^ Run it\? \(\d+ s\) $/);
    await neovim.waitFor(`${title} ~= '${first}'`);
    await neovim.api.input('2');
    await neovim.shows('select="Block"');
    await neovim.command('Atomic /ask-confirm 2000');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    expect(await neovim.value(here)).toBe('All messages are lost.\n\n1  Yes\n2  No');
    await neovim.waitFor(`${floats} == 0`);
    await neovim.waiting(0);
    expect(await neovim.messages()).toMatch(
      /^(Atomic asks: [^\n]*\n)+The agent went on without an answer, because its time was up: Clear the session\?$/,
    );
  });

  it('goes from question to question, and keeps what was written of an answer', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await neovim.command('Atomic /ask-two');
    await neovim.waiting(2);
    await neovim.command('Atomic next');
    expect(await neovim.value(title)).toBe(' First ');
    await neovim.command('Atomic next');
    expect(await neovim.value(title)).toBe(' Second ');
    await neovim.api.input('half an änswer');
    await neovim.waitFor(`${here} == 'half an änswer'`);
    await neovim.command('stopinsert');
    await neovim.command('Atomic next');
    await neovim.waitFor(`${title} == ' First '`);
    await neovim.api.input('<Esc>');
    await neovim.waitFor(`${floats} == 0`);
    expect(await neovim.value("require('atomic').state().waiting")).toBe(2);
    await neovim.command('Atomic next');
    await neovim.api.input('<CR>');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    await neovim.waitFor(`${here} == 'half an änswer'`);
    await neovim.api.input('<CR>');
    await neovim.shows('two=["1","half an änswer"]');
    // A refusal is a word of its own.
    await neovim.command('Atomic /ask-input');
    await neovim.waiting(1);
    await neovim.command('Atomic refuse');
    await neovim.shows('input=undefined');
  });

  it('asks what is to become of a text that is left, and answers by :wq', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await neovim.command('Atomic /ask-editor');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    await neovim.lua(
      "vim.cmd.stopinsert(); vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'written', 'with care' })",
    );
    await neovim.command('quit');
    await neovim.waitFor(`${title} == ' Still open: Commit message '`);
    await neovim.api.input('3');
    await neovim.waitFor(`${here} == 'written\\nwith care'`);
    await neovim.command('quit!');
    await neovim.waitFor(`${title} == ' Still open: Commit message '`);
    await neovim.api.input('1');
    await neovim.waitFor(`${floats} == 0`);
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    expect(await neovim.value(here)).toBe('written\nwith care');
    await neovim.command('wq');
    await neovim.shows('editor="written\\nwith care"');
    await neovim.waiting(0);
    await neovim.waitFor("vim.fn.bufnr('atomic://answer') < 0");
    await neovim.command('Atomic /ask-editor');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    await neovim.command('quit');
    await neovim.waitFor(`${title} == ' Still open: Commit message '`);
    await neovim.api.input('2');
    await neovim.shows('editor=undefined');
  });

  it('closes the list and the input of a plugin when the question was settled elsewhere', async () => {
    const neovim = await withPlugin([], {
      init: `
        local function window(lines)
          vim.schedule(function()
            local buffer = vim.api.nvim_create_buf(false, true)
            vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
            vim.api.nvim_open_win(buffer, true, { relative = 'editor', row = 3, col = 3, width = 30, height = 3 })
          end)
        end
        function vim.ui.select(items, options) window(vim.tbl_map(options.format_item, items)) end
        function vim.ui.input(options) window({ options.prompt }) vim.schedule(vim.cmd.startinsert) end`,
      dialogs: 'own',
    });
    for (const [command, text, answer] of [
      ['/ask-select', 'Allow\nBlock\nAlways — «ünï» 😀', 'select="Allow"'],
      ['/ask-confirm', 'Yes\nNo', 'confirm=true'],
    ] as const) {
      await neovim.command(`Atomic ${command}`);
      await neovim.waiting(1);
      await neovim.command('Atomic next');
      await neovim.waitFor(`${floats} == 1 and ${here} == ${JSON.stringify(text)}`);
      await neovim.executeCommand('atomic.answer1');
      await neovim.shows(answer);
      await neovim.waitFor(`${floats} == 0`);
    }
    await neovim.command('Atomic /ask-input');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    await neovim.waitFor(`${floats} == 1 and vim.fn.mode() == 'i'`);
    await neovim.executeCommand('atomic.answer', [{ value: 'elsewhere' }]);
    await neovim.shows('input="elsewhere"');
    await neovim.waitFor(`${floats} == 0 and vim.fn.mode() == 'n'`);
  });

  it('does not show a secret, and knows what it stands for however it is edited', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await neovim.lua(`
      seen = {}
      vim.api.nvim_create_autocmd({ 'TextChangedI', 'CursorMovedI' }, { callback = function() table.insert(seen, vim.fn.getline('.')) end })
      require('atomic.secret').open({ title = 'Key' }, function(text) secret = text or 'nothing' end)`);
    await neovim.waitFor("vim.fn.mode() == 'i'");
    await neovim.api.input('abcX<BS>dé');
    await neovim.waitFor(`${here} == '•••••'`);
    // In the middle, and a paste there.
    await neovim.api.input('<Left><Left><Del>12');
    await neovim.waitFor(`${here} == '••••••'`);
    await neovim.lua("vim.paste({ 'pÄste' }, -1)");
    await neovim.waitFor(`${here} == '•••••••••••'`);
    await neovim.api.input('<CR>');
    await neovim.waitFor("secret == 'abc12pÄsteé'");
    expect((await neovim.value<string[]>('seen')).join('')).not.toMatch(/[abcXdé12]/);
    expect(await neovim.value("vim.fn.getreg('\"') .. vim.fn.getreg('.')")).not.toContain('abc');
    await neovim.lua(
      "close = require('atomic.secret').open({ title = 'Key' }, function() secret = 'called' end)",
    );
    await neovim.waitFor("vim.fn.mode() == 'i'");
    await neovim.lua('close()');
    await neovim.waitFor(`${floats} == 0 and vim.fn.mode() == 'n'`);
    expect(await neovim.value('secret')).toBe('abc12pÄsteé');
  });

  it('shows long options and texts whole, with a key for each', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await neovim.lua(`
      local items = { ('long '):rep(60) }
      for index = 2, 20 do items[index] = 'item ' .. index end
      require('atomic.choose').open(items, { title = 'Which?' }, function(index) chosen = index end)`);
    expect(await neovim.value('vim.api.nvim_win_get_height(0)')).toBeGreaterThan(21);
    expect(await neovim.value<string>(here)).toMatch(/\n9 {2}item 9\na {2}item 10\nb {2}item 11\n/);
    await neovim.api.input('b');
    await neovim.waitFor('chosen == 11');
    await neovim.lua(`
      require('atomic.answer').line({ title = 'Text', prefill = 'one\\ntwo' }, function(text) answered = text end)`);
    await neovim.api.input(' more<CR>');
    await neovim.waitFor("answered == 'one\\ntwo more'");
  });
});
