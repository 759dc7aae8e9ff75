// Which file a tool call wrote. Guarantees: reading tools and failed calls touch none. Must not know: the disk.
import type { Fact } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';

/** Tools whose `path` is only looked at. */
const reading = new Set(['read', 'grep', 'find', 'ls']);

/** The `file_touched` fact that follows from `fact`, before `fact` is folded into `snapshot`. */
export function touchedFile(snapshot: Snapshot, fact: Fact): Fact | undefined {
  if (fact.type !== 'tool_execution_end' || fact.isError || reading.has(fact.toolName)) return undefined;
  const path = snapshot.tools[fact.toolCallId]?.args.path;
  if (typeof path !== 'string' || path === '') return undefined;
  return { type: 'file_touched', path, toolName: fact.toolName, toolCallId: fact.toolCallId };
}
