// The prompt file as a language in the real Helix, without a plugin, on the real pi: completion, diagnostics, what is sent.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { endProcesses } from '../editors/processes.ts';
import { describeWithEditor } from '../support/editors.ts';
import { type Helix, startHelix } from '../support/helix.ts';
import { program } from '../support/language-server.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { png } from '../unit/prompt/support.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Helix on a file of the project, with this agent. */
async function helixWith(
  { command, args, env }: { command: string; args: string[]; env: Record<string, string> },
  home?: EditorHome,
): Promise<Helix> {
  const helix = await startHelix({
    files: ['notes.md'],
    cols: 120,
    ...(home && { home }),
    server: {
      command: process.execPath,
      args: [program],
      initializationOptions: { agent: { command, args, env } },
    },
  });
  closing.push(() => helix.close());
  return helix;
}

const normal = '\x1b\x1b';

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
    const helix = await helixWith(agent);
    const image = png(640, 480);
    mkdirSync(join(helix.cwd, 'bilder größe'));
    writeFileSync(join(helix.cwd, 'bilder größe/shot one.png'), image);
    // What is in the document and not in the file is what is sent.
    await helix.insert('not saved yet');

    await helix.executeCommand('atomic.compose');
    await helix.waitForScreen('prompt.md');
    const { terminal } = helix;
    await terminal.text('i/ask-in');
    await helix.waitForScreen('/ask-input');
    await terminal.text(`${normal}%di`);
    await terminal.text('/model think');
    await helix.waitForScreen(/local\/thinker +value/);
    await terminal.text(`${normal}%di`);
    await terminal.text('see @shot');
    await helix.waitForScreen('bilder größe/shot one.png');
    await terminal.text('\t');
    await helix.waitForScreen('see @"bilder größe/shot one.png"');
    await terminal.text(' and #no');
    await helix.waitForScreen(/ notes\.md +file/);
    await terminal.text(`\t, not @nowhere.ts${normal}`);
    await helix.waitForScreen('There is no file nowhere.ts');
    await terminal.text('ghf@ k');
    await helix.waitForScreen('image/png, 640 × 480 pixels');
    await terminal.text(normal);
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

  it('keeps what was not sent over the end of editor, server and hub, and sends what was sent no second time', async () => {
    const model = await startModelServer(['Taken.', 'Again.']);
    closing.push(() => model.close());
    const agent = await piAgent({ model });
    closing.push(() => agent.dispose());
    const home = createEditorHome();
    closing.push(() => home.close());
    // Its program comes later.
    const choice = { ...agent, command: join(home.path, 'pi é'), args: agent.args, env: agent.env };
    const killed = async (helix: Helix) => {
      await helix.kill();
      await endProcesses(home.processes);
    };
    const composing = async () => {
      const helix = await helixWith(choice, home);
      await helix.executeCommand('atomic.compose');
      await helix.waitForScreen('prompt.md');
      return helix;
    };

    const first = await composing();
    await first.insert('Größe of it all?');
    await first.command('write');
    await first.waitForScreen(/The agent .* does not exist/);
    expect(await first.screen()).toContain('Größe of it all?');
    await killed(first);

    symlinkSync(agent.command, choice.command);
    const second = await composing();
    await second.waitForScreen('Größe of it all?');
    await second.command('write');
    expect((await model.request(0)).prompt).toBe('Größe of it all?');
    await second.waitForScreen((screen) => !screen.includes('Größe'));
    await killed(second);

    // The disk has it still; the agent, too.
    const third = await composing();
    await third.waitForScreen('had what was sent before, so it is empty now');
    expect(await third.screen()).not.toContain('Größe');
    await third.command('write');
    await third.waitForScreen("' written");
    await third.executeCommand('atomic.history');
    await third.waitForScreen('atomic.answer1 = Größe of it all?');
    await third.executeCommand('atomic.answer1');
    await third.waitForScreen(/^ *1 +Größe of it all\?/m);
    expect(model.requests).toHaveLength(1);
    await third.command('write');
    expect((await model.request(1)).prompt).toBe('Größe of it all?');
  });
});
