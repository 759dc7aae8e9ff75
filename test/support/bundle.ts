// A TypeScript program of the tests as one file that Node runs. Guarantees nothing beside that file. Must not know the program.
import { build, stop } from 'esbuild';

export async function bundled(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    logLevel: 'error',
    minify: true,
  });
  // Its service would stay as long as this process.
  await stop();
}
