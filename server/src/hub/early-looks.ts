// What files were while a tool call that names them was on its way. An agent does not wait for us, and has often written when
// we hear that it begins. Guarantees: looks as early as the path can be read in the call; also when the agent reads a file, as
// it may write it next; memory is bounded. Must not know: what becomes of a look.
import type { Fact } from '../protocol/facts.ts';
import { onlyReads, pathBegun, writtenPath } from '../session/files.ts';
import { type Look, sameContent } from './originals.ts';

export interface EarlyLooks {
  take(fact: Fact): void;
  /** What was seen of the file before this call began, the newest first. It is forgotten. */
  before(call: string, key: string): Look[];
  /** The agent has written the file: what was there before says nothing more. */
  written(key: string): void;
  /** No call is on its way. */
  clear(): void;
}

interface Coming {
  /** Raw JSON of the arguments so far; undefined: nothing more is to be read in it. */
  json: string | undefined;
  seen?: { key: string; look: Look };
}

const most = {
  /** Announced calls. */
  calls: 16,
  /** Files that the agent has read. */
  reads: 64,
  /** Bytes of those. */
  bytes: 20_000_000,
  /** UTF-16 units of arguments in which a path is looked for. */
  units: 10_000,
};

export function createEarlyLooks(look: (key: string) => Look, keyOf: (named: string) => string): EarlyLooks {
  const coming = new Map<number, Coming>();
  const calls = new Map<string, { key: string; looks: Look[] }>();
  const reads = new Map<string, Look>();

  const read = (key: string) => {
    reads.delete(key);
    const seen = look(key);
    if (!seen.bytes) return;
    reads.set(key, seen);
    let bytes = [...reads.values()].reduce((sum, it) => sum + it.bytes!.length, 0);
    for (const [oldest, it] of reads) {
      if (bytes <= most.bytes && reads.size <= most.reads) return;
      reads.delete(oldest);
      bytes -= it.bytes!.length;
    }
  };
  const delta = (call: Coming | undefined, text: string) => {
    if (call?.json === undefined) return;
    call.json += text;
    const named = pathBegun(call.json);
    if (named !== undefined) {
      const key = keyOf(named);
      call.seen = { key, look: look(key) };
    }
    if (named !== undefined || call.json.length > most.units) call.json = undefined;
  };

  return {
    take(fact) {
      if (fact.type === 'message_start') coming.clear();
      if (fact.type === 'tool_execution_start') {
        const path = fact.args?.path;
        if (fact.toolName === 'read' && typeof path === 'string' && path !== '') read(keyOf(path));
      }
      if (fact.type !== 'message_update') return;
      const event = fact.assistantMessageEvent;
      switch (event.type) {
        case 'toolcall_start': {
          const reading = event.toolName !== undefined && onlyReads(event.toolName);
          coming.set(event.contentIndex, { json: reading || coming.size >= most.calls ? undefined : '' });
          return;
        }
        case 'toolcall_delta':
          return delta(coming.get(event.contentIndex), event.delta);
        case 'toolcall_end': {
          const { id, name, arguments: args } = event.toolCall;
          const seen = coming.get(event.contentIndex)?.seen;
          coming.delete(event.contentIndex);
          const named = writtenPath(name, args);
          if (named === undefined || typeof id !== 'string' || calls.size >= most.calls) return;
          const key = keyOf(named);
          const now = look(key);
          const earlier = seen?.key === key && !sameContent(seen.look.content, now.content);
          calls.set(id, { key, looks: earlier ? [now, seen.look] : [now] });
        }
      }
    },
    before(call, key) {
      const announced = calls.get(call);
      calls.delete(call);
      const when = reads.get(key);
      return [...(announced?.key === key ? announced.looks : []), ...(when ? [when] : [])];
    },
    written(key) {
      reads.delete(key);
      for (const call of calls.values()) if (call.key === key) call.looks = [];
      for (const call of coming.values()) if (call.seen?.key === key) delete call.seen;
    },
    clear() {
      coming.clear();
      calls.clear();
    },
  };
}
