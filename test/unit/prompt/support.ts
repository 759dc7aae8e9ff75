// A folder with files for tests of prompts. Guarantees that it is gone after each test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
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

/** A black PNG of this size, with something behind it so that it has so many bytes. */
export function png(width = 3, height = 2, bytes = 0): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, grey.
  head[8] = 8;
  const pixels = deflateSync(Buffer.alloc(height * (width + 1)));
  const image = Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  return Buffer.concat([image, Buffer.alloc(Math.max(0, bytes - image.length))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** PNG specification, appendix D. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
