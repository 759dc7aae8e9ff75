// Bytes of files as texts whose lines can be compared. Guarantees: a text becomes the same bytes again; what is no text is said to
// be none. Must not know: which files.
import { isUtf8 } from 'node:buffer';

export type Encoding = 'utf8' | 'latin1';

/**
 * The encoding in which all of these are texts: UTF-8, or one in which every byte is a character where they hold other bytes
 * but no zero; undefined: not all are texts.
 */
export function commonEncoding(contents: readonly (Buffer | undefined)[]): Encoding | undefined {
  const all = contents.filter((bytes) => bytes !== undefined);
  if (all.some((bytes) => bytes.includes(0))) return undefined;
  return all.every((bytes) => isUtf8(bytes)) ? 'utf8' : 'latin1';
}

/** The text; empty where there is no file. */
export const textOf = (bytes: Buffer | undefined, encoding: Encoding): string =>
  bytes?.toString(encoding) ?? '';
