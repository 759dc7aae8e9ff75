// The prompt file as a language in the real Neovim and in Eglot, without a plugin, on the real pi: the completion that each brings,
// what is wrong, what is sent.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { projectFolder } from '../editors/project.ts';
import { describeWithEditor } from '../support/editors.ts';
import { lispString, startEmacs } from '../support/emacs.ts';
import { guideBlock, installed } from '../support/guide.ts';
import { program } from '../support/language-server.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { png } from '../unit/prompt/support.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const image = png(640, 480);
async function withPi() {
  const model = await startModelServer(['A picture.']);
  closing.push(() => model.close());
  const agent = await piAgent({ model, settings: { defaultModel: 'thinker', defaultProvider: 'local' } });
  closing.push(() => agent.dispose());
  const { command, args, env } = agent;
  const server = {
    command: process.execPath,
    args: [program],
    initializationOptions: { agent: { command, args, env } },
  };
  return { model, server, agent };
}
function withImage(cwd: string) {
  mkdirSync(join(cwd, 'bilder größe'));
  writeFileSync(join(cwd, 'bilder größe/shot one.png'), image);
}
/** What the model was sent first. */
async function sent(model: ModelServer) {
  const { body, prompt } = await model.request(0);
  const content = body.messages.findLast(({ role }) => role === 'user')!.content as {
    image_url?: { url: string };
  }[];
  return { prompt, image: content.find(({ image_url }) => image_url)?.image_url?.url };
}

describe('The prompt file without a plugin', () => {
  beforeAll(ensurePi, 600_000);

  describeWithEditor('nvim', 'in Neovim', () => {
    it('completes what is begun, names what is missing, shows what is sent, and sends it', async () => {
      const { model, server } = await withPi();
      const home = createEditorHome();
      closing.push(() => home.close());
      const cwd = projectFolder(home, undefined);
      withImage(cwd);
      // One server for all files, as the guide has it.
      const neovim = await startNeovim({
        home,
        files: ['ä b.md'],
        server: { ...server, root: cwd } as never,
      });
      closing.push(() => neovim.close());
      await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'not saved yet' })");
      await neovim.executeCommand('atomic.compose');
      await neovim.waitFor("vim.fn.expand('%:t') == 'prompt.md' and #vim.lsp.get_clients({ bufnr = 0 }) > 0");
      const line = (text: string) => neovim.waitFor(`vim.api.nvim_get_current_line() == [[${text}]]`);
      const typed = async (text: string, completed: string) => {
        await neovim.api.input(text);
        await neovim.waitFor("vim.fn.mode() == 'i'");
        await neovim.api.input('<C-x><C-o>');
        await line(completed);
      };
      await typed('i/mod', '/model');
      await typed(' local/t', '/model local/thinker');
      await neovim.api.input('<Esc>S');
      await typed('see @"bilder größe/s', 'see @"bilder größe/shot one.png"');
      await typed(' and #"', 'see @"bilder größe/shot one.png" and #"ä b.md"');
      await neovim.api.input(' and @nowhere.ts<Esc>');
      await neovim.waitFor(
        "(vim.diagnostic.get(0)[1] or {}).message == 'There is no file nowhere.ts: this is sent as text.'",
      );
      await neovim.api.input('0f@');
      await neovim.lua('vim.lsp.buf.hover()');
      await neovim.waitFor(
        `vim.iter(vim.api.nvim_list_wins()):any(function(w)
          local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, false)
          return table.concat(lines, '\\n'):find('640 × 480 pixels', 1, true)
        end)`,
      );
      await neovim.api.input(':w<CR>');
      const { prompt, image: seen } = await sent(model);
      expect(seen).toBe(`data:image/png;base64,${image.toString('base64')}`);
      expect(prompt).toMatch(/^see @"bilder größe\/shot one.png" and #"ä b.md" and @nowhere.ts\n/);
      expect(prompt).toContain('`ä b.md` (unsaved)\n```markdown\nnot saved yet');
      await line('');
    });
  });

  describeWithEditor('emacs', 'in Eglot', () => {
    it('completes, names what is missing, shows what is sent, and sends it', async () => {
      const { model, agent } = await withPi();
      const home = createEditorHome();
      closing.push(() => home.close());
      const emacs = await startEmacs({
        home,
        files: ['ä b.md'],
        init: guideBlock('Emacs with Eglot', 'elisp'),
        env: installed(home, agent),
      });
      closing.push(() => emacs.close());
      withImage(emacs.cwd);
      await emacs.eval('(progn (call-interactively (quote eglot)) nil)');
      await emacs.waitFor('(eglot-managed-p)');
      await emacs.eval('(progn (insert "not saved yet") nil)');
      await emacs.eval('(progn (atomic "compose") nil)');
      // By the guide it has the server of the project.
      await emacs.waitFor(
        '(and (string-suffix-p "prompt.md" (buffer-name (window-buffer))) (eglot-managed-p))',
      );
      /** Completes as a person does, who chooses from the list where what is typed is not the beginning. */
      const completed = async (typed: string, choice = '') => {
        await emacs.eval(`(progn
          (erase-buffer) (insert ${lispString(typed)}) (completion-at-point)
          (when (equal (buffer-string) ${lispString(typed)})
            (with-selected-window (get-buffer-window "*Completions*" t)
              (goto-char (point-min)) (search-forward ${lispString(choice)}) (backward-char)
              (choose-completion)))
          nil)`);
        return emacs.text();
      };
      expect(await completed('/mode')).toBe('/model');
      expect(await completed('/model think', 'local/thinker')).toBe('/model local/thinker');
      expect(await completed('see @shot', 'shot one.png')).toBe('see @"bilder größe/shot one.png"');
      expect(await completed('see @"bilder größe/shot one.png" and #b.md', 'ä b.md')).toBe(
        'see @"bilder größe/shot one.png" and #"ä b.md"',
      );
      // Without keys nothing starts it.
      await emacs.eval('(progn (insert " and @nowhere.ts") (flymake-start) nil)');
      await emacs.waitFor(
        '(seq-some (lambda (it) (string-search "There is no file nowhere.ts: this is sent as text." (flymake-diagnostic-text it))) (flymake-diagnostics))',
      );
      await emacs.eval('(progn (goto-char 6) (eldoc t) nil)');
      await emacs.waitFor(
        '(ignore-errors (with-current-buffer (eldoc-doc-buffer) (string-search "640 × 480 pixels" (buffer-string))))',
      );
      await emacs.eval('(save-buffer)');
      const { prompt, image: seen } = await sent(model);
      expect(prompt).toMatch(/^see @"bilder größe\/shot one.png" and #"ä b.md" and @nowhere.ts\n/);
      expect(prompt).toContain('`ä b.md` (unsaved)\n```markdown\nnot saved yet');
      expect(seen).toBe(`data:image/png;base64,${image.toString('base64')}`);
      await emacs.waitFor('(equal (buffer-string) "")');
    });
  });
});
