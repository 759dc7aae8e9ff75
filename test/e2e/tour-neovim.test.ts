// A day with the real Neovim and the real pi, configured by the block of docs/editors.md and nothing else, by keys in a terminal.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { guideBlock } from '../support/guide.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi } from '../support/pi.ts';
import { begun, code, edited, patient, status, transcript, until, wentOn, wordsIn } from '../support/tour.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** In the status line. */
const used = /100 tokens in, 20 out · 0 % of the context · \$0\.0001 \d+:\d+/;

const limit = 400_000;

describeWithEditor('nvim', 'a day in Neovim, set up by its guide, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it(
    'loses nothing and leaves nothing running that should not',
    async () => {
      const file = 'grüße ä.py';
      const day = await begun(file, closing);
      const { model, home, words, gates } = day;
      const neovim = await startNeovim({
        home,
        files: ['first notes.md'],
        init: guideBlock('Neovim alone', 'lua'),
        env: day.env,
        terminal: { cols: 160, rows: 40 },
      });
      closing.push(() => neovim.close());
      const { cwd } = neovim;
      const terminal = neovim.terminal!;
      const sees = (wanted: Parameters<typeof terminal.waitForScreen>[0]) =>
        terminal.waitForScreen(wanted, patient);
      const holds = (lua: string) => neovim.waitFor(lua, patient);
      const type = (keys: string) => terminal.text(keys);
      const run = (command: string) => type(`\x1b:Atomic ${command}\r`);
      const shown = (name: string) => holds(`vim.api.nvim_buf_get_name(0):find('${name}', 1, true) ~= nil`);
      // Where messages came together Neovim waits for a key; a person gives it one.
      void (async () => {
        for (;;) {
          await terminal.waitForScreen('Press ENTER', { timeout: limit });
          await type('\x0c');
          await terminal.waitForScreen((screen) => !screen.includes('Press ENTER'), patient);
        }
      })().catch(() => {});
      writeFileSync(join(cwd, file), code);
      await holds("(vim.lsp.get_clients({ name = 'atomic' })[1] or {}).initialized");
      const composed = async (text: string) => {
        await run('compose');
        await shown('prompt.md');
        await holds("vim.api.nvim_buf_get_lines(0, 0, -1, true)[1] == ''");
        await type(`i${text}\x1b:w\r`);
      };

      // Two thousand words come while a person types in another split, and then in the chat itself.
      await composed('Count ü.');
      await model.request(0);
      await holds("vim.api.nvim_buf_get_lines(0, 0, -1, true)[1] == ''");
      await run('open');
      await shown('/views/');
      const chat = await neovim.lua<number>('return vim.api.nvim_get_current_buf()');
      const view = `table.concat(vim.api.nvim_buf_get_lines(${chat}, 0, -1, true), '\\n')`;
      await type(':vnew other.txt\r');
      await shown('other.txt');
      await type('i');
      for (const [group, wait] of gates.entries()) {
        wait.open();
        if (group === 25) {
          await type('\x1b');
          await holds("vim.fn.mode() == 'n'");
          await type('\x17lggi');
          await holds(`vim.api.nvim_get_current_buf() == ${chat} and vim.fn.mode() == 'i'`);
        }
        const key = group < 25 ? '#' : '§';
        await type(key.repeat(9) + (group % 5 === 4 ? '\r' : key));
      }
      await type('\x1b');
      await holds(`${view}:find('word1999') ~= nil`);
      const text = await neovim.lua<string>(`return ${view}`);
      expect(wordsIn(text)).toEqual(words);
      expect(text).toMatch(/^(§{49}\n){5}/);
      expect(await neovim.text('other.txt')).toBe(`${'#'.repeat(49)}\n`.repeat(5));
      await sees(used);
      await type(':only\r');

      // Each of the four questions: in a list, by command after it was dismissed, by command at once, by a file.
      await composed('/ask-select');
      await sees('2: Block');
      await type('2\r');
      await sees('select="Block"');
      await composed('/ask-confirm');
      await sees('1: Yes');
      await type('\x1b');
      await holds("vim.fn.mode() == 'n'");
      await run('answer1');
      await sees('confirm=true');
      await composed('/ask-input');
      await sees('Name of the branch');
      await run('answer feature/ü');
      await sees('input="feature/ü"');
      await composed('/ask-editor');
      await sees('Commit message');
      await run('answer');
      await shown('/answers/');
      await type('GoMend it ä\x1b:w\r');
      await sees(/editor=".*Mend it ä/);

      // A run is stopped.
      await composed('Go on forever.');
      await sees('writing: Never');
      await run('abort');
      await until(() => status(home).busy).toBe(false);
      await sees((screen) => !screen.includes('writing: Never'));

      // A question about a selection that is not saved.
      await type(`:edit ${file.replace(' ', '\\ ')}\r`);
      await shown(file);
      await type('ggOungespeichert = "ß"\x1bVj\\a');
      await sees('1: Ask Atomic about this');
      await type('1\r');
      await shown('prompt.md');
      await holds("vim.fn.search('(unsaved)', 'nw') > 0");
      await type('ggiWhat does it do?\x1b:w\r');
      const { prompt } = await model.request(2);
      expect(prompt).toMatch(/^What does it do\?\n/);
      expect(prompt).toContain(
        '`grüße ä.py:1-2` (unsaved)\n```python\nungespeichert = "ß"\ndef greet(name):\n```',
      );
      await until(() => transcript(home)).toContain('It greets in German.');

      // The agent changes the open file: what is not saved stays, and is given up by the person alone.
      await composed('Give it a title.');
      // Neovim leaves out the middle of a message that is longer than the line.
      await sees(/has changed on disk, and you have unsave/);
      expect(readFileSync(join(cwd, file), 'utf8')).toBe(edited);
      await type('\x1b');
      await type(`:buffer ${file.replace(' ', '\\ ')}\r`);
      await sees('[O]K');
      await type('o');
      await shown(file);
      expect(await neovim.text()).toContain('ungespeichert = "ß"\ndef');
      await type(':edit!\r');
      await holds("vim.fn.search('name.title()', 'nw') > 0 and vim.fn.search('ungespeichert', 'nw') == 0");

      // The model is busy: the time until the next attempt is counted down.
      await composed('Again?');
      const seconds = (screen: string) => Number(/retry 1 of 3 in (\d) s: .*slow down/.exec(screen)?.[1]);
      const first = seconds(await sees((screen) => seconds(screen) > 0));
      await sees((screen) => seconds(screen) < first);
      await sees(used);

      // The person leaves in the middle of an answer; it goes on.
      await composed('The last one.');
      await sees('writing: Half');
      await type(':qall!\r');
      await neovim.exited;
      await wentOn(day, { home, model, editor: 'Neovim' });
    },
    limit,
  );
});
