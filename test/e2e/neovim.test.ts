// The real Neovim with its built-in LSP client and no plugin, and the real pi; a day with them is tour-neovim.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithEditor } from '../support/editors.ts';
import { program } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { type Neovim, startNeovim } from '../support/neovim.ts';
import { ensurePi, piAgent } from '../support/pi.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPi(script: ModelScript, args: string[] = []): Promise<Neovim> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions: ['dialogs'] });
  const neovim = await startNeovim({
    files: ['ä b.txt'],
    server: {
      command: process.execPath,
      args: [program, ...args],
      initializationOptions: { agent: { command: agent.command, args: agent.args, env: agent.env } },
    },
  });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => neovim.close(),
  );
  return neovim;
}

const ended = (neovim: Neovim) => neovim.events.next('$/progress', ({ value }) => value.kind === 'end');
const reported = (neovim: Neovim, text: string) =>
  neovim.events.next('$/progress', ({ value }) => String(value.message).includes(text));

describeWithEditor('nvim', 'Neovim without a plugin, on the real pi', () => {
  beforeAll(ensurePi, 600_000);

  it('sends a prompt, and sees text stream, a tool run and the answer', async () => {
    const wait = gate();
    const neovim = await withPi([
      // The command ends when the test has seen it run.
      [
        'Let me look. ',
        { gate: wait },
        {
          toolCall: 'bash',
          arguments: { command: 'until [ -e go ]; do sleep 0.05; done; echo marmalade' },
        },
      ],
      'All is well.',
    ]);
    const result = await neovim.executeCommand<{ intent: string }>('atomic.prompt', ['What is here?']);
    expect(result.intent).toEqual(expect.any(String));
    await reported(neovim, 'Let me look.');
    wait.open();
    await reported(neovim, 'bash');
    writeFileSync(join(neovim.cwd, 'go'), '');
    await ended(neovim);
    const { text } = await neovim.executeCommand<{ text: string }>('atomic.getLastAssistantText');
    expect(text).toBe('All is well.');
    const { messages } = await neovim.executeCommand<{ messages: object[] }>('atomic.getMessages');
    expect(JSON.stringify(messages)).toContain('marmalade\\n');
  });

  it('gets one sentence for wrong arguments and for a prompt without text', async () => {
    const neovim = await withPi([]);
    await expect(neovim.executeCommand('atomic.setModel', [{ model: 'x' }])).rejects.toMatchObject({
      message: expect.stringContaining('atomic.setModel does not know "model"'),
    });
    await expect(neovim.executeCommand('atomic.prompt', [''])).rejects.toMatchObject({
      message: expect.stringContaining('text'),
    });
  });
});
