// Calls to the agent and their answers. Guarantees: every call is settled once (answer, refusal included, or the end of the
// agent); answers are matched by id, and by command where an agent leaves the id out. Must not know: processes, what a
// command means.
import type { AtomicError } from '../protocol/errors.ts';
import type { Call, ResponseRecord } from '../protocol/records.ts';

export interface Calls {
  call(call: Call): Promise<ResponseRecord>;
  /** An answer of the agent; the call that it was matched to, undefined when nobody waits for it. */
  answered(response: ResponseRecord): Call | undefined;
  /** Fails everything that waits, and every later call. */
  end(error: AtomicError): void;
}

interface Waiting {
  call: Call;
  size: number;
  resolve(response: ResponseRecord): void;
  reject(error: AtomicError): void;
}

/** `write` takes a line with its LF. A call's own `id`, if it is a string that is not in use, becomes the id of the line. */
export function createCalls(write: (line: string) => void): Calls {
  const waiting = new Map<string, Waiting>();
  let counter = 0;
  let over: AtomicError | undefined;

  const freshId = (): string => {
    do counter += 1;
    while (waiting.has(`call-${counter}`));
    return `call-${counter}`;
  };

  const idOf = (response: ResponseRecord): string | undefined => {
    if (response.id !== undefined && response.id !== null)
      return typeof response.id === 'string' && waiting.has(response.id) ? response.id : undefined;
    // Protocol reference, section 2: only refusals come without an id.
    const command = response.command;
    const sameCommand = [...waiting].find(([, entry]) => entry.call.type === command);
    if (sameCommand) return sameCommand[0];
    if (response.success || (command !== 'parse' && command !== undefined && command !== 'unknown'))
      return undefined;
    // A line that the agent could not parse: ours are always JSON, so it was too long for it, or the only one there is.
    const entries = [...waiting];
    if (entries.length === 1) return entries[0]![0];
    const largest = entries.reduce<[string, Waiting] | undefined>(
      (best, entry) => (!best || entry[1].size > best[1].size ? entry : best),
      undefined,
    );
    return largest && largest[1].size > 1_000_000 ? largest[0] : undefined;
  };

  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        if (over) {
          reject(over);
          return;
        }
        const id =
          typeof call.id === 'string' && call.id !== '' && !waiting.has(call.id) ? call.id : freshId();
        // A lone surrogate is escaped by stringify, so that the line is always good UTF-8.
        const line = `${JSON.stringify({ ...call, id })}\n`;
        waiting.set(id, { call, size: line.length, resolve, reject });
        write(line);
      }),
    answered(response) {
      const id = idOf(response);
      const entry = id === undefined ? undefined : waiting.get(id);
      if (id === undefined || !entry) return undefined;
      waiting.delete(id);
      entry.resolve(response);
      return entry.call;
    },
    end(error) {
      over = error;
      const left = [...waiting.values()];
      waiting.clear();
      for (const entry of left) entry.reject(error);
    },
  };
}
