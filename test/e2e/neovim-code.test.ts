// The person's files in the Neovim plugin: buffers that the agent writes, its changes taken back, diagnostics, following along.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, pluginStarter, type WithPlugin } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

const write = (neovim: WithPlugin, name: string, text: string) => {
  mkdirSync(neovim.cwd, { recursive: true });
  writeFileSync(join(neovim.cwd, name), text);
};
const edit = (path: string, oldText: string, newText: string) => ({
  toolCall: 'edit',
  arguments: { path, edits: [{ oldText, newText }] },
});
const textOf = (name: string) =>
  `table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('${name}'), 0, -1, false), '\\n')`;
const numbered = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n');

describeWithEditor('nvim', 'files in the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('loads clean buffers again with their undo, and leaves unsaved ones alone and names them', async () => {
    const neovim = await withPlugin(
      [
        [edit('a.txt', 'two', 'TWO'), edit('ein ä.txt', 'two', 'TWO'), edit('crlf.txt', 'two', 'TWO')],
        'Done.',
      ],
      { init: 'vim.o.autoread = false' },
    );
    for (const name of ['a.txt', 'ein ä.txt']) write(neovim, name, 'one\ntwo\nthree\n');
    write(neovim, 'crlf.txt', 'one\r\ntwo\r\n');
    await neovim.lua(`
      vim.cmd.edit({ bang = true })
      for _, name in ipairs({ 'crlf.txt', 'ein ä.txt' }) do
        vim.cmd.edit({ name, magic = { file = false } })
      end
      vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'mine' })
      vim.cmd.buffer('a.txt')
      vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'ONE' })
      vim.cmd.write({ mods = { silent = true } })`);
    // Apart, as a change of its own in the undo.
    await neovim.lua(`
      vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'one' })
      vim.cmd.write({ mods = { silent = true } })
      vim.fn.cursor(3, 2)`);
    await neovim.command('Atomic Change them.');
    await neovim.shows('Done.');
    await neovim.waitFor(`${textOf('a.txt')} == 'one\\nTWO\\nthree'`);
    await neovim.waitFor(`${textOf('crlf.txt')} == 'one\\nTWO'`);
    expect(await neovim.value("vim.bo[vim.fn.bufnr('crlf.txt')].fileformat")).toBe('dos');
    expect(await neovim.value(textOf('ein ä.txt'))).toBe('mine\ntwo\nthree');
    await neovim.events.next('notify', ({ message }) =>
      message.includes('ein ä.txt, and your buffer has unsaved changes'),
    );
    expect(await neovim.value("{ vim.fn.expand('%:t'), vim.fn.line('.'), vim.fn.col('.') }")).toEqual([
      'a.txt',
      3,
      2,
    ]);
    expect(await neovim.value('vim.o.autoread')).toBe(false);
    // The change of the agent is undone as one of one's own, and what was before it, too.
    await neovim.lua('vim.cmd.undo({ mods = { silent = true } })');
    expect(await neovim.value(here)).toBe('one\ntwo\nthree');
    await neovim.lua('vim.cmd.undo({ mods = { silent = true } })');
    expect(await neovim.value(here)).toBe('ONE\ntwo\nthree');
    expect(await neovim.messages()).not.toMatch(/W1\d|E\d+:/);
  });

  it('lists changes with their diffs, compares, takes a hunk or a file back, and accepts', async () => {
    // Until all calls are announced and seen, as an agent's model takes its time, too: a `write` does not tell what was there.
    const announced = gate();
    const neovim = await withPlugin([
      [
        edit('a.txt', 'line 2\n', 'LINE 2\n'),
        edit('a.txt', 'line 25\n', 'line 25\nand more\n'),
        { toolCall: 'write', arguments: { path: 'new.txt', content: 'new\n' } },
        edit('b.txt', 'line 1\n', 'line one\n'),
        { gate: announced },
      ],
      'Done.',
    ]);
    for (const name of ['a.txt', 'b.txt']) write(neovim, name, `${numbered}\n`);
    await neovim.lua('vim.cmd.edit({ bang = true })');
    await neovim.command('Atomic changes');
    await neovim.waitFor("vim.api.nvim_buf_get_name(0) == 'atomic://changes'");
    expect(await neovim.value(here)).toBe('The agent has changed no file in this session.');
    await neovim.api.input('q');
    await neovim.lua(`vim.g.written = ''
      require('atomic').on('message_update', function(fact)
        local event = fact.assistantMessageEvent
        if event.type == 'toolcall_delta' then vim.g.written = vim.g.written .. event.delta end
      end)`);
    await neovim.command('Atomic Change them.');
    await neovim.waitFor("vim.g.written:find('line one')");
    announced.open();
    await neovim.shows('Done.');
    await neovim.phase('idle');
    await neovim.command('Atomic changes');
    await neovim.waitFor(`${here}:find('new.txt')`);
    const list = await neovim.value<string>(here);
    expect(list).toMatch(/^a\.txt {2}\+2 −1 \(modified\)\n@@ -1,5 \+1,5 @@\n line 1\n-line 2\n\+LINE 2\n/);
    expect(list).toMatch(/\nnew\.txt {2}\+1 −0 \((?:added|modified)\)\n@@ [^\n]+\n\+new\n/);
    const colours = await neovim.lua<string[]>(`
      local space = vim.api.nvim_get_namespaces()['atomic-changes']
      return vim.tbl_map(function(mark) return mark[4].line_hl_group end,
        vim.api.nvim_buf_get_extmarks(0, space, 0, { 4, -1 }, { details = true }))`);
    expect(colours).toEqual(['AtomicFile', 'AtomicHunk', 'AtomicRemoved', 'AtomicAdded']);

    // A comparison in a tab of its own.
    await neovim.api.input('ggd');
    await neovim.waitFor('vim.fn.tabpagenr() == 2');
    expect(
      await neovim.lua(`
      local found = {}
      for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        local buffer = vim.api.nvim_win_get_buf(window)
        table.insert(found, { vim.wo[window].diff, vim.api.nvim_buf_get_lines(buffer, 1, 2, true)[1], vim.api.nvim_buf_line_count(buffer) })
      end
      return found`),
    ).toEqual([
      [true, 'line 2', 30],
      [true, 'LINE 2', 31],
    ]);
    await neovim.api.input('<C-w>hq');
    await neovim.waitFor('vim.fn.tabpagenr("$") == 1');
    expect(
      await neovim.value('vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.wo[w].diff end)'),
    ).toBe(false);

    // One hunk, in the buffer as well.
    await neovim.lua("vim.fn.search('LINE 2', 'cw')");
    await neovim.api.input('r');
    await neovim.waitFor(
      `${textOf('a.txt')}:find('line 2\\n', 1, true) and ${here}:find('a.txt  +1 −0', 1, true)`,
    );
    expect(readFileSync(join(neovim.cwd, 'a.txt'), 'utf8')).toContain('line 25\nand more\n');
    // An unsaved buffer is not overwritten.
    await neovim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 1, true, { 'mine' })");
    await neovim.api.input('ggR');
    await neovim.events.next('notify', ({ message }) => message.includes('a.txt has unsaved changes'));
    await neovim.lua("vim.api.nvim_buf_call(vim.fn.bufnr('a.txt'), function() vim.cmd('silent undo') end)");
    await neovim.api.input('ggR');
    await neovim.waitFor(`not ${here}:find('a.txt', 1, true)`);
    expect(readFileSync(join(neovim.cwd, 'a.txt'), 'utf8')).toBe(`${numbered}\n`);
    await neovim.lua("vim.fn.search('^new', 'cw')");
    await neovim.api.input('a');
    await neovim.waitFor(`not ${here}:find('new.txt', 1, true)`);
    await neovim.lua("vim.fn.search('line one', 'cw')");
    await neovim.api.input('<CR>');
    await neovim.waitFor("vim.fn.expand('%:t') == 'b.txt' and vim.fn.line('.') == 1");
    expect(await neovim.messages()).not.toMatch(/E\d+:/);
  });

  it('asks to fix the diagnostics of every source', async () => {
    const neovim = await withPlugin(['Fixed.', 'All fixed.', 'Range fixed.']);
    await neovim.lua(`
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one', 'two', 'three' })
      local function report(name, buffer, ...)
        vim.diagnostic.set(vim.api.nvim_create_namespace(name), buffer, { ... })
      end
      report('lsp', 0, { lnum = 1, col = 2, message = 'wrong\\ntype', severity = 1, source = 'tsc', code = 2322 })
      report('lint', 0, { lnum = 0, col = 0, message = 'unused', severity = 2, source = 'luacheck' })
      other = vim.fn.bufadd('other.txt')
      vim.fn.bufload(other)
      report('lint', other, { lnum = 0, col = 0, message = 'elsewhere', severity = 4 })`);
    const asked = async (command: string, answer: string) => {
      await neovim.command(command);
      await neovim.shows(answer);
      await neovim.phase('idle');
      return (await neovim.model.request(neovim.model.requests.length - 1)).prompt;
    };
    expect(await asked('Atomic fix', 'Fixed.')).toBe(
      'Fix these diagnostics.\n\n- `a.txt:1:1` warning: unused (luacheck)\n- `a.txt:2:3` error: wrong type (tsc 2322)',
    );
    await neovim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('a.txt'))");
    expect(await asked('Atomic! fix', 'All fixed.')).toContain('- `other.txt:1:1` hint: elsewhere');
    expect(await asked('2Atomic fix Only the type.', 'Range fixed.')).toBe(
      'Only the type.\n\n- `a.txt:2:3` error: wrong type (tsc 2322)',
    );
    await neovim.command('3Atomic fix');
    await neovim.events.next('notify', ({ message }) => message === 'There is no diagnostic to fix.');
  });

  it('shows what the agent writes beside the chat, when it is asked to, and never where the person is', async () => {
    const neovim = await withPlugin([
      [edit('deep/b.txt', 'line 20\n', 'line twenty\n')],
      'Followed.',
      [edit('deep/b.txt', 'line 5\n', 'line five\n')],
      'Not followed.',
    ]);
    mkdirSync(join(neovim.cwd, 'deep'), { recursive: true });
    write(neovim, 'deep/b.txt', `${numbered}\n`);
    await neovim.command('Atomic watch');
    await neovim.command('Atomic');
    await neovim.command('Atomic Change it.');
    await neovim.shows('Followed.');
    await neovim.phase('idle');
    expect(await neovim.value('vim.api.nvim_buf_get_name(0)')).toBe('atomic://prompt');
    expect(
      await neovim.lua(
        "local w = vim.fn.bufwinid('deep/b.txt'); return { w > 0, vim.api.nvim_win_get_cursor(w)[1] }",
      ),
    ).toEqual([true, 20]);
    // In the only window of one's own, nothing is shown.
    await neovim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('deep/b.txt')); vim.cmd.buffer('a.txt')");
    await neovim.command('Atomic Again.');
    await neovim.shows('Not followed.');
    await neovim.phase('idle');
    expect(await neovim.value("vim.fn.expand('%:t')")).toBe('a.txt');
    rmSync(join(neovim.cwd, 'deep'), { recursive: true });
  });
});
