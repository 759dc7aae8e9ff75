// What helps to write a prompt in the Neovim plugin: completion by the language server, shell commands, a login.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { floats, here, pluginStarter } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

const words = "vim.tbl_map(function(it) return it.word end, vim.fn.complete_info({ 'items' }).items)";

describeWithEditor('nvim', 'help with prompts in the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('completes commands and files as they are typed, and leaves that to a plugin where there is one', async () => {
    const neovim = await withPlugin(['Read.'], { init: "vim.o.completeopt = 'menu,preview'" });
    mkdirSync(join(neovim.cwd, 'src ä'), { recursive: true });
    writeFileSync(join(neovim.cwd, 'src ä/main file.txt'), 'text\n');
    await neovim.command('Atomic');
    await neovim.waitFor("require('atomic.server').is_ready() and #vim.lsp.get_clients({ bufnr = 0 }) == 1");
    await neovim.api.input('i/ask-');
    await neovim.waitFor(`vim.fn.pumvisible() == 1 and vim.tbl_contains(${words}, '/ask-select')
      or vim.iter(${words}):any(function(it) return it:find('ask%-select') end)`);
    expect(await neovim.value(here)).toBe('/ask-');
    await neovim.api.input('sel');
    await neovim.waitFor(`${here} == '/ask-sel'`);
    await neovim.api.input('<C-n><C-y>');
    await neovim.waitFor(`vim.trim(${here}) == '/ask-select'`);
    await neovim.api.input('<Esc>');
    await neovim.waitFor("vim.fn.mode() == 'n' and vim.o.completeopt == 'menu,preview'");
    await neovim.api.input('ccLook at @main');
    await neovim.waitFor(`vim.iter(${words}):any(function(it) return it:find('main file', 1, true) end)`);
    await neovim.api.input('<C-n><C-y>');
    await neovim.waitFor(`${here}:find('main file.txt', 1, true)`);
    await neovim.api.input('<Esc>');
    await neovim.waitFor("vim.fn.mode() == 'n'");
    await neovim.lua("package.loaded['cmp'] = {}");
    await neovim.api.input('cc/ask-');
    await neovim.waitFor(`${here} == '/ask-'`);
    expect(await neovim.value('vim.fn.pumvisible()')).toBe(0);
    expect((await neovim.messages()).trim()).toBe('');
  });

  it('runs a shell command, with its output as it comes, and shows it once', async () => {
    const neovim = await withPlugin(['I saw it.']);
    await neovim.command('Atomic shell echo "first ü"; while [ ! -e go ]; do sleep 0.02; done; echo second');
    await neovim.shows('⚙ ! echo "first ü"');
    await neovim.shows('\nfirst ü\n');
    mkdirSync(neovim.cwd, { recursive: true });
    writeFileSync(join(neovim.cwd, 'go'), '');
    await neovim.shows('\nfirst ü\nsecond\n');
    await neovim.shows('✓ ! echo');
    await neovim.command('Atomic What was it?');
    await neovim.shows('I saw it.');
    await neovim.phase('idle');
    expect((await neovim.chat()).match(/\nsecond\n/g)).toHaveLength(1);
    await neovim.command('Atomic shell exit 3');
    await neovim.shows('✗ ! exit 3');
  });

  it('logs in by steps that are questions, and saves a key that is not shown', async () => {
    const neovim = await withPlugin([], {
      settings: { dialogs: 'float' },
      server: { agent: undefined, hub: false },
      env: { PATH: '/usr/bin:/bin' },
    });
    await neovim.command('Atomic Hello.');
    await neovim.shows('demo');
    await neovim.phase('idle');
    await neovim.command('Atomic login');
    await neovim.waitFor(`${floats} == 1`);
    expect(await neovim.value(here)).toContain('1  Demo');
    await neovim.api.input('1');
    await neovim.waiting(1);
    await neovim.command('Atomic next');
    await neovim.waitFor("vim.fn.mode() == 'i'");
    await neovim.api.input('anything<CR>');
    await neovim.waiting(0);
    await neovim.waitFor(`${floats} == 0`);
    await neovim.command('Atomic key demo');
    await neovim.waitFor("vim.fn.mode() == 'i'");
    await neovim.api.input('sk-1234<CR>');
    await neovim.events.next('notify', ({ message }) => message === 'The key of demo is saved.');
    expect(
      JSON.stringify(await neovim.lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)')),
    ).not.toContain('sk-1234');
    expect(await neovim.messages()).not.toContain('sk-1234');
  });
});
