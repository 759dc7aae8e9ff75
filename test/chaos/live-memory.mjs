// Loaded by Node before a program (`node --expose-gc --import live-memory.mjs PROGRAM`): whoever sends SIGUSR2 is told the bytes that the
// program still holds after garbage was collected, as a file `live-memory` in the folder LIVE_MEMORY. Resident memory also has
// garbage in it, and more of that the busier the machine is. Must not know: the program.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.LIVE_MEMORY, 'live-memory');
process.on('SIGUSR2', () => {
  globalThis.gc();
  // What was freed by finalizers of the first time.
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, `${heapUsed + external}`);
  renameSync(`${file}.new`, file);
});
