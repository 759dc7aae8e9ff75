// The real Helix without a plugin, configured by the files of clients/helix and nothing else, and the real pi.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor, requiredEditor } from '../support/editors.ts';
import { guideFile } from '../support/guide.ts';
import { type GuidedHelix, startHelixByGuide } from '../support/helix-guide.ts';
import type { ModelScript } from '../support/model-server.ts';
import { ensurePi } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPi(script: ModelScript): Promise<GuidedHelix> {
  const helix = await startHelixByGuide(script);
  closing.push(() => helix.close());
  return helix;
}

describeWithEditor('hx', 'Helix, set up by clients/helix, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('composes, sends by saving, and has an empty prompt file and a complete transcript', async () => {
    const helix = await withPi(['All is well, captain.']);
    await helix.press('p');
    await helix.waitForScreen('prompt.md');
    await helix.insert('How is it?');
    await helix.command('write');
    await helix.waitForLog(/"kind":"end"/);
    await helix.waitForScreen((screen) => !screen.includes('How is it?'));
    const chat = () => readFileSync(helix.session('chat.md'), 'utf8');
    await expect.poll(chat).toContain('All is well, captain.');
    expect(chat()).toContain('How is it?');
    await helix.press('t');
    await helix.waitForScreen('All is well, captain.');
  });

  it('answers a question that wants text by a file, and one with choices by a key', async () => {
    const helix = await withPi([]);
    await helix.press('p');
    await helix.waitForScreen('prompt.md');
    await helix.insert('/ask-input');
    await helix.command('write');
    await helix.waitForScreen('atomic.answer');
    await helix.press('r');
    await helix.waitForScreen('Write your answer below');
    await helix.terminal.text('ge');
    await helix.insert('marmalade');
    await helix.command('write');
    await helix.waitForScreen('input="marmalade"');
  });

  it('keeps each language’s own servers, and adds ours', () => {
    const home = createEditorHome();
    closing.push(() => home.close());
    const folder = join(home.env.XDG_CONFIG_HOME!, 'helix');
    mkdirSync(folder, { recursive: true });
    const servers = (language: string): string[] => {
      const said = execFileSync(requiredEditor('hx'), ['--health', language], {
        env: home.env,
        encoding: 'utf8',
      });
      return [...said.matchAll(/^ +\S+ ([\w.-]+): /gm)].map(([, name]) => name!);
    };
    const text = guideFile('clients/helix/languages.toml');
    const languages = [...text.matchAll(/^name = "(.*)"/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== 'plaintext');
    const before = languages.map(servers);
    writeFileSync(join(folder, 'languages.toml'), text);
    expect(languages.map(servers)).toEqual(before.map((list) => [...list, 'atomic-lsp']));
    expect(before.flat()).toContain('rust-analyzer');
  });

  it('answers each kind of question by a code action', async () => {
    const helix = await withPi([]);
    const asked = async (command: string) => {
      await helix.executeCommand('atomic.compose');
      await helix.waitForScreen('prompt.md');
      await helix.insert(command);
      await helix.command('write');
    };
    /** The first of the offers, or one further down. */
    const chosen = async (offer: string, downs = 0) => {
      await helix.terminal.text(' a');
      await helix.waitForScreen(offer);
      await helix.terminal.keys(...Array.from({ length: downs }, () => 'Down'), 'Enter');
    };
    await asked('/ask-select');
    await helix.waitForScreen('atomic.answer1 = Allow');
    await chosen('Answer “Block” to: Run it?', 1);
    await helix.waitForScreen('select="Block"');
    await asked('/ask-confirm');
    await helix.waitForScreen('atomic.answer1 = Yes');
    await chosen('Answer “No” to: Clear the session?', 1);
    await helix.waitForScreen('confirm=false');
    for (const [command, offer, kind, answer] of [
      ['/ask-input', 'Write an answer to: Name of the branch', 'input', 'feature/ü'],
      ['/ask-editor', 'Write an answer to: Commit message', 'editor', 'Mend it'],
    ] as const) {
      await asked(command);
      await helix.waitForScreen(`${kind === 'input' ? 'Name of the branch' : 'Commit message'} — answer`);
      await chosen(offer);
      await helix.waitForScreen('Write your answer below');
      await helix.terminal.text('ge');
      await helix.insert(answer);
      await helix.command('write');
      await helix.waitForScreen(new RegExp(`${kind}=".*${answer}`));
    }
    const chat = readFileSync(helix.session('chat.md'), 'utf8');
    expect(chat.match(/answered by Helix/g)).toHaveLength(4);
  }, 90_000);
});
