// A day with the real Helix and the real pi, configured by the files of clients/helix and nothing else.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { startHelixByGuide } from '../support/helix-guide.ts';
import { ensurePi } from '../support/pi.ts';
import {
  code,
  edited,
  patient,
  savedView,
  settings,
  status,
  tour,
  transcript,
  until,
  wentOn,
  wordsIn,
} from '../support/tour.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const spinner = /[⣾⣽⣻⢿⡿⣟⣯⣷]/;
/** In the line of messages, which comes last. */
const used = /100 tokens in, 20 out · 0 % of the context · \$0\.0001$/;
const mode = (file: string) => new RegExp(`(NOR|INS|SEL) .*${file}`);

describeWithEditor('hx', 'a day in Helix, set up by clients/helix, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('loses nothing and leaves nothing running that should not', async () => {
    const file = 'grüße ä.py';
    const day = tour(file);
    const { script, words, gates } = day;
    const helix = await startHelixByGuide(
      script,
      { files: ['first notes.md'], cols: 160, rows: 40 },
      settings,
    );
    closing.push(() => helix.close());
    const { model, home, cwd, terminal } = helix;
    const sees = (wanted: Parameters<typeof helix.waitForScreen>[0]) => helix.waitForScreen(wanted, patient);
    const ends = () => helix.log().match(/"kind":"end"/g)?.length ?? 0;
    writeFileSync(join(cwd, file), code);
    const written = async (text: string) => {
      await helix.insert(text);
      await helix.command('write');
    };
    let before = 'nothing';
    const composed = async (text: string) => {
      await helix.press('p');
      await sees((screen) => mode('prompt.md').test(screen) && !screen.includes(before));
      before = text;
      await written(text);
    };

    // Two thousand words come while a person types in another split, and then in the chat itself.
    await composed('Count ü.');
    await model.request(0);
    await sees((screen) => !screen.includes('Count ü.'));
    await helix.press('t');
    await sees('/views/');
    await helix.command('vsplit other.md');
    await sees(mode('other.md'));
    await terminal.text('i');
    for (const [group, wait] of gates.entries()) {
      wait.open();
      if (group === 25) {
        // What is undone elsewhere is no concern of the chat.
        await terminal.text('\x1b\x1b');
        await terminal.text('u');
        await sees((screen) => !screen.includes('#'.repeat(49)));
        await terminal.text('U');
        await sees((screen) => screen.includes('#'.repeat(49)));
        await terminal.text('\x17h');
        await sees(mode('/views/'));
        await terminal.text('ggi');
        await sees(/INS .*views/);
      }
      const key = group < 25 ? '#' : '§';
      await terminal.text(key.repeat(9) + (group % 5 === 4 ? '\r' : key));
    }
    await terminal.text('\x1b\x1b');
    // What it cost is told at the end.
    await sees(used);
    await until(async () => {
      await helix.command('write-all!');
      return wordsIn(savedView(home)).length;
    }).toBe(2000);
    const view = savedView(home);
    expect(wordsIn(view)).toEqual(words);
    expect(view).toMatch(/^(§{49}\n){5}/);
    // Helix ends a file with a line break of its own.
    expect(readFileSync(join(cwd, 'other.md'), 'utf8').trimEnd()).toBe(
      `${'#'.repeat(49)}\n`.repeat(5).trimEnd(),
    );
    await terminal.text(' s');
    await sees(/│.* Count ü\..*││/);
    await terminal.text('\x1b\x1b');
    await sees((screen) => !screen.includes('┌'));
    await helix.command('quit!');

    // Each of the four questions: by a key, by a code action, and by files that either opens.
    await composed('/ask-select');
    await sees('atomic.answer1 = Allow');
    await helix.press('2');
    await sees('select="Block"');
    await composed('/ask-confirm');
    await sees('atomic.answer1 = Yes');
    await terminal.text(' a');
    await sees('Answer “No” to: Clear the session?');
    await terminal.keys('Down', 'Enter');
    await sees('confirm=false');
    const answered = async (text: string) => {
      await sees('Write your answer below');
      await terminal.text('ge');
      await written(text);
    };
    await composed('/ask-input');
    await sees('Name of the branch — answer');
    await helix.press('r');
    await answered('feature/ü');
    await sees('input="feature/ü"');
    await composed('/ask-editor');
    await sees('Commit message — answer');
    await terminal.text(' a');
    await sees('Write an answer to: Commit message');
    await terminal.keys('Enter');
    await answered('Mend it ä');
    await sees(/editor=".*Mend it ä/);

    // A run is stopped.
    await composed('Go on forever.');
    await sees('writing: Never');
    const ended = ends();
    await helix.press('x');
    await until(ends).toBeGreaterThan(ended);

    // A question about a selection that is not saved.
    await helix.command(`open "${file}"`);
    await sees(mode('grüße ä.py'));
    await terminal.text('gg');
    await helix.insert('ungespeichert = "ß"; ');
    await terminal.text('ggxx');
    await terminal.text(' a');
    await sees('Ask Atomic about this');
    await terminal.keys('Enter');
    await sees((screen) => mode('prompt.md').test(screen) && screen.includes('(unsaved)'));
    await terminal.text('gg');
    before = 'What does it do?';
    await written(before);
    const { prompt } = await model.request(2);
    expect(prompt).toMatch(/^What does it do\?\n/);
    expect(prompt).toContain(
      '`grüße ä.py:1-2` (unsaved)\n```python\nungespeichert = "ß"; def greet(name):\n',
    );
    await until(() => transcript(home)).toContain('It greets in German.');

    // The agent changes the open file: what is not saved stays, and what is saved is shown by the command that is named.
    await composed('Give it a title.');
    await sees(`${file} has changed on disk, and you have unsaved changes in it`);
    expect(readFileSync(join(cwd, file), 'utf8')).toBe(edited);
    // It is not lost when the run ends.
    await until(() => status(home).busy).toBe(false);
    await sees(/changes in it.*$/);
    await helix.command(`open "${file}"`);
    await sees((screen) => screen.includes('ungespeichert') && !screen.includes('name.title()'));
    await helix.command('reload');
    await sees((screen) => screen.includes('name.title()') && !screen.includes('ungespeichert'));

    // The model is busy: the time until the next attempt is counted down.
    await composed('Again?');
    const seconds = (screen: string) => Number(/retry 1 of 3 in (\d) s: .*slow down/.exec(screen)?.[1]);
    const first = seconds(await sees((screen) => seconds(screen) > 0));
    await sees((screen) => seconds(screen) < first);
    await sees(used);
    await until(() => transcript(home)).toContain('At last.');

    // Nothing turns any more, and all that was begun has ended.
    await until(() => status(home)).toMatchObject({ busy: false, dialogs: 0 });
    await sees((screen) => !spinner.test(screen));

    // The person leaves in the middle of an answer; it goes on.
    await composed('The last one.');
    await sees('writing: Half');
    await helix.command('quit-all!');
    await terminal.exited;
    await wentOn(day, { home, model, editor: 'Helix' });
  }, 400_000);
});
