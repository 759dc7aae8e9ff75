// The fold of what runs: tool calls and shell commands. Guarantees: pure, shares structure; live output is a tail, finished
// calls are bounded in number and size, a call that runs is never dropped. Must not know: messages, runs, intents.
import type { FactOf } from '../protocol/facts.ts';
import type { ToolResult } from '../protocol/records.ts';
import { liveTail, messageTail, type Snapshot, type ToolRun } from '../protocol/snapshot.ts';
import { sizeOf } from './fold-message.ts';

/** How many tool calls and shell commands a snapshot keeps. */
const runningKept = { tools: 100, bash: 32 };

type Tools = Snapshot['tools'];
type ToolFact = FactOf<'tool_execution_start' | 'tool_execution_update' | 'tool_execution_end'>;

/** The last {@link liveTail} units of a text, not beginning with half a character. The tail of tails is the tail of the whole. */
function tailOf(text: string): string {
  if (text.length <= liveTail) return text;
  let start = text.length - liveTail;
  while (start < text.length && (text.charCodeAt(start) & 0xfc00) === 0xdc00) start += 1;
  return text.slice(start);
}

/** An own entry of a record whose keys come from outside. */
const entry = <T>(record: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** A record without one of its keys; the same record when it has none. */
export function without<T>(record: Record<string, T>, key: string): Record<string, T> {
  if (!Object.hasOwn(record, key)) return record;
  return Object.fromEntries(Object.entries(record).filter(([other]) => other !== key));
}

/** The tool calls after one of their facts. */
export function toolsAfter(tools: Tools, fact: ToolFact): Tools {
  const id = fact.toolCallId;
  const known = entry(tools, id);
  const at = fact.at ?? 0;
  switch (fact.type) {
    case 'tool_execution_start':
      return bounded({
        ...without(tools, id),
        [id]: {
          toolCallId: id,
          toolName: fact.toolName,
          args: fact.args,
          status: 'running',
          output: '',
          startedAt: at,
        },
      });
    case 'tool_execution_update':
      // Without its start nothing is known of the call but a piece of its output; its end will tell all.
      if (!known) return tools;
      return { ...tools, [id]: { ...known, output: tailOf((fact.reset ? '' : known.output) + fact.delta) } };
    case 'tool_execution_end':
      return bounded({
        ...tools,
        [id]: {
          toolCallId: id,
          toolName: fact.toolName || known?.toolName || '',
          args: known?.args ?? {},
          status: fact.isError ? 'failed' : 'done',
          output: known?.output || tailOf(resultText(fact.result)),
          startedAt: known?.startedAt ?? at,
          endedAt: at,
          result: fact.result,
        },
      });
  }
}

/** The tool calls when whatever ran them is over: none runs any more. */
export function toolsCut(tools: Tools, at: number): Tools {
  if (!Object.values(tools).some(({ status }) => status === 'running')) return tools;
  return Object.fromEntries(
    Object.entries(tools).map(([id, tool]): [string, ToolRun] => [
      id,
      tool.status === 'running' ? { ...tool, status: 'failed', endedAt: at } : tool,
    ]),
  );
}

function bounded(tools: Tools): Tools {
  const finished = Object.entries(tools).filter(([, { status }]) => status !== 'running');
  let count = Object.keys(tools).length;
  let units = finished.reduce((sum, [, tool]) => sum + sizeOf(tool), 0);
  const dropped = new Set<string>();
  for (const [id, tool] of finished.slice(0, -1)) {
    if (count <= runningKept.tools && units <= messageTail.units) break;
    dropped.add(id);
    count -= 1;
    units -= sizeOf(tool);
  }
  if (dropped.size === 0) return tools;
  return Object.fromEntries(Object.entries(tools).filter(([id]) => !dropped.has(id)));
}

function resultText(result: ToolResult): string {
  const content: unknown = result?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block) => (typeof block?.text === 'string' ? [block.text as string] : []))
    .join('\n');
}

/** The shell commands after one began (its `command` is known) or put something out (`delta`). */
export function bashAfter(
  bash: Snapshot['bash'],
  id: string,
  { command, delta }: { command?: string | undefined; delta?: string },
): Snapshot['bash'] {
  const known = entry(bash, id);
  const next = {
    ...known,
    id,
    ...(command !== undefined && { command }),
    output: tailOf((known?.output ?? '') + (delta ?? '')),
  };
  const all = { ...bash, [id]: next };
  const [oldest] = Object.keys(all).filter((other) => other !== id);
  return Object.keys(all).length > runningKept.bash ? without(all, oldest!) : all;
}
