// What runs leave behind in Neovim: nothing. Each run has thinking, text, a tool call and a question that is answered, on the real pi.
// ATOMIC_TEST_RUNS says how many.
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { floats, pluginStarter } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

const runs = Number(process.env.ATOMIC_TEST_RUNS ?? 100);

/** Everything of the event loop's that Lua makes is known. */
const made = `
  made = {}
  for name, make in pairs(vim.uv) do
    if vim.startswith(name, 'new_') or name == 'spawn' then
      vim.uv[name] = function(...)
        local results = vim.F.pack_len(make(...))
        if type(results[1]) == 'userdata' then made[results[1]] = name end
        return vim.F.unpack_len(results)
      end
    end
  end`;

/** What could be left, counted after what has ended was let go. */
const left = `
  collectgarbage(); collectgarbage()
  local handles = {}
  for handle, kind in pairs(made) do
    if not handle:is_closing() then handles[kind] = (handles[kind] or 0) + 1 end
  end
  return {
    handles = handles,
    windows = #vim.api.nvim_list_wins(),
    buffers = #vim.api.nvim_list_bufs(),
    -- Neovim's own matchparen leaves one for the next idle moment at every window; those go by themselves.
    autocommands = #vim.tbl_filter(function(each) return not each.once end, vim.api.nvim_get_autocmds({})),
    keys = #vim.api.nvim_buf_get_keymap(vim.fn.bufnr('atomic://prompt'), 'n'),
    requests = vim.tbl_count(vim.lsp.get_clients({ name = 'atomic' })[1].requests),
    waiting = require('atomic').state().waiting,
  }`;

describeWithEditor('nvim', 'runs in Neovim', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);

  it(
    'leave no timer, window, buffer, autocommand, request or process behind, and nothing in :messages',
    async () => {
      const neovim = await withPlugin(
        ({ body, prompt }) =>
          body.messages.at(-1)?.role === 'tool'
            ? `That was ${prompt}.`
            : [
                { reasoning: 'Hm.' },
                `I do ${prompt}.\n\n- one\n- **two**\n`,
                { toolCall: 'bash', arguments: { command: `echo ask-first ${prompt}` } },
              ],
        { settings: { notify: false, dialogs: 'float' }, init: made },
      );
      const run = async (name: string, opens: boolean) => {
        await neovim.command(`Atomic${opens ? '' : '!'} ${name}`);
        await neovim.waiting(1);
        await neovim.command('Atomic next');
        await neovim.waitFor(`${floats} == 1`);
        await neovim.api.input('1');
        await neovim.shows(`That was ${name}.`);
        await neovim.phase('idle');
        if (opens) await neovim.command('Atomic close');
      };
      const ended = () =>
        neovim.waitFor("vim.tbl_count(vim.lsp.get_clients({ name = 'atomic' })[1].requests) == 0");
      await run('the first', true);
      await run('the second', false);
      await ended();
      const before = await neovim.lua(left);
      const processes = neovim.home.processes().length;
      for (let at = 0; at < runs; at += 1) await run(`number ${at}`, at % 2 === 0);
      await ended();
      expect(await neovim.lua(left)).toEqual(before);
      expect(neovim.home.processes()).toHaveLength(processes);
      expect(await neovim.messages()).toBe('');
      expect(await neovim.value('vim.v.errmsg')).toBe('');
    },
    60_000 + runs * 5_000,
  );
});
