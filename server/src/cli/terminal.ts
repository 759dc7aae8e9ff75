// What every terminal verb is given. Guarantees: definitions and two small writers. Must not know: any verb.
import type { Writable } from 'node:stream';
import type { Demo } from '../agent/find.ts';
import type { HubClient } from '../hub/client.ts';
import type { Clock } from '../session/ports.ts';
import type { Places } from './places.ts';

/** A terminal, or pipes in its place. */
export interface Terminal {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  error: NodeJS.WriteStream;
  /** The current folder. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  clock: Clock;
  places: Places;
  /** How the built-in demo agent is run. */
  demo: Demo;
  /** The words that a process of the hub was started with, to know it by. */
  hubWords: readonly string[];
  /**
   * Connects to the hub: one that runs, one that is started if need be, or one inside this process. Rejects with
   * `HubUnreachable`, `SocketRefused`, `VersionSkew`.
   */
  open(hub: 'running' | 'started' | 'private'): Promise<Connection>;
  /** Listens to Ctrl-C; returns a function that ends this. */
  onInterrupt(listener: () => void): () => void;
}

export interface Connection {
  client: HubClient;
  /** Closes the connection; with a private hub, resolves when its agents have ended. */
  end(): Promise<void>;
}

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  noAgent: 3,
  interrupted: 130,
  brokenPipe: 141,
} as const;

/** Writes a line to be read by a person. */
export const line = (stream: Writable, text: string): void => void stream.write(`${text}\n`);

/** Writes one JSON value as one line. */
export const jsonLine = (stream: Writable, value: unknown): void => line(stream, JSON.stringify(value));
