// One session in several editors, each with its own client: two Neovims with the plugin and Emacs with the package, on the real pi.
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor, editorPath } from '../support/editors.ts';
import { lispString, startEmacs } from '../support/emacs.ts';
import { program } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const clients = join(import.meta.dirname, '../../clients');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withEditors(script: ModelScript) {
  const model = await startModelServer(script);
  closing.push(() => model.close());
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  closing.push(() => agent.dispose());
  const home = createEditorHome();
  closing.push(() => home.close());
  const server = [process.execPath, program, '--stdio'];
  const emacs = await startEmacs({
    home,
    files: ['a.txt'],
    terminal: { cols: 100, rows: 30 },
    init: `
      (setq native-comp-jit-compilation nil inhibit-startup-screen t)
      (add-to-list 'load-path ${lispString(join(clients, 'emacs'))})
      (require 'atomic)
      (setq atomic-server-command (list ${server.map(lispString).join(' ')})
            atomic-settings (json-parse-string ${lispString(JSON.stringify({ agent }))} :object-type 'plist))`,
  });
  closing.push(() => emacs.close());
  const config = { cmd: server, settings: { agent } };
  const anotherNeovim = async () => {
    const neovim = await startNeovim({
      home,
      files: ['a.txt'],
      init: [
        'vim.o.columns, vim.o.lines = 140, 40',
        `vim.opt.runtimepath:prepend(${JSON.stringify(join(clients, 'neovim'))})`,
        `vim.g.atomic = vim.json.decode(${JSON.stringify(JSON.stringify(config))})`,
      ].join('\n'),
    });
    closing.push(() => neovim.close());
    return neovim;
  };
  return { emacs, neovim: await anotherNeovim(), anotherNeovim };
}

const inEmacs = '(with-current-buffer (atomic-chat-find-buffer (car (atomic-client-list))) (buffer-string))';
const inNeovim =
  "table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('atomic://chat'), 0, -1, false), '\\n')";

describeWithEditor(editorPath('nvim') ? 'emacs' : 'nvim', 'one session in Neovim and Emacs', () => {
  beforeAll(ensurePi, 600_000);

  it('streams the same text to both, and a question that one answers closes in the other', async () => {
    const wait = gate();
    const { emacs, neovim } = await withEditors([['The first half, ', { gate: wait }, 'the second half.']]);
    await neovim.lua('vim.cmd(...)', 'Atomic');
    await emacs.eval('(atomic-prompt "Say it in two halves")');
    await emacs.waitFor(`(and (atomic-client-list) (string-search "The first half," ${inEmacs}))`);
    await neovim.waitFor(`${inNeovim}:find('The first half,', 1, true)`);
    wait.open();
    await emacs.waitFor(`(string-search "the second half." ${inEmacs})`);
    await neovim.waitFor(`${inNeovim}:find('the second half.', 1, true)`);

    await neovim.lua('vim.cmd(...)', 'Atomic /ask-select');
    await emacs.waitFor('(atomic-dialog-pending)');
    // Open in the minibuffer of the one, answered in the other.
    await emacs.eval('(run-at-time 0 nil (quote atomic-next-attention)) nil');
    await emacs.terminal?.waitForScreen('Run it?:');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await neovim.lua('vim.cmd(...)', 'Atomic next');
    const question = await neovim.events.next('select');
    await neovim.answer(question.id, 2);
    await emacs.waitFor('(and (not (atomic-dialog-pending)) (not (active-minibuffer-window)))');
    await emacs.waitFor(`(string-search "select=\\"Block\\"" ${inEmacs})`);
    expect(await emacs.eval<string>(inEmacs)).toMatch(/Run it\? — Block/);

    // And the other way round.
    await emacs.eval('(atomic-prompt "/ask-confirm")');
    await neovim.waitFor("require('atomic').state().waiting == 1");
    await emacs.waitFor('(atomic-dialog-pending)');
    await emacs.eval(
      `(with-current-buffer (atomic-chat-buffer (car (atomic-client-list)))
         (goto-char (point-max)) (search-backward "yes") (push-button))`,
    );
    await neovim.waitFor("require('atomic').state().waiting == 0");
    await neovim.waitFor(`${inNeovim}:find('confirm=true', 1, true)`);
  });

  it('two Neovims and Emacs stream one text; a question comes to whoever led to it, and ends with the winner’s name', async () => {
    const wait = gate();
    const { emacs, neovim, anotherNeovim } = await withEditors([
      ['The first half, ', { gate: wait }, 'the second half.'],
    ]);
    const all = [neovim, await anotherNeovim()];
    const [first, second] = all;
    for (const it of all) await it.lua('vim.cmd(...)', 'Atomic');
    await emacs.eval('(progn (atomic) nil)');
    await first!.lua('vim.cmd(...)', 'Atomic Say it in two halves');
    await wait.reached;
    for (const it of all) await it.waitFor(`${inNeovim}:find('The first half,', 1, true)`);
    await emacs.waitFor(`(and (atomic-client-list) (string-search "The first half," ${inEmacs}))`);
    wait.open();
    for (const it of all) await it.waitFor(`${inNeovim}:find('The first half, the second half.', 1, true)`);
    await emacs.waitFor(`(string-search "The first half, the second half." ${inEmacs})`);

    await first!.lua('vim.cmd(...)', 'Atomic /ask-select');
    await first!.events.next('notify', ({ message }) => message.includes('Atomic asks: Run it?'));
    // Known everywhere, asked in one; whoever wants to may answer all the same.
    for (const it of all) await it.waitFor("require('atomic').state().waiting == 1");
    await second!.lua('vim.cmd(...)', 'Atomic next');
    await second!.events.next('select');
    await emacs.waitFor('(atomic-dialog-pending)');
    await emacs.eval(
      `(with-current-buffer (atomic-chat-buffer (car (atomic-client-list)))
         (goto-char (point-max)) (search-backward "Block") (push-button))`,
    );
    for (const it of all) {
      await it.events.next('notify', ({ message }) => message === 'Answered in Emacs: Run it?');
      await it.waitFor("require('atomic').state().waiting == 0");
      await it.waitFor(`${inNeovim}:find('select="Block"', 1, true)`);
    }
    await emacs.waitFor(`(string-search "select=\\"Block\\"" ${inEmacs})`);
  });
});
