// The real Helix without a plugin, configured as the README says, and the real pi.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { type Helix, startHelix } from '../support/helix.ts';
import { program } from '../support/language-server.ts';
import { type ModelScript, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPi(script: ModelScript): Promise<Helix> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  const helix = await startHelix({
    files: ['notes.md'],
    cols: 120,
    server: {
      command: process.execPath,
      args: [program],
      initializationOptions: { agent: { command: agent.command, args: agent.args, env: agent.env } },
    },
  });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => helix.close(),
  );
  return helix;
}

/** A file of the only session. */
const sessionFile = (helix: Helix, name: string): string => {
  const root = join(helix.home.env.XDG_STATE_HOME!, 'atomic-lsp');
  for (const workspace of readdirSync(root)) {
    const file = join(root, workspace, 'default', name);
    if (existsSync(file)) return file;
  }
  throw new Error(`there is no ${name}`);
};

describeWithEditor('hx', 'Helix without a plugin, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('composes, sends by saving, and has an empty prompt file and a complete transcript', async () => {
    const helix = await withPi(['All is well, captain.']);
    await helix.executeCommand('atomic.compose');
    await helix.waitForScreen('prompt.md');
    await helix.insert('How is it?');
    await helix.command('write');
    await helix.waitForLog(/"kind":"end"/);
    await helix.waitForScreen((screen) => !screen.includes('How is it?'));
    await expect
      .poll(() => readFileSync(sessionFile(helix, 'chat.md'), 'utf8'))
      .toContain('All is well, captain.');
    expect(readFileSync(sessionFile(helix, 'chat.md'), 'utf8')).toContain('How is it?');
    await helix.executeCommand('atomic.open');
    await helix.waitForScreen('All is well, captain.');
  });

  it('answers a question that wants text by a file, and one with choices by a command', async () => {
    const helix = await withPi([]);
    await helix.executeCommand('atomic.compose');
    await helix.waitForScreen('prompt.md');
    await helix.insert('/ask-input');
    await helix.command('write');
    await helix.waitForScreen('atomic.answer');
    await helix.executeCommand('atomic.answer');
    await helix.waitForScreen('Write your answer below');
    await helix.terminal.text('ge');
    await helix.insert('marmalade');
    await helix.command('write');
    await helix.waitForScreen('input="marmalade"');
  });
});
