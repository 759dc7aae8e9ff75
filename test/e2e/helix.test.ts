// The files of clients/helix, as the real Helix reads them; a day with them is tour-helix.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createEditorHome } from '../editors/home.ts';
import { describeWithEditor, requiredEditor } from '../support/editors.ts';
import { guideFile } from '../support/guide.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describeWithEditor('hx', 'Helix, set up by clients/helix', () => {
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
});
