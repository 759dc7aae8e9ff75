// The live chat in real editors without a plugin: 500 deltas come while a person makes 500 keystrokes, in another file and in the
// chat itself. Neither text loses a character.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { program } from '../support/language-server.ts';
import { gate, type Reply, startModelServer } from '../support/model-server.ts';
import { startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Fifty times ten deltas, each ten when its gate is opened. */
function answer() {
  const gates = Array.from({ length: 50 }, gate);
  const words = Array.from({ length: 500 }, (_, n) => `word${n}`);
  const pieces = gates.flatMap((wait, group) => [
    { gate: wait },
    ...words
      .slice(group * 10, group * 10 + 10)
      .map((word, n) => (n === 9 && group % 5 === 4 ? `${word}\n\n` : `${word} `)),
  ]);
  return { gates, words, pieces };
}
const wordsIn = (text: string) => [...text.matchAll(/word\d+/g)].map(([word]) => word);

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

  it('grows while a person types elsewhere and in it', async () => {
    const { gates, words, pieces } = answer();
    const neovim = await startNeovim({ files: ['ä b.txt'], server: await server(pieces) });
    closing.push(() => neovim.close());
    await neovim.executeCommand('atomic.prompt', ['Count.']);
    await neovim.executeCommand('atomic.open');
    await neovim.waitFor("vim.api.nvim_buf_get_name(0):find('/views/') ~= nil");
    const chat = await neovim.lua<number>('return vim.api.nvim_get_current_buf()');
    const shown = () =>
      neovim.lua<string>(`return table.concat(vim.api.nvim_buf_get_lines(${chat}, 0, -1, true), '\\n')`);
    await neovim.lua("vim.cmd('vnew other.txt')");
    const typed = async (key: string, group: number) => {
      for (let n = 0; n < 10; n += 1) {
        await neovim.lua('vim.api.nvim_input(...)', n === 9 && group % 5 === 4 ? '<CR>' : key);
      }
    };
    await neovim.lua("vim.api.nvim_input('i')");
    for (const [group, wait] of gates.entries()) {
      wait.open();
      if (group === 25) {
        await neovim.lua("vim.api.nvim_input('<Esc><C-w>lggi')");
        await neovim.waitFor(`vim.api.nvim_get_current_buf() == ${chat} and vim.fn.mode() == 'i'`);
      }
      await typed(group < 25 ? '#' : '§', group);
    }
    await neovim.lua("vim.api.nvim_input('<Esc>')");
    await neovim.waitFor(
      `table.concat(vim.api.nvim_buf_get_lines(${chat}, 0, -1, true), ' '):find('word499') ~= nil`,
    );
    await expect.poll(async () => wordsIn(await shown()), { timeout: 20_000 }).toEqual(words);
    const text = await shown();
    expect(text.match(/§/g)).toHaveLength(245);
    expect(text).toMatch(/^(§{49}\n){5}/);
    expect(await neovim.text('other.txt')).toBe(`${'#'.repeat(49)}\n`.repeat(5));
    const uri = await neovim.lua<string>(`return vim.uri_from_bufnr(${chat})`);
    // The chat lies in another folder: Neovim has started another server for it.
    const client = await neovim.lua<number>(`return vim.lsp.get_clients({ bufnr = ${chat} })[1].id`);
    const about = { textDocument: { uri } };
    const [turn] = await neovim.request<{ name: string }[]>('textDocument/documentSymbol', about, client);
    expect(turn!.name).toBe('Count.');
    expect(await neovim.lua("return vim.fn.execute('messages')")).not.toMatch(/error|E\d+/i);
  }, 90_000);

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
