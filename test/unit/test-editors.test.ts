// Proves the drivers of Neovim, Helix and terminals against a tiny language server, so that a failure of another test is not theirs.
import { describe, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { given, kept, stubServer } from '../editors/stub.ts';
import { pictureOf } from '../editors/terminal-picture.mjs';
import { describeWithEditor } from '../support/editors.ts';
import { startHelix } from '../support/helix.ts';
import { startNeovim } from '../support/neovim.ts';
import { startTerminal } from '../support/terminal.ts';

describeWithEditor('nvim', 'Neovim without a screen', () => {
  it('gives the server its arguments, environment and options, and the test its result', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server: stubServer }));
    const result = await nvim.executeCommand('stub.given', [{ a: 1 }, null, []]);
    expect(result).toEqual({ ...given, args: [{ a: 1 }, null, []] });
    await expect(nvim.executeCommand('stub.fail')).rejects.toMatchObject({
      message: expect.stringContaining('told to fail'),
      code: -32603,
    });
  });

  it('tells messages and progress', async () => {
    const nvim = kept(await startNeovim({ files: ['a.md'], server: stubServer }));
    await nvim.executeCommand('stub.hello');
    expect(await nvim.events.next('window/showMessage')).toEqual({ type: 3, message: 'hello from the stub' });
    await nvim.executeCommand('stub.work');
    await nvim.events.next('$/progress', ({ value }) => value.kind === 'end');
    expect(nvim.events.of('$/progress').map(({ value }) => value.kind)).toEqual(['begin', 'report', 'end']);
  });

  it('lets the test answer and dismiss questions', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server: stubServer }));
    await nvim.executeCommand('stub.ask');
    await nvim.executeCommand('stub.ask');
    const one = await nvim.events.next('select');
    const two = await nvim.events.next('select');
    expect(one).toMatchObject({ prompt: 'Is it so?: ', items: ['Yes', 'No'] });
    await nvim.answer(two.id, 2);
    expect(await nvim.events.next('window/showMessage')).toMatchObject({ message: 'answered No' });
    await nvim.answer(one.id, null);
    expect(await nvim.events.next('window/showMessage')).toMatchObject({ message: 'answered nothing' });
  });

  it('waits for a condition without stopping Neovim, reads the user configuration, edits', async () => {
    const nvim = kept(await startNeovim({ init: 'vim.g.configured = "yes"', files: ['one.txt'] }));
    const waiting = nvim.waitFor<number>('vim.g.later');
    await nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "a", ... })', 'b');
    expect(await nvim.text('one.txt')).toBe('a\nb');
    await nvim.lua('vim.g.later = 7');
    expect(await waiting).toBe(7);
    expect(await nvim.lua('return vim.g.configured')).toBe('yes');
    await nvim.lua('vim.cmd.write()');
    await nvim.edit('two [x] %.txt');
    expect(await nvim.lua('return vim.fn.expand("%:t")')).toBe('two [x] %.txt');
    await expect(nvim.waitFor('error("bad")')).rejects.toThrow('bad');
    await expect(nvim.waitFor('false', { timeout: 50 })).rejects.toThrow('did not come true');
  });

  it('can be killed, and leaves no process when it is closed', async () => {
    const nvim = kept(await startNeovim({ files: ['a.txt'], server: stubServer }));
    expect(nvim.home.processes()).toContain(nvim.pid);
    expect(nvim.home.processes().length).toBeGreaterThan(1);
    await nvim.kill();
    expect(signalled(nvim.pid, 0)).toBe(false);
    await expect(nvim.events.next('never')).rejects.toThrow('Neovim ended');
    await nvim.close();
    expect(nvim.home.processes()).toEqual([]);
  });

  it('two share a home', async () => {
    const home = kept(createEditorHome());
    const [one, two] = await Promise.all([
      startNeovim({ home, files: ['a.txt'], server: stubServer }),
      startNeovim({ home, files: ['b.txt'], server: stubServer }),
    ]);
    await one.close();
    expect(signalled(one.pid, 0)).toBe(false);
    expect(await two.executeCommand('stub.given')).toMatchObject(given);
    await two.close();
  });
});

describe('a terminal', () => {
  it('tells the exit status, and what was to be seen at the end', async () => {
    const terminal = kept(
      await startTerminal({ command: 'sh', args: ['-c', 'printf "ü: "; read x; echo "got $x"; exit 3'] }),
    );
    await terminal.waitForScreen('ü:');
    await terminal.text("it's; #{so}\r");
    expect(await terminal.exited).toBe(3);
    await terminal.waitForScreen("got it's; #{so}");
  });

  it('tells a signal, has the size it was asked for, and ends what ran in it', async () => {
    const terminal = kept(
      await startTerminal({
        command: 'sh',
        args: ['-c', 'sleep 1000 <&- >&- 2>&- & stty size; exec cat'],
        cols: 70,
        rows: 9,
      }),
    );
    await terminal.waitForScreen('9 70');
    await terminal.resize(50, 12);
    await expect(terminal.waitForScreen('never', { timeout: 50 })).rejects.toThrow(
      'did not become never in time',
    );
    terminal.kill('SIGKILL');
    expect(await terminal.exited).toBeUndefined();
    await terminal.close();
    expect(terminal.home.processes()).toEqual([]);
  });
});

describeWithEditor('nvim', 'Neovim in a terminal', () => {
  it('shows what the server says and asks, and takes keys', async () => {
    const nvim = kept(
      await startNeovim({ terminal: { cols: 80, rows: 24 }, files: ['a.txt'], server: stubServer }),
    );
    const terminal = nvim.terminal!;
    await terminal.text('ihallo Wörld');
    await terminal.keys('Escape');
    await terminal.waitForScreen((screen) => screen.includes('hallo Wörld') && !screen.includes('INSERT'));
    expect(await nvim.text()).toBe('hallo Wörld');
    await nvim.executeCommand('stub.hello');
    await terminal.waitForScreen('hello from the stub');
    await nvim.executeCommand('stub.ask');
    await terminal.waitForScreen(/1: Yes\n2: No/);
    await terminal.text('2\r');
    expect(
      await nvim.events.next('window/showMessage', ({ message }) => message !== 'hello from the stub'),
    ).toEqual({
      type: 3,
      message: 'answered No',
    });
    expect(await terminal.ansi()).toMatch(/\x1b\[/);
  });

  it('draws a picture', async () => {
    const init = 'vim.o.termguicolors = true; vim.cmd.highlight("Normal guifg=#123456")';
    const nvim = kept(await startNeovim({ terminal: {}, files: ['a.txt'], init }));
    await nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "drawn <so>" })');
    await nvim.terminal!.waitForScreen('drawn <so>');
    const svg = pictureOf(await nvim.terminal!.ansi(), 'A title');
    expect(svg).toMatch(/fill="#123456"[^>]*>drawn\u00a0&lt;so&gt;/);
    expect(svg).toContain('>A title<');
  });

  it('can be killed, and leaves no process when it is closed', async () => {
    const nvim = kept(await startNeovim({ terminal: {}, files: ['a.txt'], server: stubServer }));
    expect(nvim.home.processes()).toEqual(expect.arrayContaining([nvim.pid, nvim.terminal!.pid]));
    await nvim.kill();
    await nvim.close();
    expect(nvim.home.processes()).toEqual([]);
  });
});

describeWithEditor('hx', 'Helix', () => {
  it('runs commands of the server and shows what it says', async () => {
    const helix = kept(await startHelix({ files: ['a.txt'], server: stubServer }));
    await helix.insert('some text');
    await helix.waitForScreen('some text');
    await helix.executeCommand('stub.hello');
    await helix.waitForScreen('hello from the stub');
    await helix.executeCommand('stub.ask');
    // Helix 25.01 does not know the request.
    await helix.waitForScreen(/refused -32601|Is it so/);
    await helix.executeCommand('stub.given');
    await helix.waitForLog('"argv":["an argument"]');
    const answer = /<- (\{.*"argv".*)/.exec(helix.log());
    expect(JSON.parse(answer![1]!).result).toEqual({ ...given, args: [] });
  });

  it('can be killed, and leaves no process when it is closed', async () => {
    const helix = kept(await startHelix({ files: ['a.md'], server: stubServer }));
    expect(helix.home.processes()).toContain(helix.pid);
    await helix.kill();
    expect(signalled(helix.pid, 0)).toBe(false);
    await helix.close();
    expect(helix.home.processes()).toEqual([]);
  });

  it('says why it did not start', async () => {
    await expect(startHelix({ env: { HELIX_RUNTIME: '' }, files: ['/dev/null/a', '--bad'] })).rejects.toThrow(
      'Helix ended at its start',
    );
  });
});
