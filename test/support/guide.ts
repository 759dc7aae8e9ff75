// What the guides for people say, and the environment that they assume. Guarantees that tests configure an editor from the very text
// that people copy. Must not know what is tested.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EditorHome } from '../editors/home.ts';
import { program } from './language-server.ts';
import type { PiAgent } from './pi.ts';

const root = join(import.meta.dirname, '../..');

/** A file of the project that people copy. */
export const guideFile = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The first block of code in this language below a heading of `docs/editors.md`. */
export function guideBlock(heading: string, language: string): string {
  const section = guideFile('docs/editors.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0];
  const block = section?.match(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms'))?.[1];
  if (block === undefined) throw new Error(`docs/editors.md has no ${language} under "${heading}"`);
  return block;
}

/** The environment of a person who has installed atomic-lsp and, if given, pi, and nothing else of ours. */
export function installed(home: EditorHome, agent?: PiAgent): Record<string, string> {
  const bin = join(home.path, 'bin');
  mkdirSync(bin, { recursive: true });
  const launcher = join(bin, 'atomic-lsp');
  const word = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  writeFileSync(launcher, `#!/bin/sh\nexec ${word(process.execPath)} ${word(program)} "$@"\n`);
  chmodSync(launcher, 0o755);
  const { HOME: _, ...env } = agent?.env ?? {};
  return { ...env, PATH: [bin, ...(agent ? [agent.bin] : []), home.env.PATH].join(':') };
}
