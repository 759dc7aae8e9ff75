// Prompts of the Neovim plugin: from code, from history, with images, into a run, and what is queued.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, pluginStarter, type WithPlugin } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Writes into the prompt and presses keys there. */
const write = async (neovim: WithPlugin, text: string, keys: string) => {
  await neovim.command('Atomic');
  await neovim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(..., "\\n"))', text);
  await neovim.api.input(keys);
};

describeWithEditor('nvim', 'prompts of the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it('asks about a motion, a selection and its columns, saved or not', async () => {
    const neovim = await withPlugin([], {
      init: "vim.keymap.set({ 'n', 'x' }, '<F2>', '<Plug>(atomic-ask)')",
    });
    await neovim.lua(
      "vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one two three', 'four ``` five', 'six' })",
    );
    const asked = async (keys: string) => {
      await neovim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('a.txt'))");
      await neovim.api.input(keys);
      await neovim.waitFor("vim.api.nvim_buf_get_name(0) == 'atomic://prompt' and vim.fn.mode() == 'n'");
      const text = await neovim.value<string>(here);
      await neovim.lua("require('atomic.prompt').set('')");
      return text;
    };
    expect(await asked('gg0w<F2>iw')).toBe('\n\n`a.txt:1-1` (unsaved)\n```text\ntwo\n```');
    expect(await asked('gg0wvwh<F2>')).toBe('\n\n`a.txt:1-1` (unsaved)\n```text\ntwo \n```');
    expect(await asked('ggVj<F2>')).toBe(
      '\n\n`a.txt:1-2` (unsaved)\n```text\none two three\nfour ``` five\n```',
    );
    expect(await asked('gg0<C-v>jl<F2>')).toBe('\n\n`a.txt:1-2` (unsaved)\n```text\non\nfo\n```');
    await neovim.lua(
      "vim.api.nvim_set_current_win(vim.fn.bufwinid('a.txt')); vim.api.nvim_buf_set_lines(0, 0, 1, true, { '````' }); vim.bo.filetype = 'lua'",
    );
    expect(await asked('gg<F2>_')).toBe('\n\n`a.txt:1-1` (unsaved)\n`````lua\n````\n`````');
  });

  it('remembers prompts and the draft over a restart, for this folder', async () => {
    const home = createEditorHome();
    try {
      const first = await withPlugin(['One.', 'Two.'], { home });
      await write(first, 'Erste Fräge\nmit zwei Zeilen', '<C-s>');
      await first.shows('One.');
      await first.phase('idle');
      await write(first, 'second', '<C-s>');
      await first.shows('Two.');
      await first.phase('idle');
      await write(first, 'a draft, ünfinished', '<Esc>');
      await first.close();

      const neovim = await withPlugin([], { home, settings: { dialogs: 'vim.ui' } });
      await neovim.command('Atomic');
      expect(await neovim.value(here)).toBe('a draft, ünfinished');
      await neovim.api.input('<M-p>');
      await neovim.waitFor(`${here} == 'second'`);
      await neovim.api.input('<M-p>');
      await neovim.waitFor(`${here} == 'Erste Fräge\\nmit zwei Zeilen'`);
      await neovim.api.input('<M-n><M-n>');
      await neovim.waitFor(`${here} == 'a draft, ünfinished'`);
      await neovim.api.input('<M-r>');
      const { id, items } = await neovim.events.next('select');
      expect(items).toEqual(['second', 'Erste Fräge mit zwei Zeilen']);
      await neovim.answer(id, 2);
      await neovim.waitFor(`${here} == 'Erste Fräge\\nmit zwei Zeilen'`);
      const modes = await neovim.lua<number[]>(`
        local found = {}
        for name, kind in vim.fs.dir(vim.fn.stdpath('state') .. '/atomic', { depth = 3 }) do
          table.insert(found, bit.band(vim.uv.fs_stat(vim.fn.stdpath('state') .. '/atomic/' .. name).mode, 63))
        end
        return found`);
      expect(modes.length).toBeGreaterThan(1);
      expect(modes.every((mode) => mode === 0)).toBe(true);
      await neovim.close();
    } finally {
      await home.close();
    }
  });

  it('steers, follows up, shows what is queued, and lets it be edited and taken back', async () => {
    const wait = gate();
    const neovim = await withPlugin(
      ({ prompt }) => (prompt.includes('begin') ? ['Working. ', { gate: wait }] : `Heard: ${prompt}`),
      { terminal: { cols: 140, rows: 40 } },
    );
    await neovim.lua("vim.schedule(function() vim.cmd('Atomic begin') end)");
    await neovim.shows('Working.');
    await write(neovim, 'steer left', '<M-s>');
    await write(neovim, 'then fölgt\nmore', '<M-CR>');
    await write(neovim, 'and last', '<M-CR>');
    const queue = "require('atomic').state().queue";
    await neovim.waitFor(`#${queue}.steering == 1 and #${queue}.followUp == 2`);
    await neovim.terminal!.waitForScreen(/↪ steer left[\s\S]*» then fölgt more[\s\S]*» and last/);
    expect(await neovim.value("require('atomic.winbar').text()")).toContain('3 queued');

    await neovim.command('Atomic queue');
    expect(await neovim.value(here)).toBe(
      '# Steering\nsteer left\n\n# After the run\nthen fölgt\nmore\n---\nand last',
    );
    await neovim.lua("vim.cmd('%s/left/right/'); vim.cmd('$-1,$d'); vim.cmd.write()");
    await neovim.waitFor(`#${queue}.followUp == 1 and ${queue}.steering[1] == 'steer right'`);
    expect(await neovim.value(queue)).toEqual({ steering: ['steer right'], followUp: ['then fölgt\nmore'] });
    await neovim.waitFor("vim.fn.bufnr('atomic://queue') < 0");

    await neovim.command('Atomic unqueue');
    await neovim.waitFor(
      "require('atomic.prompt') and vim.fn.getbufline('atomic://prompt', 1)[1] == 'steer right'",
    );
    expect(await neovim.prompt()).toBe('steer right\n\nthen fölgt\nmore');
    await neovim.waitFor(
      `#${queue}.steering + #${queue}.followUp == 0 and #require('atomic.panel').windows() == 0`,
    );
    wait.open();
    await neovim.phase('idle');
    expect(neovim.model.requests).toHaveLength(1);
    // A stop gives back what is queued, too.
    expect(await neovim.messages()).toBe('');
  });

  it('merges an edited queue with what happened meanwhile', async () => {
    const neovim = await withPlugin([]);
    const merged = await neovim.lua(`
      local queue = require('atomic.queue')
      local before = { steering = { 'a', 'b' }, followUp = { 'c' } }
      local edited = queue.parse(queue.lines({ steering = { 'a', 'B' }, followUp = { 'c' } }))
      -- The agent took "a", and somebody else queued "d".
      return queue.merged(before, { steering = { 'b' }, followUp = { 'c', 'd' } }, edited)`);
    expect(merged).toEqual([
      { command: 'steer', text: 'B' },
      { command: 'follow_up', text: 'c' },
      { command: 'follow_up', text: 'd' },
    ]);
  });

  it('sends images from a file and from the clipboard, and refuses what is none', async () => {
    const home = createEditorHome();
    try {
      const bin = join(home.path, 'bin');
      mkdirSync(bin);
      writeFileSync(
        join(bin, 'wl-paste'),
        `#!/bin/sh\n[ "$3" = image/png ] && base64 -d <<'X'\n${png.toString('base64')}\nX\n`,
      );
      chmodSync(join(bin, 'wl-paste'), 0o755);
      const neovim = await withPlugin(['I see.', 'Still.'], {
        home,
        server: { start: { model: 'local/thinker' } },
        env: { PATH: `${bin}:${process.env.PATH}`, WAYLAND_DISPLAY: 'x' },
      });
      mkdirSync(neovim.cwd, { recursive: true });
      writeFileSync(join(neovim.cwd, 'bild ä.png'), png);
      writeFileSync(join(neovim.cwd, 'text.png'), 'not at all');
      await neovim.command('Atomic image text.png');
      await neovim.events.next('notify', ({ message }) => message.includes('text.png is no image'));
      await neovim.command('Atomic image nowhere.png');
      await neovim.events.next('notify', ({ message }) => message.includes('There is no file nowhere.png'));
      await neovim.command('Atomic image bild ä.png');
      await neovim.command('Atomic');
      expect(await neovim.value(here)).toBe('[image 1: bild ä.png] ');
      await neovim.api.input('<M-v>');
      await neovim.waitFor(`${here} == '[image 1: bild ä.png] [image 2: clipboard.png] '`);
      expect(await neovim.value("require('atomic.winbar').text()")).toContain('2 images');
      await neovim.api.input('A What is this?<C-s>');
      await neovim.shows('I see.');
      const images = () =>
        JSON.stringify(neovim.model.requests.at(-1)!.body.messages.at(-1)).match(
          /data:image\/png;base64,/g,
        ) ?? [];
      expect(images()).toHaveLength(2);
      await neovim.phase('idle');
      expect(await neovim.value("require('atomic.images').count()")).toBe(0);
      // A mark that was deleted takes its image with it.
      await neovim.command('Atomic image bild ä.png');
      await write(neovim, 'Without.', '<C-s>');
      await neovim.shows('Still.');
      expect(images()).toHaveLength(0);
      await neovim.close();
    } finally {
      await home.close();
    }
  });

  it('gives a prompt back that the agent refused', async () => {
    const neovim = await withPlugin([]);
    await neovim.lua("require('atomic.session').intent('prompt', { message = ' ' }, {})");
    await neovim.events.next('notify', ({ level }) => level === 4);
    await write(neovim, '/no-such-command precious', '<Esc>');
    await neovim.lua("require('atomic.prompt').deliver('no_such_command', 'precious text')");
    await neovim.events.next('notify', ({ level }) => level === 4);
    expect(await neovim.prompt()).toContain('precious text');
  });
});
