// Tool output in canonical form. Guarantees: cumulative output becomes what was added, also where the agent shows only the last
// part of it; work grows with the bytes that came in, what is told grows with the output. Must not know: other events.
import type { AgentFact } from '../protocol/facts.ts';
import type { AgentRecord, ToolResult } from '../protocol/records.ts';
import { isObject, shapedMessage, worded } from './shape.ts';

export interface Tools {
  start(record: AgentRecord): AgentFact;
  /** What was added; undefined when nothing was. */
  update(record: AgentRecord): AgentFact | undefined;
  end(record: AgentRecord): AgentFact;
  /** Forgets what ran: the run is over. */
  clear(): void;
}

/** Translates `tool_execution_*` of every dialect (protocol reference 4.4). */
export function createTools(): Tools {
  const shown = new Map<string, string>();
  const idOf = (record: AgentRecord) => worded(record.toolCallId);
  return {
    start(record) {
      shown.set(idOf(record), '');
      return {
        type: 'tool_execution_start',
        toolCallId: idOf(record),
        toolName: worded(record.toolName),
        args: (isObject(record.args) ? record.args : {}) as Record<string, unknown>,
      };
    },
    update(record) {
      const id = idOf(record);
      const next = textOf(record.partialResult);
      const added = whatWasAdded(shown.get(id) ?? '', next);
      shown.set(id, next);
      return added.delta === '' && !added.reset
        ? undefined
        : { type: 'tool_execution_update', toolCallId: id, ...added };
    },
    end(record) {
      shown.delete(idOf(record));
      const result = shapedResult(record.result);
      return {
        type: 'tool_execution_end',
        toolCallId: idOf(record),
        toolName: worded(record.toolName),
        result,
        isError: record.isError === true || failed(result),
        ...(typeof record.durationMs === 'number' && { durationMs: record.durationMs }),
      };
    },
    clear: () => shown.clear(),
  };
}

/** Units of the newer text that are looked for in the older one, and how many places are tried. */
const probe = { length: 64, tries: 16 };

/**
 * What turns the text shown before into the next one: an addition, an addition to a window that moved on (the agent keeps
 * only the last lines), or a new beginning.
 */
export function whatWasAdded(before: string, next: string): { delta: string; reset?: true } {
  if (next.startsWith(before)) return { delta: next.slice(before.length) };
  if (next === '') return { delta: '', reset: true };
  // A window that moved: its beginning is somewhere in the older text, and from there on both are the same.
  const beginning = next.slice(0, probe.length);
  let at = before.indexOf(beginning);
  for (let tries = 0; at >= 0 && tries < probe.tries; tries++) {
    const overlap = before.length - at;
    if (overlap <= next.length && before.endsWith(next.slice(0, overlap)))
      return { delta: next.slice(overlap) };
    at = before.indexOf(beginning, at + 1);
  }
  return { delta: next, reset: true };
}

/** A result whose content are blocks. */
function shapedResult(value: unknown): ToolResult {
  if (!isObject(value)) return {} as ToolResult;
  const { content } = shapedMessage({ role: 'toolResult', content: value.content ?? [] });
  return (content === value.content ? value : { ...value, content }) as unknown as ToolResult;
}

/** Failure is said in three ways, depending on dialect and tool. */
function failed(result: ToolResult): boolean {
  if (result.isError === true) return true;
  const codes = [
    (result.details as { exitCode?: unknown } | undefined)?.exitCode,
    (result.structuredContent as { exit_code?: unknown } | undefined)?.exit_code,
  ];
  return codes.some((code) => typeof code === 'number' && code !== 0);
}

function textOf(result: unknown): string {
  const content = isObject(result) ? result.content : undefined;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
    .join('\n');
}
