// `npm run bench [-- name…]`: loads the benchmarks, which are TypeScript. Must not know: any benchmark.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('main.ts', import.meta.url)), {
  configFile: false,
  logLevel: 'error',
});
await module.bench(process.argv.slice(2));
process.exit();
