// Contents of files that the hub keeps, in `originals/` of a session's folder. Guarantees: for the user alone; byte for byte,
// whatever is in a file; bounded for each file and in all; what is remembered after a crash was whole. Must not know: why
// a content is kept.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { makeFolder } from './folders.ts';

/** What was at a path: nothing, bytes that are kept, or something that is not kept, and why. */
export type Content =
  | { kind: 'absent' }
  | { kind: 'bytes'; hash: string; mode: number }
  | { kind: 'unkept'; why: string };

export interface OriginalsLimits {
  /** Bytes of one file. */
  file: number;
  /** Bytes of all contents. */
  total: number;
}
export const originalsLimits: OriginalsLimits = { file: 5_000_000, total: 200_000_000 };

/** What was seen at a path. */
export interface Look {
  content: Content;
  bytes?: Buffer | undefined;
  /** Milliseconds since it was written; absent where that is not known. */
  age?: number | undefined;
}

export interface Originals {
  /** What is at the path now. Never throws. */
  look(file: string): Look;
  /** Keeps bytes that {@link look} gave; the content that stands for them, which may be `unkept`. Never throws. */
  keep(content: Content, bytes: Buffer | undefined): Content;
  /** Content for bytes that were not found at a path, with the mode of another. */
  made(bytes: Buffer, like: Content): Content;
  /** The bytes of a kept content; undefined when they are gone. */
  bytes(content: Content): Buffer | undefined;
  /** Removes what none of these contents needs. */
  sweep(needed: Iterable<Content>): void;
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export function createOriginals(folder: string, limits = originalsLimits): Originals {
  const place = path.join(folder, 'originals');
  const sizes = new Map<string, number>();
  try {
    for (const name of fs.readdirSync(place))
      if (/^[0-9a-f]{64}$/.test(name)) sizes.set(name, fs.statSync(path.join(place, name)).size);
  } catch {
    // Not there yet.
  }
  const total = () => [...sizes.values()].reduce((sum, size) => sum + size, 0);

  return {
    look(file) {
      try {
        const stat = fs.statSync(file, { throwIfNoEntry: false });
        if (!stat) return { content: { kind: 'absent' } };
        // Reading a pipe or a device would wait, or do something.
        if (!stat.isFile()) return { content: { kind: 'unkept', why: 'it is no regular file' } };
        if (stat.size > limits.file)
          return { content: { kind: 'unkept', why: `it is larger than ${limits.file / 1_000_000} MB` } };
        const bytes = fs.readFileSync(file);
        const age = Date.now() - fs.statSync(file).mtimeMs;
        return { content: { kind: 'bytes', hash: hashOf(bytes), mode: stat.mode & 0o777 }, bytes, age };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOTDIR') return { content: { kind: 'absent' } };
        return { content: { kind: 'unkept', why: `it cannot be read (${code})` } };
      }
    },
    keep(content, bytes) {
      if (content.kind !== 'bytes' || !bytes || sizes.has(content.hash)) return content;
      if (total() + bytes.length > limits.total)
        return {
          kind: 'unkept',
          why: `more than ${limits.total / 1_000_000} MB are kept already; atomic.acceptChanges makes room`,
        };
      const fresh = path.join(place, `${process.pid}.new`);
      try {
        makeFolder(place);
        fs.writeFileSync(fresh, bytes, { mode: 0o600 });
        fs.renameSync(fresh, path.join(place, content.hash));
        sizes.set(content.hash, bytes.length);
        return content;
      } catch (error) {
        fs.rmSync(fresh, { force: true });
        return { kind: 'unkept', why: `a copy could not be written (${(error as Error).message})` };
      }
    },
    made: (bytes, like) => ({
      kind: 'bytes',
      hash: hashOf(bytes),
      mode: like.kind === 'bytes' ? like.mode : 0o644,
    }),
    bytes(content) {
      if (content.kind !== 'bytes') return undefined;
      try {
        const bytes = fs.readFileSync(path.join(place, content.hash));
        return hashOf(bytes) === content.hash ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    sweep(needed) {
      const hashes = new Set(
        [...needed].flatMap((content) => (content.kind === 'bytes' ? [content.hash] : [])),
      );
      for (const hash of [...sizes.keys()]) {
        if (hashes.has(hash)) continue;
        sizes.delete(hash);
        fs.rmSync(path.join(place, hash), { force: true });
      }
    },
  };
}

/** Whether two contents are the same bytes, or both nothing. */
export const sameContent = (a: Content, b: Content): boolean =>
  a.kind === 'bytes' ? b.kind === 'bytes' && a.hash === b.hash : a.kind === 'absent' && b.kind === 'absent';
