// Helix as `clients/helix/` sets it up, with the real pi. Guarantees that nothing is configured but by those files, and that the
// language server is there when it settles. Must not know what is tested.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createEditorHome } from '../editors/home.ts';
import { guideFile, installed } from './guide.ts';
import { type Helix, type HelixOptions, startHelix } from './helix.ts';
import { type ModelScript, type ModelServer, startModelServer } from './model-server.ts';
import { piAgent } from './pi.ts';

export interface GuidedHelix extends Helix {
  model: ModelServer;
  /** `space i` and the keys. */
  press(keys: string): Promise<void>;
  /** A file of the session. */
  session(name: string): string;
}

/** `settings` are pi's own. */
export async function startHelixByGuide(
  script: ModelScript,
  options: HelixOptions = {},
  settings: Record<string, unknown> = {},
): Promise<GuidedHelix> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model, extensions: ['dialogs'], settings });
  const home = createEditorHome();
  const helix = await startHelix({
    files: ['notes.md'],
    cols: 120,
    ...options,
    home,
    env: installed(home, agent),
    languagesToml: guideFile('clients/helix/languages.toml'),
    configToml: guideFile('clients/helix/config.toml'),
  });
  await helix.waitForLog('"method":"initialized"');
  return {
    ...helix,
    model,
    press: (keys) => helix.terminal.text(`\x1b\x1b i${keys}`),
    session(name) {
      const root = join(home.env.XDG_STATE_HOME!, 'atomic-lsp');
      for (const workspace of readdirSync(root)) {
        const file = join(root, workspace, 'default', name);
        if (existsSync(file)) return file;
      }
      throw new Error(`there is no ${name}`);
    },
    async close() {
      await helix.close();
      await home.close();
      await model.close();
      agent.dispose();
    },
  };
}
