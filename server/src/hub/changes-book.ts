// Which files the agent wrote in a session: for each what it was before and what it left, kept on disk. Guarantees: the next hub
// knows what this one knew, after a crash, too; a damaged file costs the list and nothing else. Must not know: the agent's facts.
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { Log } from '../session/ports.ts';
import { makeFolder, realPath } from './folders.ts';
import type { Content, Originals } from './originals.ts';

export interface Written {
  /** As it was first named, absolute. */
  path: string;
  /** Before the agent, with what others changed until the agent's last call. */
  original: Content;
  /** As the agent's last call left it. */
  written: Content;
  /** A call that writes it goes on, and this was there before: when nobody sees its end, what is there then is its work. */
  open?: Content | undefined;
}

export interface Book {
  /** By {@link keyOf}. */
  readonly files: Map<string, Written>;
  /** Writes it, and removes contents that no file needs. Never throws. */
  save(): void;
}

/** How many files are kept track of. */
export const mostFiles = 5000;

const content = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('absent') }),
  z.object({ kind: z.literal('bytes'), hash: z.string(), mode: z.number() }),
  z.object({ kind: z.literal('unkept'), why: z.string() }),
]);
const shape = z.array(
  z.tuple([
    z.string(),
    z.object({ path: z.string(), original: content, written: content, open: content.optional() }),
  ]),
);

export function openBook(folder: string, originals: Originals, log: Log): Book {
  const file = path.join(folder, 'originals', 'index.json');
  const files = new Map<string, Written>();
  try {
    if (fs.existsSync(file))
      for (const [key, entry] of shape.parse(JSON.parse(fs.readFileSync(file, 'utf8'))))
        files.set(key, entry);
  } catch (error) {
    log.warn({ error, file }, 'the list of files that the agent changed is damaged; a new one begins');
  }
  return {
    files,
    save() {
      const fresh = `${file}.${process.pid}.new`;
      try {
        makeFolder(path.dirname(file));
        fs.writeFileSync(fresh, JSON.stringify([...files]), { mode: 0o600 });
        fs.renameSync(fresh, file);
        // Only now: what the file on disk names has to be there.
        originals.sweep(
          [...files.values()].flatMap(({ original, written, open }) => [
            original,
            written,
            ...(open ? [open] : []),
          ]),
        );
      } catch (error) {
        log.warn({ error, file }, 'the list of files that the agent changed could not be written');
      }
    },
  };
}

/** The same for a link and its target; the file may not be there. */
export const keyOf = realPath;
