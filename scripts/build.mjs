// Bundles server/src/main.ts into dist/: one small entry, and one chunk a verb that is loaded when it is asked for, so
// that starting a language server reads no code of the terminal commands. The licences of what is bundled go with it.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['server/src/main.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  define: { 'process.env.ATOMIC_LSP_VERSION': JSON.stringify(version) },
  banner: {
    // The CommonJS packages inside the bundle ask for Node's own modules by require().
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync('dist/main.js', 0o755);

const folders = new Set(
  Object.keys(metafile.inputs).flatMap((file) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    return folder ? [folder] : [];
  }),
);
const licences = [...folders].sort().map((folder) => {
  const { name, version: its, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`;
  return `${name} ${its}\n\n${text}\n`;
});
writeFileSync('dist/THIRD-PARTY.txt', licences.join(`\n${'-'.repeat(72)}\n\n`));
