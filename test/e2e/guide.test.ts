// What people copy from the pages, as it is written there. Guarantees that each block is taken by the program that it is for; blocks
// for Helix, Eglot and Neovim are those of the tours. Where an editor's own LSP client is not there, it is played.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultSettings, settingsFrom } from '../../server/src/editor/settings.ts';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor, requiredEditor } from '../support/editors.ts';
import { guideBlock, guideFile } from '../support/guide.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A home, and how a program runs in it. */
function place() {
  const home = createEditorHome();
  closing.push(() => home.close());
  const file = (name: string, text: string): string => {
    const path = join(home.path, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { env: home.env, cwd: home.path, encoding: 'utf8', stdio: 'pipe' });
  return { home, file, run };
}

describe('blocks of the pages', () => {
  it('are JSON where they say so, and settings where they are settings', () => {
    const blocks = ['docs/editors.md', 'docs/configuration.md', 'docs/protocol.md']
      .map(guideFile)
      .flatMap((text) => [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, block]) => block!));
    expect(blocks.length).toBeGreaterThan(5);
    for (const block of blocks) JSON.parse(block);
    const [settings] = /(?<=^```json\n).*?(?=^```)/ms.exec(guideFile('docs/configuration.md'))!;
    expect(settingsFrom(JSON.parse(settings), defaultSettings, true).problems).toEqual([]);
  });

  it('are an extension of VS Code that starts the server', () => {
    const { file, run } = place();
    const manifest = JSON.parse(guideBlock('VS Code', 'json'));
    const main = file('extension.js', guideBlock('VS Code', 'js'));
    expect(join(main, '..', manifest.main)).toBe(main);
    const [library] = Object.keys(manifest.dependencies);
    file(
      `node_modules/${library}/node.js`,
      `exports.LanguageClient = class {
        constructor(...given) { console.log(JSON.stringify(given)); }
        async start() { console.log('start'); }
        async stop() { console.log('stop'); }
      };`,
    );
    const said = run(
      process.execPath,
      '-e',
      `const it = require(${JSON.stringify(main)}); it.activate().then(it.deactivate);`,
    );
    const [made, ...rest] = said.trim().split('\n');
    expect(JSON.parse(made!)[2]).toEqual({ command: 'atomic-lsp', args: ['--stdio'] });
    expect(rest).toEqual(['start', 'stop']);
    const ids = manifest.contributes.commands.map(({ command }: { command: string }) => command);
    for (const id of ids) expect(guideFile('docs/commands.md')).toContain(`\`${id}\``);
  });
});

describeWithEditor('vim', 'the block for vim-lsp', () => {
  it('registers the server and sends a command with its text', () => {
    const { home, file, run } = place();
    file(
      'plugin/autoload/lsp.vim',
      `function! lsp#register_server(server) abort
        let g:server = a:server
      endfunction
      function! lsp#send_request(name, request) abort
        let g:requests = get(g:, 'requests', []) + [[a:name, a:request.method, a:request.params]]
        call a:request.on_notification(#{response: #{error: #{message: 'refused'}}})
      endfunction`,
    );
    const rc = file(
      'vimrc',
      `set rtp^=${join(home.path, 'plugin').replace(' ', '\\ ')}\n${guideBlock('Vim', 'vim')}`,
    );
    const out = join(home.path, 'out');
    run(
      requiredEditor('vim'),
      ...['-es', '-N', '-i', 'NONE', '-u', rc],
      ...['-c', 'doautocmd User lsp_setup', '-c', 'Atomic prompt What is „this“?', '-c', 'Atomic abort'],
      ...[
        '-c',
        `call writefile([json_encode([g:server.cmd({}), g:server.allowlist, g:requests, execute('messages')])], '${out}')`,
      ],
      ...['-c', 'qall!'],
    );
    const [command, languages, requests, messages] = JSON.parse(readFileSync(out, 'utf8'));
    expect(command).toEqual(['atomic-lsp', '--stdio']);
    expect(languages).toEqual(['*']);
    expect(requests).toEqual([
      ['atomic', 'workspace/executeCommand', { command: 'atomic.prompt', arguments: ['What is „this“?'] }],
      ['atomic', 'workspace/executeCommand', { command: 'atomic.abort', arguments: [] }],
    ]);
    expect(messages).toContain('refused');
  });
});

describeWithEditor('emacs', 'the block for lsp-mode', () => {
  it('registers the server and sends a command with its text', () => {
    const { file, run } = place();
    const mode = file(
      'lsp-mode.el',
      `(defun lsp-stdio-connection (command) (list 'stdio command))
       (defun make-lsp-client (&rest given) given)
       (defun lsp-register-client (client) (princ (format "%S\\n" (list (plist-get client :new-connection) (plist-get client :add-on?)))))
       (defun lsp-find-workspace (id) id)
       (defmacro with-lsp-workspace (workspace &rest body) (list 'progn (list 'ignore workspace) (cons 'progn body)))
       (defun lsp-request-async (method params &rest _) (princ (format "%s %s\\n" method (json-encode params))))
       (require 'json)
       (provide 'lsp-mode)`,
    );
    const block = file('block.el', guideBlock('Emacs with lsp-mode', 'elisp'));
    const said = run(
      requiredEditor('emacs'),
      ...['-Q', '--batch', '-l', mode, '-l', block],
      ...['--eval', '(progn (atomic "prompt" "What is ü?") (atomic "abort" "") (atomic "abort"))'],
    );
    const sent = (command: string, ...args: string[]) =>
      `workspace/executeCommand ${JSON.stringify({ command: `atomic.${command}`, arguments: args })}`;
    expect(said.trim().split('\n')).toEqual([
      '((stdio ("atomic-lsp" "--stdio")) t)',
      sent('prompt', 'What is ü?'),
      sent('abort'),
      sent('abort'),
    ]);
  });
});
