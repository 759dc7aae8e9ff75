// The chat of the Neovim plugin: windows, how a transcript looks while it streams, and what can be done in it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, pluginStarter, windowOf } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

describeWithEditor('nvim', 'the chat of the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('opens in every layout without taking a window, and goes without a trace', async () => {
    const neovim = await withPlugin(['Hello.']);
    await neovim.command('Atomic Hi.');
    await neovim.shows('Hello.');
    await neovim.command('Atomic close');
    for (const layout of ['right', 'left', 'below', 'tab', 'float']) {
      await neovim.lua(
        "require('atomic').setup(vim.tbl_extend('force', vim.g.atomic, { layout = ... }))",
        layout,
      );
      await neovim.lua("require('atomic').open()");
      expect(await neovim.value('vim.api.nvim_buf_get_name(0)'), layout).toBe('atomic://prompt');
      expect(
        await neovim.value(`vim.wo[${windowOf('chat')}].foldmethod .. vim.wo[${windowOf('chat')}].winbar`),
        layout,
      ).toContain("expr%{%v:lua.require'atomic.winbar'.text()%}");
      await neovim.lua("require('atomic').close()");
      expect(
        await neovim.value(
          "{ #vim.api.nvim_list_wins(), vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t') }",
        ),
        layout,
      ).toEqual([1, 'a.txt']);
      expect(await neovim.value('vim.wo.winbar .. vim.wo.foldmethod'), layout).toBe('manual');
    }
    // A prompt window that is closed closes the chat.
    await neovim.lua("require('atomic').setup(vim.g.atomic); require('atomic').open(); vim.cmd.quit()");
    await neovim.waitFor("not require('atomic.chat').is_open() and #vim.api.nvim_list_wins() == 1");
  });

  it('shows the newest line of thinking and of a tool in its closed fold, as it grows, on the screen', async () => {
    const [more, tool] = [gate(), gate()];
    const neovim = await withPlugin(
      [
        [
          { reasoning: 'First thought.\n' },
          { reasoning: 'Second thought.' },
          { gate: more },
          { reasoning: '\nThird thought.' },
          { gate: tool },
          '## A heading\n\nLooking. ',
          {
            toolCall: 'bash',
            arguments: { command: 'echo one; while [ ! -e go ]; do sleep 0.02; done; echo two' },
          },
        ],
        'Done.',
      ],
      { terminal: { cols: 140, rows: 30 }, server: { start: { model: 'local/thinker' } } },
    );
    const { terminal } = neovim;
    await neovim.lua("vim.schedule(function() vim.cmd('Atomic Think.') end)");
    await terminal!.waitForScreen(/▸ Thinking · 2 lines · Second thought\./);
    more.open();
    await terminal!.waitForScreen(/▸ Thinking · 3 lines · Third thought\./);
    tool.open();
    await terminal!.waitForScreen(/▸ ⚙ bash echo one;.* · one/);
    // Markdown is highlighted while it streams.
    await neovim.waitFor(`(function()
      local buffer, space = vim.fn.bufnr('atomic://chat'), vim.api.nvim_get_namespaces()['atomic-paint']
      for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
        if line == '## A heading' then
          return vim.iter(vim.api.nvim_buf_get_extmarks(buffer, space, { row - 1, 0 }, { row - 1, -1 }, { details = true })):any(function(it)
            return vim.startswith(it[4].hl_group or '', '@markup.heading')
          end)
        end
      end
    end)()`);
    mkdirSync(neovim.cwd, { recursive: true });
    writeFileSync(join(neovim.cwd, 'go'), '');
    const screen = await terminal!.waitForScreen(/▸ ✓ bash echo one;.* · two[\s\S]*Done\./);
    expect(screen).not.toMatch(/Press ENTER|E\d+:/);
    expect(await neovim.messages()).toBe('');
  });

  it('colours a diff, leads to its file, goes from turn to turn and copies', async () => {
    const neovim = await withPlugin([
      [
        'Look at `my file.txt:2` and b.txt:3.\n\n```lua\nprint("block")\n```\n',
        { toolCall: 'edit', arguments: { path: 'my file.txt', edits: [{ oldText: 'two', newText: 'TWO' }] } },
      ],
      'Changed **it**.',
      'Second answer.',
    ]);
    mkdirSync(neovim.cwd, { recursive: true });
    for (const name of ['my file.txt', 'b.txt']) writeFileSync(join(neovim.cwd, name), 'one\ntwo\nthree\n');
    await neovim.command('Atomic Change it.');
    await neovim.shows('Changed **it**.');
    await neovim.phase('idle');
    const coloured = await neovim.lua<string[]>(`
      local buffer, found = vim.fn.bufnr('atomic://chat'), {}
      local space = vim.api.nvim_get_namespaces()['atomic-transcript']
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true })) do
        local line = vim.api.nvim_buf_get_lines(buffer, mark[2], mark[2] + 1, true)[1]
        table.insert(found, (mark[4].line_hl_group or mark[4].hl_group) .. ' ' .. line)
      end
      return found`);
    expect(coloured.join('\n')).toMatch(
      /AtomicUser ## You\nAtomicAgent ## Atomic\n[\s\S]*AtomicRemoved -\s*2 two\nAtomicAdded \+\s*2 TWO/,
    );

    const at = (text: string, keys: string) =>
      neovim
        .lua(
          `local window = ${windowOf('chat')}
         vim.api.nvim_set_current_win(window)
         vim.fn.cursor(1, 1)
         vim.fn.search('\\\\V' .. ..., 'c')
         vim.cmd('normal! zv')`,
          text,
        )
        .then(() => neovim.api.input(keys));
    const place = "{ vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t'), vim.fn.line('.') }";
    await at('file.txt:2', 'gf');
    await neovim.waitFor("vim.fn.expand('%:t') == 'my file.txt'");
    expect(await neovim.value(place)).toEqual(['my file.txt', 2]);
    await at('b.txt:3', 'gf');
    await neovim.waitFor("vim.fn.expand('%:t') == 'b.txt'");
    expect(await neovim.value(place)).toEqual(['b.txt', 3]);
    await at('✓ edit', 'gf');
    await neovim.waitFor("vim.fn.expand('%:t') == 'my file.txt'");
    await at('two', 'gf');
    await at('Look at', 'gf');
    await neovim.events.next('notify', ({ message }) => message.includes('There is no file Look'));

    await at('print(', 'gY');
    await neovim.waitFor(`vim.fn.getreg('"') == 'print("block")'`);
    await neovim.command('Atomic Again.');
    await neovim.shows('Second answer.');
    await neovim.phase('idle');
    await at('print(', 'gy');
    await neovim.waitFor(`vim.fn.getreg('"') == 'Second answer.'`);
    await neovim.api.input('gg]]');
    await neovim.waitFor("vim.api.nvim_get_current_line() == '## You' and vim.fn.line('.') > 1");
    expect(await neovim.value("vim.fn.getline(vim.fn.line('.') + 2)")).toBe('Again.');
    await neovim.api.input('[[');
    await neovim.waitFor("vim.fn.getline(vim.fn.line('.') + 2) == 'Change it.'");
  });

  it('tells model, thinking, use of the context and cost above the chat', async () => {
    const neovim = await withPlugin(['Fine.'], { server: { start: { model: 'local/thinker' } } });
    await neovim.command('Atomic How are you?');
    await neovim.shows('Fine.');
    await neovim.phase('idle');
    await neovim.command('Atomic thinking high');
    await neovim.waitFor("require('atomic').state().state.thinkingLevel == 'high'");
    expect(await neovim.value("require('atomic.winbar').text()")).toMatch(
      /^ Thinker · thinks high · idle · ↑\S+ ↓\S+ · \d+%% of 128\.0k · \$[\d.]+/,
    );
    expect(await neovim.value("require('atomic').statusline()")).toBe('atomic: idle');
    await neovim.command('Atomic name Marmelade & 100%');
    await neovim.waitFor("require('atomic.winbar').prompt() == ' Prompt · Marmelade & 100%%'");
  });

  it('leaves no timer, window, buffer or autocommand after a hundred questions, lists and turns', async () => {
    const neovim = await withPlugin(['Done.'], {
      settings: { dialogs: 'float' },
      init: `
        all_timers = {}
        local make = vim.uv.new_timer
        function vim.uv.new_timer() local timer = make() all_timers[timer] = true return timer end`,
    });
    await neovim.command('Atomic Hello.');
    await neovim.shows('Done.');
    await neovim.phase('idle');
    const left = () =>
      neovim.lua<number[]>(`
        local timers = #vim.tbl_filter(function(timer) return not timer:is_closing() end, vim.tbl_keys(all_timers))
        return {
          #vim.api.nvim_list_wins(),
          #vim.api.nvim_list_bufs(),
          timers,
          #vim.tbl_filter(function(each) return not each.once end, vim.api.nvim_get_autocmds({})),
        }`);
    const turn = `
      local question = require('atomic.question')
      local deadline = (os.time() + 60) * 1000
      for index, method in ipairs({ 'select', 'confirm', 'input', 'editor' }) do
        question.show({ id = 'q' .. index, method = method, title = 'Q', options = { 'a', 'b' }, deadline = deadline }, function() end)()
      end
      question.show({ id = 's', method = 'input', title = 'Q', secret = true, deadline = deadline }, function() end)()
      require('atomic.list').open('data', { title = 'D', lines = { 'x' } }).close()
      require('atomic').close()
      require('atomic').open()`;
    await neovim.lua(turn);
    await neovim.waitFor("vim.fn.mode() == 'n'");
    const before = await left();
    await neovim.lua(`for _ = 1, 100 do ${turn} end`);
    await neovim.waitFor("vim.fn.mode() == 'n'");
    expect(await left()).toEqual(before);
    expect(await neovim.messages()).toBe('');
    expect(await neovim.value(here)).toBe('');
  });
});
