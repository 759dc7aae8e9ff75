// The Emacs package in the real Emacs, on the real pi.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor, requiredEditor } from '../support/editors.ts';
import { type Emacs, startEmacs } from '../support/emacs.ts';
import { program } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const sources = join(import.meta.dirname, '../../clients/emacs');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const lisp = (text: string): string => JSON.stringify(text);

function lintFolder(): string | undefined {
  const all = join(dirname(dirname(requiredEditor('emacs'))), 'root/usr/share/emacs/site-lisp/elpa-src');
  const name = existsSync(all) ? readdirSync(all).find((it) => it.startsWith('package-lint-')) : undefined;
  return name && join(all, name);
}

async function withPackage(script: ModelScript): Promise<Emacs> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
  );
  const settings = JSON.stringify({ agent });
  const emacs = await startEmacs({
    files: ['a.txt'],
    init: `
      (add-to-list 'load-path ${lisp(sources)})
      (require 'atomic)
      (setq atomic-server-command (list ${lisp(process.execPath)} ${lisp(program)} "--stdio")
            atomic-settings (json-parse-string ${lisp(settings)} :object-type 'plist))`,
  });
  closing.push(() => emacs.close());
  return emacs;
}

const chat = '(with-current-buffer (atomic-chat-find-buffer (car (atomic-client-list))) (buffer-string))';
const shows = (emacs: Emacs, text: string) =>
  emacs.waitFor(`(and (atomic-client-list) (string-search ${lisp(text)} ${chat}))`);
const waitsFor = (emacs: Emacs, count: number) =>
  emacs.waitFor(`(= ${count} (length (atomic-dialog-pending)))`);

describeWithEditor('emacs', 'the Emacs package, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('compiles without a warning, and its docstrings are in order', () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-elisp-'));
    try {
      const files = readdirSync(sources).filter((name) => name.endsWith('.el'));
      for (const file of files) copyFileSync(join(sources, file), join(folder, file));
      const check = files.map((file) => `(checkdoc-file ${lisp(file)})`).join(' ');
      const run = (...args: string[]) =>
        execFileSync(requiredEditor('emacs'), ['-Q', '--batch', '-L', '.', ...args], {
          cwd: folder,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'inherit'],
        });
      run('--eval', '(setq byte-compile-error-on-warn t)', '-f', 'batch-byte-compile', ...files);
      const said = run(
        '--eval',
        `(progn (require 'checkdoc)
                (let ((problems 0))
                  (setq checkdoc-create-error-function (lambda (text &rest _) (setq problems (1+ problems)) (princ text) nil))
                  ${check}
                  (princ (format "problems: %d" problems))))`,
      );
      expect(said).toMatch(/problems: 0$/);
      // Of Debian's package, where the editors are the provisioned ones.
      const lint = lintFolder();
      if (lint === undefined) return;
      for (const file of readdirSync(folder)) if (file.endsWith('.elc')) rmSync(join(folder, file));
      const linted = (...args: string[]) =>
        run(
          ...['-L', lint, '--eval'],
          "(progn (setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil) (require 'package-lint))",
          ...args,
        );
      linted(
        ...['--eval', '(setq package-lint-main-file "atomic.el")'],
        ...['-f', 'package-lint-batch-and-exit', ...files],
      );
      // It knows what came after the Emacs that the package asks for.
      const needs = /^;; Package-Requires: .*$/m.exec(readFileSync(join(folder, 'atomic.el'), 'utf8'))?.[0];
      writeFileSync(
        join(folder, 'later.el'),
        `;;; later.el --- Later  -*- lexical-binding: t; -*-\n;; Version: 1\n${needs}\n(value< 1 2)\n`,
      );
      const later = `(with-temp-buffer (insert-file-contents "later.el") (setq buffer-file-name "later.el")
                       (emacs-lisp-mode) (princ (mapcar (function cadddr) (package-lint-buffer))))`;
      expect(linted('--eval', later)).toContain('(emacs "30.1")');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('changes nothing of Emacs when it is loaded', () => {
    const watched =
      '(list post-command-hook kill-emacs-hook kill-buffer-hook find-file-hook window-configuration-change-hook global-mode-string auto-mode-alist (length timer-list) (length (process-list)) (mapcar (function buffer-name) (buffer-list)))';
    const same = execFileSync(
      requiredEditor('emacs'),
      [
        ...['-Q', '--batch', '-L', sources, '--eval'],
        `(progn
           ;; What Emacs itself has may set up something when it is first needed.
           (mapc (function require) '(project ediff transient flymake outline jsonrpc warnings tabulated-list))
           (let ((before ${watched}))
             (require 'atomic)
             (require 'atomic-menu)
             (princ (if (equal before ${watched}) "the same" (format "%S %S" before ${watched})))))`,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    );
    expect(same).toBe('the same');
  });

  it('streams an answer with a tool, and says so to whoever waits for the end', async () => {
    const wait = gate();
    const emacs = await withPackage([
      ['Let me look. ', { gate: wait }, { toolCall: 'bash', arguments: { command: 'echo marmalade' } }],
      'All is well.',
    ]);
    await emacs.eval(
      '(setq ended nil) (add-hook (quote atomic-run-finished-functions) (lambda (&rest _) (setq ended t)))',
    );
    await emacs.eval('(atomic-prompt "What is here?")');
    await shows(emacs, 'Let me look.');
    wait.open();
    await shows(emacs, 'All is well.');
    await emacs.waitFor('ended');
    const text = await emacs.eval<string>(chat);
    expect(text).toMatch(/What is here\?.*Let me look\..*bash.*echo marmalade.*All is well\./s);
  });

  it('lets a question wait, and answers it when the person wants to', async () => {
    const emacs = await withPackage([]);
    await emacs.eval('(atomic-prompt "/ask-select")');
    await waitsFor(emacs, 1);
    await emacs.eval('(run-at-time 0 nil (quote atomic-next-attention))');
    const first = await emacs.events.next('select');
    await emacs.answer(first.id, null);
    await emacs.waitFor('(not atomic-dialog--open)');
    await waitsFor(emacs, 1);
    await emacs.eval('(run-at-time 0 nil (quote atomic-next-attention))');
    const again = await emacs.events.next('select');
    await emacs.answer(again.id, again.items[0]);
    await shows(emacs, `select="${again.items[0]}"`);
    await waitsFor(emacs, 0);
  });

  it('answers in a buffer, and with a text', async () => {
    const emacs = await withPackage([]);
    await emacs.eval('(atomic-prompt "/ask-editor")');
    await waitsFor(emacs, 1);
    await emacs.eval('(atomic-next-attention)');
    await emacs.eval('(erase-buffer) (insert "one\\ntwo") (atomic-answer-send)');
    await shows(emacs, 'editor="one');
    await emacs.eval('(atomic-prompt "/ask-input")');
    await waitsFor(emacs, 1);
    await emacs.eval('(run-at-time 0 nil (quote atomic-next-attention))');
    await emacs.answer((await emacs.events.next('input')).id, 'marmalade');
    await shows(emacs, 'input="marmalade"');
  });

  it('stops a run and gives the queue back', async () => {
    const emacs = await withPackage([['Never ', { hang: true }], 'Again.']);
    await emacs.eval('(atomic-prompt "one")');
    await shows(emacs, 'Never');
    await emacs.eval('(atomic-follow-up "two, later")');
    await emacs.waitFor('(atomic-session-follow-up (atomic-client-session (car (atomic-client-list))))');
    await emacs.eval('(atomic-stop)');
    await emacs.waitFor(
      '(let ((buffer (atomic-prompt-find-buffer (car (atomic-client-list))))) (and buffer (with-current-buffer buffer (string-search "two, later" (buffer-string)))))',
    );
    await emacs.waitFor(
      '(equal (format "%s" (atomic-session-phase (atomic-client-session (car (atomic-client-list))))) "idle")',
    );
    await emacs.eval('(atomic-prompt "three")');
    await shows(emacs, 'Again.');
  });
});
