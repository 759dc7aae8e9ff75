// A newcomer's first minutes with the Emacs package: a clean home, what its README says, and nothing else.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor } from '../support/editors.ts';
import { startEmacs } from '../support/emacs.ts';
import { guideFile } from '../support/guide.ts';
import { program } from '../support/language-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const blocks = guideFile('clients/emacs/README.md')
  .split('\n```')
  .filter((_, at) => at % 2 === 1)
  .map((block) => block.replace(/^.*\n/, ''));
/** The line, or the whole block, that begins so. */
const block = (words: string): string => blocks.find((it) => it.startsWith(words))!;
const line = (words: string): string =>
  blocks
    .join('\n')
    .split('\n')
    .find((it) => it.startsWith(words))!;

/** A home as npm left it, `atomic-lsp` on PATH and no agent; and a checkout where the README has it. */
function cleanHome() {
  const home = createEditorHome();
  closing.push(() => home.close());
  const bin = join(home.path, 'bin');
  const checkout = join(home.path, 'src/atomic-lsp');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'atomic-lsp'));
  cpSync(join(import.meta.dirname, '../../clients/emacs'), join(checkout, 'clients/emacs'), {
    recursive: true,
    filter: (path) => !path.endsWith('.elc'),
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Me', '-c', 'user.email=me@example.org', ...args], {
      cwd: checkout,
      env: home.env,
    });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'As it is');
  return { home, env: { PATH: `${bin}:${join(process.execPath, '..')}:/usr/bin:/bin` } };
}

const ways = {
  'use-package': { init: block('(use-package atomic') },
  'package-vc-install-from-checkout': { code: line('(package-vc-install-from-checkout') },
  'package-vc-install': { code: line("(package-vc-install '") },
};

describeWithEditor('emacs', 'the first minutes in Emacs', () => {
  it.each(Object.entries(ways))('by %s: install, doctor, an answer, a mode line', async (_, way) => {
    const { home, env } = cleanHome();
    const emacs = await startEmacs({
      home,
      env,
      files: ['a.txt'],
      terminal: { cols: 120, rows: 40 },
      // There need be no compiler.
      init: `(setq native-comp-jit-compilation nil)\n${'init' in way ? way.init : ''}`,
    });
    closing.push(() => emacs.close());
    const terminal = emacs.terminal!;
    if ('code' in way) {
      const code = way.code.replace('file:///home/me', `file://${home.path}`);
      await emacs.eval(`(with-temp-buffer ${code}\n) t`);
      expect(
        await emacs.eval(
          "(seq-every-p 'commandp '(atomic-menu atomic-rename-session atomic-export atomic-resume))",
        ),
      ).toBe(true);
    }
    await emacs.eval(block("(with-eval-after-load 'atomic"));

    await terminal.text('\x1bxatomic-doctor\r');
    await terminal.waitForScreen('That is all.');
    const report = await emacs.eval<string>('(with-current-buffer "*atomic doctor*" (buffer-string))');
    expect(report).toMatch(/ok +.*atomic-lsp/);
    expect(report).toMatch(/the built-in demo agent/);
    await emacs.edit('a.txt');
    await terminal.text(way === ways['use-package'] ? '\x03aa' : '\x1bxatomic\r');
    await terminal.waitForScreen('C-c C-c sends');
    await terminal.text('What does this project do?\x03\x03');
    const chat =
      '(with-current-buffer (atomic-chat-find-buffer (car (atomic-client-list))) (buffer-substring-no-properties (point-min) (point-max)))';
    await emacs.waitFor(`(and (atomic-client-list) (string-search "demo agent" ${chat}))`);
    expect(await emacs.eval(chat)).toMatch(
      /^You\nWhat does this project do\?\n\n[\s\S]*This is the built-in demo agent/,
    );
    await terminal.waitForScreen(/atomic:(writing|idle)/);
    expect(
      await emacs.eval('(and (get-buffer "*Warnings*") (with-current-buffer "*Warnings*" (buffer-string)))'),
    ).toBeNull();
  });
});
