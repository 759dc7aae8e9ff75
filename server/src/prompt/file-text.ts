// Texts of files beside the texts of documents. Guarantees: one way to read a file as text, so that whoever compares a document with
// its file comes to the same answer; no more of a file is read than is asked for. Must not know: what a prompt refers to.
import { open, stat } from 'node:fs/promises';
import type { OpenDocument } from './places.ts';

/** Bytes of a text file that is read. */
export const textLimit = 16_000_000;

/** A text as prompts have it: `\n` between lines, no byte order mark. */
export const plain = (text: string): string => text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');

/** The first bytes of a file; rejects where it cannot be read. */
export async function bytesOf(file: string, limit: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length < limit; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(limit - length, 1_048_576)));
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}

/** UTF-16 has zeros and says what it is. */
const isWide = (bytes: Buffer): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);

/** Whether a file that begins with these bytes is no text. */
export const isBinary = (head: Buffer): boolean => !isWide(head) && head.subarray(0, 8192).includes(0);

/** The bytes as a plain text: UTF-8, or UTF-16 where a byte order mark says so. */
export const decoded = (bytes: Buffer): string =>
  plain(
    new TextDecoder(isWide(bytes) ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8').decode(bytes),
  );

/** The plain text of a file; undefined where there is none that a document could be compared with. */
export async function textOnDisk(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() && stats.size <= textLimit ? decoded(await bytesOf(file, textLimit)) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the editor's text is another than its file's. */
export const isUnsaved = async ({ file, text }: Pick<OpenDocument, 'file' | 'text'>): Promise<boolean> =>
  file === undefined || (await textOnDisk(file)) !== plain(text);
