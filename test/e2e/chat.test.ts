// What a real editor without a plugin can ask about the live chat; that it grows under a person's hands is seen in the tours.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { program } from '../support/language-server.ts';
import { type Reply, startModelServer } from '../support/model-server.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function server(...script: Reply[]) {
  const model = await startModelServer(script);
  const agent = await piAgent({ model });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
  );
  return {
    command: process.execPath,
    args: [program],
    initializationOptions: { agent: { command: agent.command, args: agent.args, env: agent.env } },
  };
}
describeWithEditor('nvim', 'the chat in Neovim without a plugin', () => {
  beforeAll(ensurePi, 600_000);

  it('shows a tool while it runs, and what an editor can ask about it', async () => {
    const tool = {
      toolCall: 'bash',
      arguments: { command: 'seq 1 30; until [ -e go ]; do sleep 0.05; done; echo marmalade', timeout: 60 },
    };
    const neovim = await startNeovim({
      files: ['ä b.txt'],
      server: await server([tool], ['It is in `ö c/d.md:2` and `none.txt`, not notes.md:7.']),
    });
    closing.push(() => neovim.close());
    await neovim.executeCommand('atomic.open');
    await neovim.waitFor("vim.api.nvim_buf_get_name(0):find('/views/') ~= nil");
    const buffer = await neovim.lua<number>('return vim.api.nvim_get_current_buf()');
    const has = (text: string) =>
      neovim.waitFor(
        `table.concat(vim.api.nvim_buf_get_lines(${buffer}, 0, -1, true), '\\n'):find('${text}', 1, true) ~= nil`,
        { timeout: 30_000 },
      );
    await neovim.executeCommand('atomic.prompt', ['Where is it?']);
    await has('\\n20');
    await has('has run for 5 s, its last lines:');
    mkdirSync(join(neovim.cwd, 'ö c'));
    for (const name of [join('ö c', 'd.md'), 'notes.md', 'go']) writeFileSync(join(neovim.cwd, name), '');
    await has(' tokens in');
    const uri = await neovim.lua<string>(`return vim.uri_from_bufnr(${buffer})`);
    const lines = await neovim.lua<string[]>(`return vim.api.nvim_buf_get_lines(${buffer}, 0, -1, true)`);
    const client = await neovim.lua<number>(`return vim.lsp.get_clients({ bufnr = ${buffer} })[1].id`);
    const ask = <T>(method: string, more: object = {}) =>
      neovim.request<T>(`textDocument/${method}`, { textDocument: { uri }, ...more }, client);
    const tools = lines.flatMap((line, n) => (line.startsWith('### bash') ? [n] : []));
    const [turn] = await ask<{ name: string; children: { name: string }[] }[]>('documentSymbol');
    expect(turn!.name).toBe('Where is it?');
    expect(turn!.children).toHaveLength(tools.length);
    const folds = await ask<{ startLine: number }[]>('foldingRange');
    expect(folds.map(({ startLine }) => startLine)).toEqual([
      lines.findIndex((line) => line.startsWith('## You')),
      ...tools,
    ]);
    const links = await ask<{ target: string }[]>('documentLink');
    expect(links.map(({ target }) => target)).toEqual([
      `${pathToFileURL(join(neovim.cwd, 'ö c', 'd.md')).href}#L2`,
      `${pathToFileURL(join(neovim.cwd, 'notes.md')).href}#L7`,
    ]);
    const whole = { start: { line: 0, character: 0 }, end: { line: lines.length, character: 0 } };
    const [hint] = await ask<{ label: string }[]>('inlayHint', { range: whole });
    expect(hint!.label).toMatch(/tokens in, .* out/);
    const about = { position: { line: tools.at(-1)!, character: 1 } };
    const hover = await ask<{ contents: { value: string } }>('hover', about);
    expect(hover.contents.value).toMatch(/`bash` · done · \d+\.\d s[\s\S]*"timeout": 60/);
    const lenses = await ask<{ command: { title: string; command: string; arguments: [] } }[]>('codeLens');
    expect(lenses.map(({ command }) => command.title)).toEqual([
      'Ask again',
      'Open to copy',
      'Fork from here',
    ]);
    const fork = lenses[2]!.command;
    await neovim.executeCommand(fork.command, fork.arguments);
    await has('Another conversation');
  }, 90_000);
});
