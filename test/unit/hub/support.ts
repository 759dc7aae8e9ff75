// What tests of the hub share. Guarantees that folders are gone after the tests of a file. Must not know what is tested.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** Fresh folders, by their real paths, removed after the last test of the file. */
export function testFolders(): { make(name: string): string } {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hub-')));
  let count = 0;
  afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
  return {
    make(name) {
      count += 1;
      const folder = path.join(root, String(count), name);
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
  };
}
