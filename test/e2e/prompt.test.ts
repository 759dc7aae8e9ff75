// The prompt file as a language in the real Helix, without a plugin, on the real pi: completion, diagnostics, what is sent.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { startHelix } from '../support/helix.ts';
import { program } from '../support/language-server.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { png } from '../unit/prompt/support.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describeWithEditor('hx', 'The prompt file in Helix, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('completes commands and files, names what is missing, and sends texts and images', async () => {
    const model = await startModelServer(['A picture.', 'Yes.']);
    closing.push(() => model.close());
    const agent = await piAgent({
      model,
      extensions: ['dialogs'],
      settings: { defaultModel: 'thinker', defaultProvider: 'local' },
    });
    closing.push(() => agent.dispose());
    const helix = await startHelix({
      files: ['notes.md'],
      cols: 120,
      server: {
        command: process.execPath,
        args: [program],
        initializationOptions: { agent: { command: agent.command, args: agent.args, env: agent.env } },
      },
    });
    closing.push(() => helix.close());
    const image = png(640, 480);
    mkdirSync(join(helix.cwd, 'bilder größe'));
    writeFileSync(join(helix.cwd, 'bilder größe/shot one.png'), image);
    // What is in the document and not in the file is what is sent.
    await helix.insert('not saved yet');

    await helix.executeCommand('atomic.compose');
    await helix.waitForScreen('prompt.md');
    const { terminal } = helix;
    const normal = '\x1b\x1b';
    await terminal.text('i/ask-in');
    await helix.waitForScreen('/ask-input');
    await terminal.text(`${normal}%di`);
    await terminal.text('see @shot');
    await helix.waitForScreen('bilder größe/shot one.png');
    await terminal.text('\t');
    await helix.waitForScreen('see @"bilder größe/shot one.png"');
    await terminal.text(` and #notes.md, not @nowhere.ts${normal}`);
    await helix.waitForScreen('There is no file nowhere.ts');
    await helix.command('write');

    const { body } = await model.request(0);
    const content = body.messages.findLast(({ role }) => role === 'user')!.content as {
      type: string;
      text?: string;
      image_url?: { url: string };
    }[];
    expect(content.find(({ type }) => type === 'image_url')!.image_url!.url).toBe(
      `data:image/png;base64,${image.toString('base64')}`,
    );
    const text = content.find(({ type }) => type === 'text')!.text!;
    expect(text).toContain('see @"bilder größe/shot one.png" and #notes.md, not @nowhere.ts');
    expect(text).toContain('`notes.md` (unsaved)\n```markdown\n');
    expect(text).toContain('not saved yet');
    // It was taken: the file is empty, and nothing is wrong in it any more.
    await helix.waitForScreen((screen) => !screen.includes('see @') && !screen.includes('There is no file'));
  });
});
