// Recordings of test/traces as agents for tests. Guarantees: an agent choice that plays the recording as a process. Must not know:
// what is in a recording.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ReplayOptions {
  /**
   * Who will talk to it. `recorded` (default): a client that sends exactly the recorded lines, garbage and reads too; each is a
   * barrier. `bridge`: a client with a mind of its own; it reads when it likes and is answered from the recording, it must send
   * the recorded acting commands and first answers in the recorded order, and recorded signals strike by themselves.
   */
  client?: 'recorded' | 'bridge';
  /** The agent writes this many bytes at a time. */
  chunk?: number;
  /** Times faster than recorded; absent or 0: without any delay. */
  speed?: number;
  /** The full lines of `big-5mb-…` instead of their abridged form. */
  full?: boolean;
}

const folder = fileURLToPath(new URL('../traces/', import.meta.url));
const player = fileURLToPath(new URL('../agents/replay.mjs', import.meta.url));

/** Names of all recordings, `pi-1.6.0/tool-bash`, or of one agent's. */
export const traceFiles = (agent?: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && (agent === undefined || entry.name === agent))
    .flatMap(({ name }) =>
      readdirSync(join(folder, name))
        .filter((file) => file.endsWith('.jsonl'))
        .map((file) => `${name}/${file.slice(0, -'.jsonl'.length)}`),
    )
    .sort();

/** The file of a recording. Throws where there is no such recording. */
export function tracePath(trace: string, full = false): string {
  const path = `${join(folder, trace)}.jsonl${full ? '.gz' : ''}`;
  if (!existsSync(path)) throw new Error(`there is no recording ${trace}${full ? ' with full lines' : ''}`);
  return path;
}

/** An agent choice that plays the recording. */
export function replayAgent(
  trace: string,
  { full, ...options }: ReplayOptions = {},
): { command: string; args: string[]; env: Record<string, string> } {
  return {
    command: process.execPath,
    args: [player, tracePath(trace, full), JSON.stringify(options)],
    env: {},
  };
}
