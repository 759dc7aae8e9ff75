// What others see of the Neovim plugin: widgets and words of extensions, the Lua interface, its help, its configuration.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, plugin, pluginStarter, windowOf } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

describeWithEditor('nvim', 'the Neovim plugin towards extensions and others', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('shows statuses, widgets, a title, notifications and a text for the prompt, and takes them away', async () => {
    const neovim = await withPlugin([]);
    await neovim.command('Atomic');
    await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'precious draft' })");
    const window = await neovim.value('vim.api.nvim_get_current_win()');
    await neovim.lua("require('atomic').intent('prompt', { message = '/say' })");
    await neovim.shows('a notification: error');
    await neovim.waitFor("vim.fn.bufwinid('atomic://below') > 0");
    const lines = (name: string) =>
      neovim.value<string>(`table.concat(vim.fn.getbufline('atomic://${name}', 1, '$'), '\\n')`);
    expect(await lines('below')).toBe('one\ntwo');
    expect(await neovim.value(`vim.api.nvim_win_get_height(${windowOf('below')})`)).toBe(2);
    expect(await neovim.value("require('atomic.winbar').text()")).toMatch(/green status · A title%<$/);
    expect(await neovim.value("require('atomic').statusline()")).toBe('atomic: idle · green status');
    expect(await neovim.prompt()).toBe('text for the prompt');
    expect(await neovim.value('vim.api.nvim_get_current_win()')).toBe(window);
    await neovim.events.next(
      'notify',
      ({ message, level }) => message === 'a notification: error' && level === 4,
    );
    // The draft that it replaced is the newest of the earlier prompts.
    await neovim.api.input('<M-p>');
    await neovim.waitFor(`${here} == 'precious draft'`);

    await neovim.lua(
      "require('atomic.panel').update(vim.tbl_extend('force', require('atomic').state(), { widgets = { a = { lines = { '\\27[31mred\\27[0m' }, placement = 'aboveEditor' } } }), vim.api.nvim_get_current_win())",
    );
    expect(await lines('above')).toBe('red');
    await neovim.command('Atomic close');
    expect(await neovim.value('#vim.api.nvim_list_wins()')).toBe(1);
    // With the chat closed a notification is one of Neovim's.
    await neovim.lua("require('atomic').intent('prompt', { message = '/say clear' })");
    await neovim.events.next('notify', ({ message }) => message === 'a notification: info');
    await neovim.waitFor("next(require('atomic').state().widgets) == nil");
    await neovim.command('Atomic open');
    expect(await neovim.value('#vim.api.nvim_list_wins()')).toBe(3);
    expect(await neovim.value("require('atomic').statusline()")).toBe('atomic: idle');
  });

  it('does what its one schema says: every subcommand, map and help tag is there', async () => {
    const neovim = await withPlugin([]);
    const schema = JSON.parse(readFileSync(join(plugin, 'schema.json'), 'utf8'));
    const names = (list: { name: string }[]) => list.map(({ name }) => name).sort();
    expect((await neovim.value<string[]>("vim.tbl_keys(require('atomic.verbs'))")).sort()).toEqual(
      names(schema.subcommands),
    );
    const maps = await neovim.lua<string[]>(`
      local found = {}
      for _, mode in ipairs({ 'n', 'x' }) do
        for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
          local name = map.lhs:match('^<Plug>%(atomic%-(.*)%)$')
          if name then table.insert(found, name .. ' ' .. mode) end
        end
      end
      return found`);
    expect(maps.sort()).toEqual(
      schema.maps
        .flatMap(({ name, modes }: { name: string; modes: string }) =>
          [...modes].map((mode) => `${name} ${mode}`),
        )
        .sort(),
    );
    await neovim.lua(`
      local copy = vim.fn.tempname()
      vim.fn.mkdir(copy .. '/doc', 'p')
      vim.uv.fs_copyfile(${JSON.stringify(join(plugin, 'doc/atomic.txt'))}, copy .. '/doc/atomic.txt')
      vim.cmd.helptags(copy .. '/doc')
      tags = vim.fn.readfile(copy .. '/doc/tags')
      vim.opt.runtimepath:append(copy)`);
    // The tags that are shipped are Neovim's own.
    expect(readFileSync(join(plugin, 'doc/tags'), 'utf8').trimEnd().split('\n')).toEqual(
      await neovim.value('tags'),
    );
    for (const tag of [
      'atomic',
      ':Atomic',
      'atomic-keys',
      'atomic-changes',
      ...schema.settings.map(({ name }: { name: string }) => `atomic.${name}`),
    ]) {
      await neovim.command(`help ${tag}`);
      expect(await neovim.value('vim.api.nvim_get_current_line()'), tag).toContain(`*${tag}*`);
    }
    expect(
      (await neovim.value<string[]>('vim.api.nvim_buf_get_lines(0, 0, -1, false)')).filter(
        (line) => [...line].length > 80,
      ),
    ).toEqual([]);
  });

  it('names what is wrong in a configuration, and takes the rest', async () => {
    const neovim = await withPlugin([]);
    const problems = await neovim.lua<string[]>(`return require('atomic.config').problems({
      layout = 'up', width = 0, prompt_height = 1.5, cmd = {}, notify = 'yes', nonsense = 1,
      keys = { send = 5, jump = 'x', stop = false, older = { '<Up>', '<C-p>' } },
    })`);
    expect(problems).toEqual([
      'atomic has no key `keys.jump`: see :help atomic-keys.',
      'atomic has no setting `nonsense`: see :help atomic-config.',
      'atomic: `cmd` must be a list of strings that is not empty.',
      'atomic: `keys.send` must be a key, a list of keys, or false.',
      'atomic: `layout` must be one of right, left, below, tab, float.',
      'atomic: `notify` must be true or false.',
      'atomic: `prompt_height` must be a whole number from 0.',
      'atomic: `width` must be a number above 0.',
    ]);
    expect(
      await neovim.lua(`
        require('atomic').setup({ layout = 'up', width = 0.3, keys = { jump = 'x', stop = false } })
        local config = require('atomic.config').get()
        return { config.layout, config.width, config.keys.stop, config.keys.send, config.keys.jump or 'none' }`),
    ).toEqual(['right', 0.3, false, '<C-s>', 'none']);
    await neovim.events.next('notify', ({ message }) => message.includes('`layout` must be one of'));
    // What a plugin manager gives `setup` goes over `vim.g.atomic`, and takes the place of no more than it names.
    expect(
      await neovim.lua(`
        local global = vim.g.atomic
        vim.g.atomic = vim.tbl_extend('force', global, { width = 0.5, height = 0.6, keys = { stop = 'S', send = 'x' } })
        require('atomic').setup({ width = 0.2, keys = { send = 'y' } })
        local config = require('atomic.config').get()
        vim.g.atomic = global
        return { config.width, config.height, config.keys.stop, config.keys.send, config.cmd[#config.cmd] }`),
    ).toEqual([0.2, 0.6, 'S', 'y', '--stdio']);
    await neovim.lua("vim.g.atomic = 'nonsense'; package.loaded['atomic.config'] = nil");
    await neovim.command('checkhealth atomic');
    expect(await neovim.text()).toContain('The configuration of atomic must be a table, and is a string.');
  });

  it('tells of the end of a run whoever does not see its chat, and the desktop where that is wanted', async () => {
    const wait = gate();
    const neovim = await withPlugin([
      'One.\nMore.',
      'Two.',
      'Three.',
      { status: 400, body: { error: { message: 'no such model' } } },
      ['Five', { gate: wait }],
      'Six.',
    ]);
    await neovim.lua(`
      desktop = {}
      require('atomic').setup({ desktop = function(text) table.insert(desktop, text) end })`);
    const run = async (how: string, count: number) => {
      await neovim.lua(
        `settled = false; off = require('atomic').on('agent_settled', function() settled = true end)`,
      );
      await neovim.lua(how);
      await neovim.waitFor('settled');
      await neovim.lua('off()');
      expect(await neovim.value('#desktop'), how).toBe(count);
    };
    const notified = (text: string) => neovim.events.next('notify', ({ message }) => message === text);
    await run("require('atomic').prompt('one', { open = false })", 1);
    await notified('Atomic is done: One. More.');
    // Seen.
    await run("require('atomic').prompt('two')", 1);
    await run("vim.cmd.tabnew(); require('atomic').prompt('three', { open = false }); vim.cmd.tabnew()", 2);
    await notified('Atomic is done: Three.');
    await run("vim.cmd('tabonly | Atomic close'); require('atomic').prompt('four', { open = false })", 3);
    await neovim.events.next(
      'notify',
      ({ message, level }) => /^Atomic failed: .*no such model/.test(message) && level === 3,
    );
    // Whoever stops it knows.
    await neovim.lua("require('atomic').prompt('five')");
    await neovim.shows('Five');
    await run("vim.cmd('Atomic close'); vim.cmd('Atomic stop')", 3);
    wait.open();
    // The chat is open, and the person is elsewhere: nothing in Neovim, the desktop alone.
    await run("vim.api.nvim_exec_autocmds('FocusLost', {}); require('atomic').prompt('six')", 4);
    expect(await neovim.value('desktop')).toEqual([
      'Atomic is done: One. More.',
      'Atomic is done: Three.',
      expect.stringMatching(/^Atomic failed: .*no such model/),
      'Atomic is done: Six.',
    ]);
    await neovim.lua("vim.api.nvim_exec_autocmds('FocusGained', {})");
    expect(await neovim.messages()).not.toMatch(/Two|Five|Six|E\d+:/);
    // The context is marked when it is nearly full.
    await neovim.lua(`
      local s = require('atomic').state()
      s.state.contextWindow = select(1, require('atomic.fold').context(s)) / 0.85`);
    expect(await neovim.value("require('atomic.winbar').text()")).toContain('%#AtomicQueue#85%% of');
  });

  it('tells and asks by a plugin whose function is a table', async () => {
    const neovim = await withPlugin([], {
      settings: { dialogs: 'auto' },
      init: `
        told = {}
        vim.notify = setmetatable({}, { __call = function(_, text) table.insert(told, text) end })
        vim.ui.select = setmetatable({}, { __call = function(_, items, _, done) done(items[2], 2) end })`,
      dialogs: 'own',
    });
    await neovim.command('Atomic /ask-select');
    await neovim.waiting(1);
    await neovim.waitFor("vim.iter(told):any(function(text) return text:find('^Atomic asks: ') end)");
    await neovim.command('Atomic next');
    await neovim.shows('select="Block"');
    await neovim.waiting(0);
  });

  it('survives callbacks of others that fail, and never speaks from a fast event', async () => {
    const neovim = await withPlugin(['Done.']);
    await neovim.lua(`
      count = 0
      require('atomic').on('*', function() count = count + 1; assert(not vim.in_fast_event()) end)
      off = require('atomic').on('agent_start', function() error('mine') end)
      require('atomic').prompt('Hello.', { open = false })`);
    await neovim.waitFor(
      "require('atomic').state().lastRun ~= nil and require('atomic').state().phase == 'idle'",
    );
    await neovim.events.next('notify', ({ message }) => message.includes('mine'));
    expect(await neovim.value<number>('count')).toBeGreaterThan(3);
    expect(await neovim.value('#vim.api.nvim_list_wins()')).toBe(1);
    await neovim.lua('off()');
    expect(await neovim.messages()).not.toMatch(/E5560/);
  });
});
