// A folder with files for tests of prompts. Guarantees that it is gone after each test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import type { OpenDocument, Place } from '../../../server/src/prompt/places.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes the files, by path; returns the folder. */
export function folderWith(files: Record<string, string | Buffer> = {}): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'Wörk Space-')));
  made.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(file, content);
    else mkdirSync(file, { recursive: true });
  }
  return folder;
}

export const placeOf = (folders: readonly string[], documents: readonly OpenDocument[] = []): Place => ({
  folders,
  documents: () => documents,
});

/** The beginning of a PNG of this size. */
export function png(width = 3, height = 2, bytes = 64): Buffer {
  const image = Buffer.alloc(Math.max(bytes, 33));
  image.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image;
}
