// A day with the real Emacs, its own Eglot and the real pi, configured by the block of docs/editors.md and nothing else, by keys in a
// terminal.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { lispString, startEmacs } from '../support/emacs.ts';
import { guideBlock } from '../support/guide.ts';
import { ensurePi } from '../support/pi.ts';
import { begun, code, edited, patient, status, transcript, until, wentOn, wordsIn } from '../support/tour.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const limit = 400_000;

describeWithEditor('emacs', 'a day in Emacs with Eglot, set up by its guide, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it(
    'loses nothing and leaves nothing running that should not',
    async () => {
      const file = 'grüße ä.txt';
      const day = await begun(file, closing);
      const { model, home, words, gates } = day;
      const emacs = await startEmacs({
        home,
        files: ['first notes.md'],
        init: guideBlock('Emacs with Eglot', 'elisp'),
        env: day.env,
        terminal: { cols: 160, rows: 40 },
      });
      closing.push(() => emacs.close());
      const { cwd } = emacs;
      const terminal = emacs.terminal!;
      const sees = (wanted: Parameters<typeof terminal.waitForScreen>[0]) =>
        terminal.waitForScreen(wanted, patient);
      const holds = (lisp: string) => emacs.waitFor(lisp, patient);
      const type = (keys: string) => terminal.text(keys);
      const run = (command: string, text = '') => type(`\x1bxatomic\r${command}\r${text}\r`);
      const shown = (name: string) =>
        holds(`(string-search "${name}" (or (buffer-file-name (window-buffer)) ""))`);
      writeFileSync(join(cwd, file), code);
      await type('\x1bxeglot\r');
      await holds('(eglot-managed-p)');
      const composed = async (text: string) => {
        await run('compose');
        await shown('prompt.md');
        await holds('(and (eglot-managed-p) (equal (buffer-string) ""))');
        await type(`${text}\x18\x13`);
      };

      // Two thousand words come while a person types in another window, and then in the chat itself.
      await composed('Count ü.');
      await model.request(0);
      await holds('(equal (buffer-string) "")');
      await run('open');
      await shown('/views/');
      const chat = await emacs.eval<string>('(buffer-name (window-buffer))');
      const inChat = (lisp: string) => `(with-current-buffer "${chat}" ${lisp})`;
      const has = (text: string) => holds(inChat(`(string-search "${text}" (buffer-string))`));
      /** The line of messages is taken by others, too. */
      const told = (text: string) =>
        holds(`(with-current-buffer "*Messages*" (string-search ${lispString(text)} (buffer-string)))`);
      await type('\x18o');
      await holds(`(not (equal (buffer-name (window-buffer)) "${chat}"))`);
      await emacs.edit('other.txt');
      for (const [group, wait] of gates.entries()) {
        wait.open();
        if (group === 25) {
          await type('\x18o\x1b<');
          await holds(`(and (equal (buffer-name (window-buffer)) "${chat}") (= (point) 1))`);
        }
        const key = group < 25 ? '#' : '§';
        await type(key.repeat(9) + (group % 5 === 4 ? '\r' : key));
      }
      await has('word1999');
      await has('$0.0001');
      const text = await emacs.eval<string>(inChat('(buffer-string)'));
      expect(wordsIn(text)).toEqual(words);
      expect(text).toMatch(/^(§{49}\n){5}/);
      expect(await emacs.text('other.txt')).toBe(`${'#'.repeat(49)}\n`.repeat(5));
      await type('\x181');

      // Each of the four questions: in the minibuffer, by command after it was dismissed, by command at once, by a file.
      await composed('/ask-select');
      await sees('Run it?');
      await type('\x01\x0bBlock\r');
      await told('select="Block"');
      await composed('/ask-confirm');
      await sees('Clear the session?');
      await type('\x07');
      await holds('(= (minibuffer-depth) 0)');
      await run('answer1');
      await told('confirm=true');
      await composed('/ask-input');
      await told('Name of the branch');
      await run('answer', 'feature/ü');
      await told('input="feature/ü"');
      await composed('/ask-editor');
      await told('Commit message');
      await run('answer');
      await shown('/answers/');
      await type('\x1b>Mend it ä\x18\x13');
      await told('Mend it ä"');

      // A run is stopped.
      await composed('Go on forever.');
      await has('Never');
      await run('abort');
      await until(() => status(home).busy).toBe(false);

      // A question about a selection that is not saved.
      await emacs.edit(file);
      await holds('(eglot-managed-p)');
      await type('\x1b<ungespeichert = "ß"\r');
      await type('\x1b<\x00\x0e\x0e\x1bxeglot-code-actions\r');
      await sees('Pick an action');
      await type('Ask Atomic about this\r');
      await shown('prompt.md');
      await holds('(string-search "(unsaved)" (buffer-string))');
      await type('\x1b<What does it do?\x18\x13');
      const { prompt } = await model.request(2);
      expect(prompt).toMatch(/^What does it do\?\n/);
      expect(prompt).toContain(
        '`grüße ä.txt:1-2` (unsaved)\n```text\nungespeichert = "ß"\ndef greet(name):\n```',
      );
      await until(() => transcript(home)).toContain('It greets in German.');

      // The agent changes the open file: what is not saved stays, and is given up by the person alone.
      await composed('Give it a title.');
      await told('has changed on disk, and you have unsaved changes in it');
      expect(readFileSync(join(cwd, file), 'utf8')).toBe(edited);
      await type(`\x18b${file}\r`);
      await holds(`(equal (buffer-name (window-buffer)) "${file}")`);
      expect(await emacs.text(file)).toContain('ungespeichert = "ß"\ndef');
      await type('\x1bxrevert-buffer\r');
      await sees('Discard edits');
      await type('yes\r');
      await holds(
        '(and (string-search "name.title()" (buffer-string)) (not (string-search "ungespeichert" (buffer-string))))',
      );

      // The model is busy for a while.
      await composed('Again?');
      await has('At last.');

      // Nothing turns any more, and all that was begun has ended.
      await until(() => status(home)).toEqual({
        sessions: 1,
        editors: 1,
        agent: 'running',
        busy: false,
        dialogs: 0,
      });
      await sees((screen) => /\[eglot:project\]/.test(screen) && !/%\]/.test(screen));

      // The person leaves in the middle of an answer; it goes on.
      await composed('The last one.');
      await has('Half');
      await type('\x18\x03');
      await sees('Save file');
      await type('q');
      await sees('exit anyway');
      await type('yes\r');
      await emacs.exited;
      await wentOn(day, { home, model, editor: 'Emacs' });
    },
    limit,
  );
});
