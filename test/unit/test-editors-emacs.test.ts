// Proves the driver of Emacs against a tiny language server, so that a failure of another test is not its.
import { expect, it } from 'vitest';
import { signalled } from '../editors/processes.ts';
import { given, kept, stubServer } from '../editors/stub.ts';
import { describeWithEditor } from '../support/editors.ts';
import { startEmacs } from '../support/emacs.ts';

describeWithEditor('emacs', 'Emacs without a screen', () => {
  it('gives the server its arguments, environment and options, and the test its result', async () => {
    const emacs = kept(await startEmacs({ files: ['a.txt'], server: stubServer }));
    // Eglot writes an empty object as null.
    const options = { ...given.options, none: null };
    const result = await emacs.executeCommand('stub.given', [{ a: 1 }, null, []]);
    expect(result).toEqual({ ...given, options, args: [{ a: 1 }, null, []] });
    await expect(emacs.executeCommand('stub.fail')).rejects.toMatchObject({
      message: expect.stringContaining('told to fail'),
      code: -32603,
    });
  });

  it('tells messages and progress', async () => {
    const emacs = kept(await startEmacs({ files: ['a.md'], server: stubServer }));
    await emacs.executeCommand('stub.hello');
    expect(await emacs.events.next('window/showMessage')).toEqual({
      type: 3,
      message: 'hello from the stub',
    });
    await emacs.waitFor(
      '(with-current-buffer "*Messages*" (goto-char 1) (search-forward "hello from the stub" nil t))',
    );
    expect(await emacs.eval('(symbol-name major-mode)')).toBe('markdown-mode');
  });

  it('lets the test answer and dismiss questions', async () => {
    const emacs = kept(await startEmacs({ files: ['a.txt'], server: stubServer }));
    await emacs.executeCommand('stub.ask');
    const one = await emacs.events.next('select');
    expect(one).toMatchObject({ items: ['Yes', 'No'], default: 'Yes' });
    expect(one.prompt).toContain('Is it so?');
    await emacs.answer(one.id, 'No');
    expect(await emacs.events.next('window/showMessage')).toMatchObject({ message: 'answered No' });
    await emacs.executeCommand('stub.ask');
    await emacs.answer((await emacs.events.next('select')).id, null);
    expect(await emacs.eval('(+ 1 2)')).toBe(3);
  });

  it('waits for a condition without stopping Emacs, reads the user configuration, edits', async () => {
    const emacs = kept(await startEmacs({ init: '(setq configured "yes \\"ü\\"")', files: ['one.txt'] }));
    const waiting = emacs.waitFor<number>('(bound-and-true-p later)');
    await emacs.eval('(insert "a\n" "ü")');
    expect(await emacs.text('one.txt')).toBe('a\nü');
    await emacs.eval('(setq later 7)');
    expect(await waiting).toBe(7);
    expect(await emacs.eval('configured')).toBe('yes "ü"');
    await emacs.edit('two [x] %.txt');
    expect(await emacs.eval('(buffer-name)')).toBe('two [x] %.txt');
    expect(await emacs.eval('(list 1 "b" (list :c t))')).toEqual([1, 'b', { c: true }]);
    await expect(emacs.eval('(error "bad")')).rejects.toThrow('bad');
    await expect(emacs.waitFor('(error "bad")')).rejects.toThrow('bad');
    await expect(emacs.waitFor('nil', { timeout: 50 })).rejects.toThrow('did not come true');
  });

  it('can be killed, and leaves no process when it is closed', async () => {
    const emacs = kept(await startEmacs({ files: ['a.txt'], server: stubServer }));
    expect(emacs.home.processes()).toContain(emacs.pid);
    expect(emacs.home.processes().length).toBeGreaterThan(1);
    await emacs.kill();
    expect(signalled(emacs.pid, 0)).toBe(false);
    await expect(emacs.events.next('never')).rejects.toThrow('Emacs ended');
    await emacs.close();
    expect(emacs.home.processes()).toEqual([]);
  });

  it('says why it did not start', async () => {
    await expect(startEmacs({ init: '(kill-emacs)' })).rejects.toThrow('Emacs ended at its start');
  });
});

describeWithEditor('emacs', 'Emacs in a terminal', () => {
  it('shows what the server says and asks, and takes keys', async () => {
    const emacs = kept(
      await startEmacs({ terminal: { cols: 90, rows: 20 }, files: ['a.txt'], server: stubServer }),
    );
    const terminal = emacs.terminal!;
    await terminal.text('hallo Wörld');
    await terminal.waitForScreen('hallo Wörld');
    expect(await emacs.text()).toBe('hallo Wörld');
    await emacs.executeCommand('stub.hello');
    await terminal.waitForScreen('hello from the stub');
    await emacs.executeCommand('stub.ask');
    await terminal.waitForScreen('Choose an option: Yes');
    await terminal.keys('C-a', 'C-k');
    await terminal.text('No\r');
    await terminal.waitForScreen('answered No');
    await emacs.close();
    expect(emacs.home.processes()).toEqual([]);
  });
});
