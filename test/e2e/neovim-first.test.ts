// A newcomer's first minutes with the Neovim plugin: a clean home, what its README says, and nothing else.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor } from '../support/editors.ts';
import { guideFile } from '../support/guide.ts';
import { program } from '../support/language-server.ts';
import { startNeovim } from '../support/neovim.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const guide = guideFile('clients/neovim/README.md');
/** The block with these words. */
const block = (words: string): string =>
  guide
    .split('\n```')
    .find((part, at) => at % 2 === 1 && part.includes(words))!
    .replace(/^.*\n/, '');

/** A home as npm left it: `atomic-lsp` on PATH, no agent; and a checkout where the README has it. */
function cleanHome() {
  const home = createEditorHome();
  closing.push(() => home.close());
  const bin = join(home.path, 'bin');
  mkdirSync(bin);
  mkdirSync(join(home.path, 'src'));
  symlinkSync(program, join(bin, 'atomic-lsp'));
  symlinkSync(join(import.meta.dirname, '../..'), join(home.path, 'src/atomic-lsp'));
  // Only what programs of the system and Node need: no agent of this machine's.
  const node = join(process.execPath, '..');
  const env = { PATH: `${bin}:${node}:/usr/bin:/bin`, XDG_DATA_HOME: join(home.path, '.local/share') };
  return { home, env };
}

describeWithEditor('nvim', 'the first minutes in Neovim', () => {
  it.each(['the npm package', 'packages'])('by %s: install, health, an answer, help', async (way) => {
    const { home, env } = cleanHome();
    if (way === 'packages')
      execFileSync('sh', ['-e', '-c', block('# packages')], { env: { ...home.env, ...env } });
    const neovim = await startNeovim({
      home,
      env,
      files: ['a.txt'],
      ...(way === 'the npm package' && { init: block('-- Any setup') }),
    });
    closing.push(() => neovim.close());

    const [health, first] = block(':checkhealth').trim().split('\n');
    await neovim.lua('vim.cmd(...)', health!.slice(1));
    const report = await neovim.text();
    expect(report).toMatch(/OK.*atomic-lsp: version/);
    expect(report).toMatch(/neither atomic nor pi is on PATH: the built-in demo agent stands in/);
    expect(report).not.toContain('ERROR');

    // Neovim itself says there that it checks.
    await neovim.lua("vim.cmd('messages clear'); vim.cmd(...)", first!.slice(1));
    await neovim.waitFor("require('atomic').state().lastRun ~= nil");
    const chat = await neovim.lua<string>(
      "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('atomic://chat'), 0, -1, false), '\\n')",
    );
    expect(chat).toContain(
      '## You\n\nWhat does this project do?\n\n## Atomic\n\nThis is the built-in demo agent',
    );
    await neovim.lua("vim.cmd('help atomic')");
    expect(await neovim.lua('return vim.bo.buftype')).toBe('help');
    expect(await neovim.lua("return vim.api.nvim_exec2('messages', { output = true }).output")).toBe('');
  });
});
