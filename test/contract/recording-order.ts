// The order in which the product says what a recording says. Guarantees: the agent's lines keep their order. Must not know: what is
// done with the lines.
import { commandRow } from '../../server/src/protocol/commands.ts';
import type { AgentRecord } from '../../server/src/protocol/records.ts';

/** A line of a recording (test/traces/README.md). */
export interface Line {
  t: number;
  dir: 'in' | 'out';
  line: string;
  note?: string;
}

/** The record in a line; undefined when it is none. */
export const parsed = (line: string): AgentRecord | undefined => {
  try {
    const value = JSON.parse(line) as AgentRecord | null;
    return typeof value?.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The product sends a command that changes the session after the answer to the one before; the recording, whose client did not
 * wait, waits for it there.
 */
export function inSeries(lines: Line[]): Line[] {
  const answers = new Map<string, number>();
  for (const [at, { dir, line }] of lines.entries()) {
    const record = dir === 'out' ? parsed(line) : undefined;
    if (record?.type === 'response' && record.id !== undefined) answers.set(String(record.id), at);
  }
  const serial = (record: AgentRecord | undefined) =>
    record?.id !== undefined &&
    commandRow(record.type)?.lane === 'serial' &&
    !String(record.message ?? '').startsWith('/');
  const answeredAt = (id: string) => answers.get(id) ?? Number.POSITIVE_INFINITY;
  const held: Line[] = [];
  const result: Line[] = [];
  let pending: string | undefined;
  for (const entry of lines) {
    const record = entry.note ? undefined : parsed(entry.line);
    const id = String(record?.id);
    if (entry.dir === 'in' && serial(record)) {
      // Where a concurrent agent answers the later one first, the player has the order.
      if (pending !== undefined && answeredAt(id) > answeredAt(pending)) {
        held.push(entry);
        continue;
      }
      if (answers.has(id)) pending ??= id;
    }
    result.push(entry);
    if (entry.dir === 'out' && record?.type === 'response' && id === pending) {
      const next = held.shift();
      pending = next && String(parsed(next.line)?.id);
      // The player sorts by time.
      if (next) result.push({ ...next, t: entry.t });
    }
  }
  return [...result, ...held];
}

/** The product does not send again what the agent said that it does not know. */
export function askedOnce(lines: Line[]): Line[] {
  const unknown = new Set<string>();
  const dropped = new Set<string>();
  return lines.filter(({ dir, line, note }) => {
    const record = note ? undefined : parsed(line);
    if (!record || record.id === undefined) return true;
    const id = String(record.id);
    if (dir === 'in' && unknown.has(record.type)) dropped.add(id);
    if (record.type === 'response' && /^Unknown command/.test(String(record.error)))
      unknown.add(String(record.command));
    return !dropped.has(id);
  });
}
