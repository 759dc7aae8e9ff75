// Bundles server/src/main.ts into dist/: one small entry, and one chunk a verb that is loaded when it is asked for, so
// that starting a language server reads no code of the terminal commands.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['server/src/main.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  define: { 'process.env.ATOMIC_LSP_VERSION': JSON.stringify(version) },
  banner: {
    // The CommonJS packages inside the bundle ask for Node's own modules by require().
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync('dist/main.js', 0o755);
