// Sessions, models and the server in the Neovim plugin: several at once, earlier ones, branches, and a server that is killed.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { gate } from '../support/model-server.ts';
import { here, pluginStarter } from '../support/neovim-plugin.ts';
import { ensurePi } from '../support/pi.ts';

describeWithEditor('nvim', 'sessions in the Neovim plugin', () => {
  const withPlugin = pluginStarter();
  beforeAll(ensurePi, 600_000);
  const state = "require('atomic').state().state";

  it('chooses and cycles model and thinking level, from lists that a plugin shows and by names that complete', async () => {
    const neovim = await withPlugin(['Hello.'], { server: { start: { model: 'local/thinker' } } });
    await neovim.command('Atomic Hi.');
    await neovim.shows('Hello.');
    await neovim.phase('idle');
    await neovim.command('Atomic thinking');
    const levels = await neovim.events.next('select');
    expect(levels.prompt).toBe('Thinking');
    expect(levels.items).toEqual(expect.arrayContaining(['off', 'low', 'high']));
    await neovim.answer(levels.id, levels.items.indexOf('low') + 1);
    await neovim.waitFor(`${state}.thinkingLevel == 'low'`);
    const complete = (line: string) =>
      neovim.lua<string[]>("return vim.fn.getcompletion(..., 'cmdline')", `Atomic ${line}`);
    expect(await complete('thinking h')).toEqual(['high']);
    expect(await complete('model local/')).toEqual(['local/scripted', 'local/thinker']);
    expect(await complete('set_')).toContain('set_auto_retry');
    expect(await complete('cha')).toEqual(['changes']);
    await neovim.command('Atomic');
    await neovim.api.input('<Esc><M-t>');
    await neovim.waitFor(`${state}.thinkingLevel ~= 'low'`);
    await neovim.command('Atomic model');
    const models = await neovim.events.next('select');
    expect(models.items).toEqual(['Scripted (local)', 'Thinker (local)']);
    await neovim.answer(models.id, 1);
    await neovim.waitFor(`${state}.model.id == 'scripted'`);
    await neovim.command('Atomic');
    await neovim.api.input('<Esc><M-m>');
    await neovim.waitFor(`${state}.model.id == 'thinker'`);
    await neovim.command('Atomic model local/scripted');
    await neovim.waitFor(`${state}.model.id == 'scripted'`);
    // pi has no login over RPC: that is a sentence and no failure of ours.
    await neovim.command('Atomic login');
    await neovim.events.next('notify', ({ message }) => /login|log in/i.test(message));
    expect(await neovim.messages()).not.toMatch(/stack traceback|E\d+:/);
  });

  it('forks with the text back, shows the branches, resumes, renames and exports', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atomic-lsp-nvim-'));
    try {
      const neovim = await withPlugin(['Answer one.', 'Answer two.', 'Another answer.'], { agentHome: home });
      await neovim.command('Atomic First question');
      await neovim.shows('Answer one.');
      await neovim.phase('idle');
      await neovim.command('Atomic Second question');
      await neovim.shows('Answer two.');
      await neovim.phase('idle');
      await neovim.command('Atomic name Ölwechsel');
      await neovim.waitFor(`${state}.sessionName == 'Ölwechsel'`);

      await neovim.command('Atomic tree');
      await neovim.waitFor("vim.api.nvim_buf_get_name(0) == 'atomic://tree'");
      expect(await neovim.value(here)).toBe(
        '  You: First question\n  · Answer one.\n  You: Second question\n▶ · Answer two.',
      );
      await neovim.api.input('3Gf');
      await neovim.waitFor(
        "vim.fn.getbufline('atomic://prompt', 1)[1] == 'Second question' and not vim.fn.bufname('atomic://tree'):find('zzz')",
      );
      await neovim.waitFor(
        "not table.concat(vim.fn.getbufline('atomic://chat', 1, '$'), ' '):find('Answer two')",
      );
      await neovim.api.input('q');
      await neovim.waitFor("vim.fn.bufnr('atomic://tree') < 0");

      await neovim.command('Atomic fork');
      const { id, items } = await neovim.events.next('select');
      expect(items).toEqual(['First question']);
      await neovim.answer(id, 1);
      await neovim.waitFor("vim.fn.getbufline('atomic://prompt', 1)[1] == 'First question'");
      expect(await neovim.prompt()).toBe('First question\n\nSecond question');

      await neovim.command('Atomic resume');
      const earlier = await neovim.events.next('select');
      const old = earlier.items.findIndex((item: string) => item.includes('Ölwechsel'));
      expect(old).toBeGreaterThanOrEqual(0);
      await neovim.answer(earlier.id, old + 1);
      await neovim.shows('Answer two.');
      mkdirSync(neovim.cwd, { recursive: true });
      const page = join(neovim.cwd, 'a page ä.html');
      await neovim.command('Atomic export a page ä.html');
      await neovim.events.next('notify', ({ message }) => message.includes('a page ä.html'));
      expect(readFileSync(page, 'utf8')).toContain('<html');
      await neovim.command('Atomic retry');
      await neovim.shows('Another answer.');
      await neovim.phase('idle');
      expect(await neovim.chat()).toContain('Second question\n\n## Atomic\n\nAnother answer.');
      expect(await neovim.chat()).not.toContain('Answer two.');
      await neovim.command('Atomic get_session_stats');
      await neovim.waitFor("vim.api.nvim_buf_get_name(0) == 'atomic://data'");
      expect(await neovim.value(here)).toContain('tokens');
    } finally {
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    }
  });

  it('has several sessions at once, tells of a question in another, and goes there', async () => {
    const wait = gate();
    const neovim = await withPlugin(({ prompt }) =>
      prompt === 'Hold on' ? ['Holding', { gate: wait }, ' on.'] : `Heard ${prompt}`,
    );
    await neovim.command('Atomic Hold on');
    await neovim.shows('Holding');
    await neovim.command('Atomic tabnew review');
    await neovim.waitFor("require('atomic.winbar').prompt() == ' Prompt · review'");
    await neovim.waitFor("not table.concat(vim.fn.getbufline('atomic://chat', 1, '$'), ' '):find('Holding')");
    await neovim.command('Atomic Look');
    await neovim.shows('Heard Look');
    await neovim.phase('idle');
    wait.open();
    await neovim.waitFor(
      "not vim.iter(require('atomic.session').tabs):any(function(tab) return tab.busy end)",
    );
    expect(await neovim.chat()).not.toContain('Holding');
    await neovim.events.next('notify', ({ message }) => message.startsWith('Atomic is done in '));

    await neovim.command('Atomic /ask-select');
    await neovim.waiting(1);
    await neovim.command('Atomic tabs');
    const { id, items } = await neovim.events.next('select');
    const other = items.findIndex((item: string) => !item.includes('review'));
    expect(items.length).toBe(2);
    await neovim.answer(id, other + 1);
    await neovim.shows('Holding on.');
    await neovim.waitFor("require('atomic').state().waiting == 0");
    expect(await neovim.value("require('atomic.winbar').text()")).toContain('? 1 in review');
    await neovim.command('Atomic next');
    const asked = await neovim.events.next('select');
    expect(asked.items[0]).toBe('Allow');
    await neovim.answer(asked.id, 1);
    await neovim.shows('select="Allow"');
    expect(await neovim.value("require('atomic.winbar').text()")).not.toContain('? 1');
    await neovim.command('Atomic tabclose');
    await neovim.shows('Holding on.');
    await neovim.command('Atomic attach nobody');
    await neovim.events.next('notify', ({ message }) => message.includes('no session "nobody"'));
  });

  it('goes on when the server is killed, and loses nothing that was wanted meanwhile', async () => {
    const wait = gate();
    const neovim = await withPlugin(({ prompt }) =>
      prompt === 'Begin' ? ['Beginning', { gate: wait }, ' and end.'] : `Heard ${prompt}`,
    );
    await neovim.command('Atomic Begin');
    await neovim.shows('Beginning');
    const pid = await neovim.lua<number>(`
      for name in vim.fs.dir('/proc') do
        local file = tonumber(name) and io.open('/proc/' .. name .. '/stat')
        local stat = file and file:read('*a') or ''
        if file then file:close() end
        if tonumber(stat:match('^%d+ %b() %S (%d+)')) == vim.uv.os_getpid() then return tonumber(name) end
      end`);
    process.kill(pid, 'SIGKILL');
    await neovim.lua("require('atomic').prompt('Afterwards', { behavior = 'follow_up' })");
    await neovim.waitFor(
      "require('atomic.server').is_ready() and #require('atomic').state().queue.followUp == 1",
    );
    wait.open();
    await neovim.shows('Beginning and end.');
    await neovim.shows('Heard Afterwards');
    await neovim.phase('idle');
    const text = await neovim.chat();
    expect(text.match(/Beginning/g)).toHaveLength(1);
    expect(text.match(/Heard Afterwards/g)).toHaveLength(1);
    expect(await neovim.prompt()).toBe('');
  });

  it('has for each repository a session of its own, and goes where the code is that is asked about', async () => {
    const neovim = await withPlugin(({ prompt }) => `Heard ${prompt}`);
    for (const name of ['eins', 'zwei ä']) {
      mkdirSync(join(neovim.cwd, name, '.git'), { recursive: true });
      writeFileSync(join(neovim.cwd, name, 'a.txt'), `${name}\n`);
    }
    await neovim.edit('eins/a.txt');
    await neovim.command('Atomic First');
    await neovim.shows('Heard First');
    await neovim.phase('idle');
    await neovim.edit('zwei ä/a.txt');
    await neovim.command('Atomic Second');
    await neovim.shows('Heard Second');
    await neovim.phase('idle');
    expect(await neovim.chat()).not.toContain('First');
    expect(
      (await neovim.value<{ workspace: string }[]>("require('atomic.session').tabs")).map(({ workspace }) =>
        basename(workspace),
      ),
    ).toEqual(['eins', 'zwei ä']);
    expect(await neovim.value("require('atomic.history').all()")).toEqual(['Second']);
    await neovim.edit('eins/a.txt');
    await neovim.command('Atomic Third');
    await neovim.shows('Heard Third');
    expect(await neovim.chat()).toContain('Heard First');
  });

  it('sees a session as the server does, after a run of every kind of fact', async () => {
    const neovim = await withPlugin([
      [
        { reasoning: 'Hm.' },
        'Look. ',
        { toolCall: 'bash', arguments: { command: 'printf "ä\\n%.0s" 1 2 3; exit 2' } },
      ],
      ['Now write. ', { toolCall: 'write', arguments: { path: 'new.txt', content: 'new\n' } }],
      'Done.',
      'Again.',
    ]);
    await neovim.command('Atomic Do all.');
    await neovim.shows('Done.');
    await neovim.phase('idle');
    await neovim.command('Atomic name Ä name');
    await neovim.lua("require('atomic').intent('prompt', { message = '/say' })");
    await neovim.waitFor("require('atomic').state().title == 'A title'");
    await neovim.command('Atomic Again?');
    await neovim.shows('Again.');
    await neovim.phase('idle');
    await neovim.command('Atomic /ask-confirm');
    // The request may be ahead of the fact.
    await neovim.waitFor("#require('atomic').state().dialogs == 1");
    const own = await neovim.lua<Record<string, unknown>>("return require('atomic').state()");
    const { snapshot } = await neovim.request<{ snapshot: Record<string, unknown> }>('atomic/attach', {});
    // Lua's empty list is an empty object, too, and its JSON has 14 digits.
    const rounded = (value: unknown) =>
      JSON.parse(JSON.stringify(value), (_key, it) =>
        typeof it === 'number' ? Number(it.toPrecision(12)) : it,
      );
    const listed = (value: unknown) => (Array.isArray(value) && value.length === 0 ? {} : rounded(value));
    for (const field of [
      'messages',
      'tools',
      'queue',
      'statuses',
      'widgets',
      'title',
      'usage',
      'files',
      'dialogs',
      'state',
      'olderMessages',
      'lastRun',
      'bash',
    ])
      expect(listed(own[field] ?? null), field).toEqual(listed(snapshot[field] ?? null));
  });
});
