// The Emacs package with keys and windows, as a person sees it: a terminal frame of the real Emacs on the real pi, and on its server
// whose end nobody notices.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { given, stubServer } from '../editors/stub.ts';
import { describeWithEditor } from '../support/editors.ts';
import { type EmacsOptions, lispString, startEmacs } from '../support/emacs.ts';
import { program } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const sources = join(import.meta.dirname, '../../clients/emacs');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPackage(script: ModelScript, options: EmacsOptions = {}) {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
  );
  const server = [process.execPath, program, '--stdio'].map(lispString).join(' ');
  const emacs = await startEmacs({
    files: ['a.txt'],
    ...options,
    init: `
      (setq native-comp-jit-compilation nil inhibit-startup-screen t split-width-threshold 100)
      (menu-bar-mode -1)
      (add-to-list 'load-path ${lispString(sources)})
      (require 'atomic)
      (setq atomic-server-command (list ${server})
            atomic-settings (json-parse-string ${lispString(JSON.stringify({ agent }))} :object-type 'plist))`,
  });
  closing.push(() => emacs.close());
  return emacs;
}

const client = '(car (atomic-client-list))';
const chat = `(with-current-buffer (atomic-chat-find-buffer ${client}) (buffer-string))`;

describeWithEditor('emacs', 'the Emacs package on a screen', () => {
  beforeAll(ensurePi, 600_000);

  it('is used by keys: chat, prompt, question, menu', async () => {
    const emacs = await withPackage(
      [
        [
          { reasoning: 'The file is short.' },
          'The greeting is in `a.txt:2`. I make it **warmer**:\n\n```python\nprint("Hello")\n```\n',
          { toolCall: 'edit', arguments: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'zwei' }] } },
        ],
        'Done: line 2 says `zwei` now.',
      ],
      { terminal: { cols: 140, rows: 36 } },
    );
    const { terminal } = emacs;
    if (!terminal) throw new Error('no terminal');
    await emacs.eval('(write-region "one\\ntwo\\nthree\\n" nil "a.txt") (revert-buffer t t)');
    await terminal.keys('M-x');
    await terminal.text('atomic\n');
    await terminal.waitForScreen('sends');
    await terminal.text('Make the greeting in a.txt German');
    await terminal.keys('C-c', 'C-c');
    await terminal.waitForScreen('says `zwei` now');
    // The draft is gone, and the cursor still in the prompt.
    expect(await emacs.eval('(list (symbol-name major-mode) (buffer-string))')).toEqual([
      'atomic-prompt-mode',
      '',
    ]);
    await emacs.waitFor('(with-current-buffer "a.txt" (string-search "zwei" (buffer-string)))');
    await terminal.text('/ask-select');
    await terminal.keys('C-c', 'C-c');
    await terminal.waitForScreen(/1 Allow {3}2 Block/);
    await emacs.eval(
      `(with-current-buffer (atomic-chat-buffer ${client})
         (goto-char (point-min)) (search-forward "▸ edit") (atomic-chat-toggle) (goto-char (point-max))
         (set-window-start (get-buffer-window) (point-min) t))`,
    );
    const picture = process.env.ATOMIC_TEST_PICTURE;
    if (picture) writeFileSync(picture, await terminal.ansi());
    await terminal.keys('C-c', 'C-a');
    await terminal.waitForScreen(/^Run it\?:/m);
    await terminal.keys('C-g');
    await terminal.waitForScreen('postponed: Run it?');
    expect(await emacs.eval('(length (atomic-dialog-pending))')).toBe(1);
    await terminal.keys('C-c', 'C-a');
    await terminal.waitForScreen(/^Run it\?:/m);
    await terminal.text('Block\n');
    await emacs.waitFor(`(string-search "select=\\"Block\\"" ${chat})`);
    await terminal.keys('C-c', 'C-m');
    await terminal.waitForScreen('All commands');
    await terminal.keys('s');
    await terminal.waitForScreen('Stop');
  });

  it('leaves Eglot its time while an answer streams', async () => {
    const emacs = await withPackage([[{ tokens: 20_000 }]], { server: stubServer });
    await emacs.eval('(atomic-prompt "Go on")');
    await emacs.waitFor(`(and ${client} (> (length ${chat}) 200))`);
    let asked = 0;
    while (await emacs.eval(`(atomic-session-run (atomic-client-session ${client}))`)) {
      expect(await emacs.executeCommand('stub.given')).toMatchObject({ argv: given.argv });
      asked += 1;
    }
    expect(asked).toBeGreaterThan(2);
    expect(await emacs.eval<string>(chat)).toMatch(/You\nGo on\n\n(\S+\s+){20000}/);
  });

  it('goes on when its server is killed, and sends again what nobody acknowledged', async () => {
    const wait = gate();
    const emacs = await withPackage([['It streams ', { gate: wait }, 'to its end.'], 'The second answer.']);
    await emacs.eval('(atomic-prompt "one")');
    await emacs.waitFor(`(and ${client} (string-search "It streams" ${chat}))`);
    // It may or may not have come to the hub; Emacs cannot know.
    await emacs.eval(`(let ((process (jsonrpc--process (atomic-client-connection ${client}))))
        (atomic-follow-up "two")
        (signal-process process 'KILL))`);
    await emacs.waitFor(`(atomic-session-follow-up (atomic-client-session ${client}))`);
    expect(await emacs.eval(`(atomic-session-follow-up (atomic-client-session ${client}))`)).toEqual(['two']);
    wait.open();
    await emacs.waitFor(`(string-search "The second answer." ${chat})`);
    expect(await emacs.eval(chat)).toMatch(/It streams to its end\.[\s\S]*two/);
    await emacs.waitFor(`(zerop (hash-table-count (atomic-client-intents ${client})))`);
    expect(
      await emacs.eval(
        '(seq-count (lambda (it) (string-match-p "atomic .* stderr" (buffer-name it))) (buffer-list))',
      ),
    ).toBeLessThanOrEqual(1);
  });
});
