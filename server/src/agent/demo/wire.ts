// The demo agent's output. Guarantees: one JSON object a line, LF only, in the order of the calls; nothing after `close`. Must
// not know: what the records mean.
import type { Writable } from 'node:stream';
import type { AgentRecord } from '../../protocol/records.ts';

/** A command as it was read, with whatever id the sender chose. */
export interface Command {
  id?: unknown;
  type: string;
  [key: string]: unknown;
}

export interface Wire {
  send(record: AgentRecord): void;
  /** The answer to a command; `data` undefined where the command answers nothing. */
  done(command: Command, data?: unknown): void;
  refuse(command: Command, error: string): void;
  close(): void;
}

/** Records as lines on `output` (protocol reference, "Framing" and "Responses"). */
export function createWire(output: Writable): Wire {
  let closed = false;
  const send = (record: AgentRecord) => {
    if (!closed) output.write(`${JSON.stringify(record)}\n`);
  };
  const response = ({ id, type }: Command, rest: object) =>
    send({ ...(id !== undefined && { id }), type: 'response', command: type, ...rest });
  return {
    send,
    done: (command, data) => response(command, { success: true, ...(data !== undefined && { data }) }),
    refuse: (command, error) => response(command, { success: false, error }),
    close() {
      closed = true;
    },
  };
}
