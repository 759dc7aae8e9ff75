// The tests that are written in Emacs Lisp, in the real Emacs and on the real pi: in a batch, and with a screen and windows.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor, requiredEditor } from '../support/editors.ts';
import { lispString } from '../support/emacs.ts';
import { program } from '../support/language-server.ts';
import { type ModelRequest, type Reply, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { startTerminal } from '../support/terminal.ts';

const sources = join(import.meta.dirname, '../../clients/emacs');
const tests = join(import.meta.dirname, 'emacs');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Which of them: a selector of ERT. */
const selector = process.env.ATOMIC_TEST_ERT ?? 't';

/** What the model answers, by the first word of the prompt. */
function reply({ prompt, body }: ModelRequest): Reply {
  const last = body.messages.at(-1);
  if (last?.role === 'tool') return 'The tool is done.';
  const [word, ...rest] = prompt.split(' ');
  const text = rest.join(' ');
  const tool = (toolCall: string, args: Record<string, unknown>): Reply => [
    'Let me do it. ',
    { toolCall, arguments: args },
  ];
  switch (word) {
    case 'think':
      return [{ reasoning: 'A long thought.' }, text];
    case 'bash':
      return tool('bash', { command: text });
    case 'write':
      return tool('write', { path: rest[0], content: `${rest.slice(1).join(' ')}\n` });
    case 'edit':
      return tool('edit', { path: rest[0], edits: [{ oldText: rest[1], newText: rest[2] }] });
    case 'change': {
      // Parted by bars, for names with spaces.
      const [, path, oldText, newText] = text.split('|');
      return tool('edit', { path, edits: [{ oldText, newText }] });
    }
    case 'hang':
      return ['I wait. ', { hang: true }];
    case 'tokens':
      return [{ tokens: Number(text) }];
    case 'image':
      return JSON.stringify(last?.content).includes('data:image/') ? 'I see an image.' : 'I see nothing.';
    default:
      return text || 'Well.';
  }
}

async function setUp() {
  const model = await startModelServer(reply);
  closing.push(() => model.close());
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  closing.push(() => agent.dispose());
  const home = createEditorHome();
  closing.push(() => home.close());
  const env = {
    ...home.env,
    ATOMIC_TEST_SERVER: JSON.stringify([process.execPath, program, '--stdio']),
    ATOMIC_TEST_SETTINGS: JSON.stringify({ agent, hub: false }),
  };
  const files = readdirSync(tests)
    .filter((name) => name.endsWith('-test.el') && name !== 'atomic-test.el')
    .flatMap((name) => ['-l', join(tests, name)]);
  // There need be no compiler.
  const quiet =
    '(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil native-comp-async-report-warnings-errors nil)';
  return { home, env, args: ['-Q', '--eval', quiet, '-L', sources, '-L', tests, ...files] };
}

const problems = (report: string) =>
  report.match(/^ +(?:FAILED|ABORTED).*$|^Test .* condition:[\s\S]*?(?=\n {3}FAILED)/gm)?.join('\n') ?? '';

function check(report: string, atLeast: number) {
  const [, ran, bad] = /Ran (\d+) tests?, .*?(\d+) unexpected/.exec(report) ?? [];
  expect(problems(report)).toBe('');
  expect(bad, report.slice(-4000)).toBe('0');
  expect(Number(ran)).toBeGreaterThanOrEqual(atLeast);
}

describeWithEditor('emacs', 'the tests in Emacs Lisp', () => {
  beforeAll(ensurePi, 600_000);

  it('hold in a batch', { timeout: 400_000 }, async () => {
    const { env, args, home } = await setUp();
    const report = await new Promise<string>((resolve) => {
      execFile(
        requiredEditor('emacs'),
        ['--batch', ...args, '--eval', `(ert-run-tests-batch-and-exit ${selector})`],
        { cwd: home.path, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
        (_error, stdout, stderr) => resolve(stdout + stderr),
      );
    });
    if (selector !== 't') console.log(report);
    check(report, 1);
    expect(home.processes()).toEqual([]);
  });

  it('hold with a screen', { timeout: 400_000 }, async () => {
    const { env, args, home } = await setUp();
    const report = join(home.path, 'report');
    const run = `(progn
       (when (get-buffer "*Warnings*") (kill-buffer "*Warnings*"))
       (setq message-log-max t)
       (ert-run-tests-batch ${selector})
       (with-temp-file ${lispString(report)} (insert-buffer-substring (messages-buffer)))
       (kill-emacs))`;
    const terminal = await startTerminal({
      command: requiredEditor('emacs'),
      args: ['-nw', ...args, '--eval', run],
      cols: 100,
      rows: 40,
      cwd: home.path,
      home,
      env,
    });
    closing.push(() => terminal.close());
    await terminal.exited;
    expect(existsSync(report), 'a report').toBe(true);
    check(readFileSync(report, 'utf8'), 1);
  });
});
