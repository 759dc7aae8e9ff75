// The Neovim plugin in the real Neovim, on the real pi.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { program } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { type Neovim, startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const plugin = join(import.meta.dirname, '../../clients/neovim');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Neovim with the plugin as a user has it; nothing is started yet. */
async function withPlugin(script: ModelScript, options: { settings?: object } = {}): Promise<Neovim> {
  const model = await startModelServer(script);
  closing.push(() => model.close());
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  closing.push(() => agent.dispose());
  const settings = { agent: { command: agent.command, args: agent.args, env: agent.env } };
  const config = { cmd: [process.execPath, program, '--stdio'], settings, ...options.settings };
  const neovim = await startNeovim({
    files: ['a.txt'],
    init: [
      'vim.o.columns, vim.o.lines = 140, 40',
      `vim.opt.runtimepath:prepend(${JSON.stringify(plugin)})`,
      `vim.g.atomic = vim.json.decode(${JSON.stringify(JSON.stringify(config))})`,
    ].join('\n'),
  });
  closing.push(() => neovim.close());
  return neovim;
}

const command = (neovim: Neovim, text: string) => neovim.lua('vim.cmd(...)', text);
const lines = (name: string) =>
  `table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('atomic://${name}'), 0, -1, false), '\\n')`;
const chat = (neovim: Neovim) => neovim.lua<string>(`return ${lines('chat')}`);
const prompt = (neovim: Neovim) => neovim.lua<string>(`return ${lines('prompt')}`);
const shows = (neovim: Neovim, text: string) =>
  neovim.waitFor(
    `vim.fn.bufnr('atomic://chat') > 0 and ${lines('chat')}:find(${JSON.stringify(text)}, 1, true)`,
  );
const phase = (neovim: Neovim, name: string) =>
  neovim.waitFor(`require('atomic').state().phase == '${name}'`);
const messages = (neovim: Neovim) =>
  neovim.lua<string>("return vim.api.nvim_exec2('messages', { output = true }).output");

describeWithEditor('nvim', 'the Neovim plugin, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('loads one small file at the start', async () => {
    const neovim = await withPlugin([]);
    const loaded = await neovim.lua<string[]>(
      "return vim.tbl_filter(function(name) return vim.startswith(name, 'atomic') end, vim.tbl_keys(package.loaded))",
    );
    expect(loaded).toEqual([]);
    expect(await neovim.lua("return vim.fn.exists(':Atomic')")).toBe(2);
  });

  it('streams an answer, with thinking apart and a tool folded, and says nothing in :messages', async () => {
    const wait = gate();
    const neovim = await withPlugin([
      [
        { reasoning: 'Hm, marmalade.' },
        'Let me look. ',
        { gate: wait },
        { toolCall: 'bash', arguments: { command: 'echo marmalade' } },
      ],
      'All is **well**.',
    ]);
    const before = await neovim.lua<number>('return vim.api.nvim_get_current_win()');
    await command(neovim, 'Atomic What is here?');
    await shows(neovim, 'Let me look.');
    expect(await neovim.lua("return require('atomic').state().phase")).toBe('writing');
    expect(await neovim.lua('return vim.api.nvim_get_current_win()')).toBe(before);
    wait.open();
    await shows(neovim, 'All is **well**.');
    await phase(neovim, 'idle');
    const text = await chat(neovim);
    expect(text).toMatch(/^## You\n\nWhat is here\?\n\n## Atomic\n/);
    expect(text).toContain('*Thinking*\nHm, marmalade.');
    expect(text).toMatch(/✓ bash echo marmalade.*\n```text\nmarmalade\n```\n/);
    expect(text.match(/Let me look\./g)).toHaveLength(1);
    const folded = await neovim.lua<string>(
      `local row = vim.fn.bufnr('atomic://chat')
       local window = vim.fn.win_findbuf(row)[1]
       return vim.api.nvim_win_call(window, function()
         return vim.fn.foldtextresult(vim.fn.search('✓ bash', 'cw'))
       end)`,
    );
    expect(folded).toMatch(/▸ ✓ bash echo marmalade.* marmalade/);
    expect(await neovim.lua("return require('atomic.winbar').text()")).toMatch(/ Scripted · idle · ↑/);
    expect(await messages(neovim)).toBe('');
  });

  it('has the same transcript when it is drawn anew', async () => {
    const neovim = await withPlugin([
      ['Looking. ', { toolCall: 'bash', arguments: { command: 'printf "a\\nb\\n"' } }],
      'Ünïcode 😀\n\n- one\n- two',
    ]);
    await command(neovim, 'Atomic Look.');
    await shows(neovim, '- two');
    await phase(neovim, 'idle');
    const streamed = await chat(neovim);
    await neovim.lua("require('atomic.transcript').redraw(require('atomic.session').snapshot)");
    const untimed = (text: string) => text.replace(/ · [\d.]+ s$/gm, '');
    expect(untimed(await chat(neovim))).toBe(untimed(streamed));
  });

  it('sends the prompt buffer by :w, and stays at the bottom only when the cursor is there', async () => {
    const wait = gate();
    const long = Array.from({ length: 80 }, (_, index) => `line ${index}`).join('\n\n');
    const neovim = await withPlugin([long, ['more', { gate: wait }, '\n\nthe end']]);
    await command(neovim, 'Atomic');
    await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'Say', 'much.' }); vim.cmd.write()");
    await shows(neovim, 'line 79');
    await phase(neovim, 'idle');
    expect(await prompt(neovim)).toBe('');
    expect(await chat(neovim)).toContain('Say\nmuch.');
    const cursor = "vim.api.nvim_win_get_cursor(vim.fn.win_findbuf(vim.fn.bufnr('atomic://chat'))[1])[1]";
    const count = "vim.api.nvim_buf_line_count(vim.fn.bufnr('atomic://chat'))";
    expect(await neovim.lua(`return ${cursor} == ${count}`)).toBe(true);
    await neovim.lua(
      "vim.api.nvim_win_set_cursor(vim.fn.win_findbuf(vim.fn.bufnr('atomic://chat'))[1], { 3, 0 })",
    );
    await command(neovim, 'Atomic more please');
    await shows(neovim, 'more');
    wait.open();
    await shows(neovim, 'the end');
    expect(await neovim.lua(`return ${cursor}`)).toBe(3);
  });

  it('asks without taking the focus, and opens the question when the person wants it', async () => {
    const neovim = await withPlugin([]);
    const before = await neovim.lua('return vim.api.nvim_get_current_win()');
    await command(neovim, 'Atomic /ask-select');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    expect(await neovim.lua('return vim.api.nvim_get_current_win()')).toBe(before);
    expect(await neovim.lua("return require('atomic.winbar').text()")).toContain('? 1 waiting');
    await neovim.lua("require('atomic').next()");
    const { id, items } = await neovim.events.next('select');
    expect(items).toEqual(['Allow', 'Block', 'Always — «ünï» 😀']);
    await neovim.answer(id, 2);
    await shows(neovim, 'select="Block"');
    await neovim.waitFor("require('atomic').state().waiting == 0");
  });

  it('closes a question that was settled elsewhere', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await command(neovim, 'Atomic /ask-confirm');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await neovim.lua("require('atomic').next()");
    const floats =
      "#vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins())";
    expect(await neovim.lua(`return ${floats}`)).toBe(1);
    await neovim.executeCommand('atomic.answer1');
    await shows(neovim, 'confirm=true');
    await neovim.waitFor(`${floats} == 0`);
  });

  it('answers by a number in the float, by a line and by writing a buffer', async () => {
    const neovim = await withPlugin([], { settings: { dialogs: 'float' } });
    await command(neovim, 'Atomic /ask-select');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await command(neovim, 'Atomic next');
    await neovim.api.input('3');
    await shows(neovim, 'select="Always');
    await command(neovim, 'Atomic /ask-input');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await command(neovim, 'Atomic next');
    await neovim.api.input('marmalade<CR>');
    await shows(neovim, 'input="marmalade"');
    await command(neovim, 'Atomic /ask-editor');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await command(neovim, 'Atomic next');
    await neovim.lua(
      "vim.cmd.stopinsert(); vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one', 'two' }); vim.cmd.write()",
    );
    await shows(neovim, 'editor="one\\ntwo"');
  });

  it('tells others what happens', async () => {
    const long = 'Späße \u{1f600} und mehr.\n\n'.repeat(4000);
    // Facts that come together are one change of phase, or none where a run is over in them.
    const begun = gate();
    const neovim = await withPlugin([[{ gate: begun }, 'Done.'], 'Done again.', long]);
    await neovim.lua(`
      seen = {}
      vim.api.nvim_create_autocmd('User', { pattern = 'Atomic*', callback = function(e) table.insert(seen, e.match) end })
      off = require('atomic').on('agent_settled', function(fact) table.insert(seen, fact.outcome.stopReason) end)`);
    await command(neovim, 'Atomic! stop');
    await neovim.waitFor("vim.tbl_contains(seen, 'AtomicPhase')");
    begun.open();
    await neovim.waitFor("vim.tbl_contains(seen, 'stop')");
    const seen = await neovim.lua<string[]>('return seen');
    expect(seen).toContain('AtomicStarted');
    expect(seen).toContain('AtomicSettled');
    expect(await chat(neovim)).toContain('## You\n\nstop');

    // A message is whole, though its end does not say again what was streamed; an autocommand gets what is small.
    await neovim.lua(`
      whole, small = {}, {}
      vim.api.nvim_create_autocmd('User', { pattern = 'AtomicMessage', callback = function(e) table.insert(small, e.data) end })
      require('atomic').on('message_end', function(fact) table.insert(whole, fact.message) end)`);
    await command(neovim, 'Atomic again');
    await phase(neovim, 'idle');
    await neovim.waitFor('#whole == 2');
    const texts = await neovim.lua<string[]>(
      "return vim.tbl_map(function(m) return m.role .. ': ' .. require('atomic.fold').content_text(m.content) end, whole)",
    );
    expect(texts).toEqual(['user: again', 'assistant: Done again.']);
    expect(await neovim.lua('return whole[2].content[1].streamed == nil')).toBe(true);
    expect(await neovim.lua('return small[2]')).toMatchObject({
      type: 'message_end',
      message: { role: 'assistant', stopReason: 'stop' },
    });
    expect(await neovim.lua('return small[2].message.content == nil')).toBe(true);
    await command(neovim, 'Atomic at length');
    await neovim.waitFor('#whole == 4');
    expect(await neovim.lua("return require('atomic.chat').last_answer()")).toBe(long);
    expect(await neovim.lua('return #vim.json.encode(whole[4]) > #whole[4].content[1].text')).toBe(true);
  });

  it('keeps a draft that could not be sent', async () => {
    const neovim = await withPlugin([], { settings: { cmd: ['no-such-language-server'] } });
    await command(neovim, 'Atomic');
    await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'precious' }); vim.cmd.write()");
    expect(await prompt(neovim)).toBe('precious');
    await neovim.events.next('notify', ({ message }) =>
      message.includes('no-such-language-server is not there'),
    );
  });

  it('leaves no window, buffer or autocommand behind', async () => {
    const neovim = await withPlugin(['Done.']);
    await command(neovim, 'Atomic Hello.');
    await shows(neovim, 'Done.');
    // Neovim's own matchparen leaves one for the next idle moment at every window; those go by themselves.
    const left = () =>
      neovim.lua<number[]>(`return {
        #vim.api.nvim_list_wins(),
        #vim.api.nvim_list_bufs(),
        #vim.tbl_filter(function(each) return not each.once end, vim.api.nvim_get_autocmds({})),
      }`);
    const turn = "require('atomic').close(); require('atomic').open()";
    await neovim.lua(turn);
    const before = await left();
    await neovim.lua(`for _ = 1, 100 do ${turn} end`);
    expect(await left()).toEqual(before);
    await neovim.lua("require('atomic').close()");
    expect(await neovim.lua('return #vim.api.nvim_list_wins()')).toBe(1);
  });

  it('asks about a selection, with the place it is from', async () => {
    const neovim = await withPlugin(({ prompt: asked }) => `You wrote: ${asked.includes('`a.txt:2-3`')}`);
    mkdirSync(neovim.cwd, { recursive: true });
    writeFileSync(join(neovim.cwd, 'a.txt'), 'one\ntwo\nthree\n');
    await neovim.lua('vim.cmd.edit({ bang = true })');
    await command(neovim, '2,3Atomic Explain.');
    await shows(neovim, 'You wrote: true');
    expect(await chat(neovim)).toMatch(/Explain\.\n\n`a\.txt:2-3`\n```(text)?\ntwo\nthree\n```/);
  });

  it('reports its health', async () => {
    const neovim = await withPlugin([]);
    await command(neovim, 'checkhealth atomic');
    expect(await neovim.text()).toMatch(/OK.*Neovim 0\.1/);
    expect(await neovim.text()).toMatch(/OK.*atomic-lsp: version/);
    expect(await neovim.text()).toMatch(/OK.*agent: .*as `settings\.agent` says/);
    expect(await neovim.text()).not.toContain('ERROR');
  });
});
