// Bundles the program into dist/: program.js, of which each verb runs only its own parts, and main.js, which loads it with what
// Node has compiled of it before. The licences of what is bundled go with it.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });
const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};
const { metafile } = await build({
  ...common,
  entryPoints: { program: 'server/src/main.ts' },
  outdir: 'dist',
  metafile: true,
  legalComments: 'none',
  // An import on demand runs a part of the one file.
  supported: { 'dynamic-import': false },
  define: {
    'process.env.ATOMIC_LSP_VERSION': JSON.stringify(version),
    'import.meta.url': '__url',
  },
  banner: {
    js: "(function (exports, require, module, __filename, __dirname) { const __url = require('node:url').pathToFileURL(__filename).href;",
  },
  footer: { js: '})' },
});
await build({
  ...common,
  entryPoints: { main: 'server/src/start.ts' },
  outdir: 'dist',
  define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
});
// It is read as text of one byte each; what esbuild leaves as it is stands in comments and regular expressions.
const code = readFileSync('dist/program.js', 'utf8');
writeFileSync(
  'dist/program.js',
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
);
// The project's own package.json says that its files are modules; these are scripts, which start faster.
writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
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
