// Which file a tool call writes, and what the call itself says about the text before it. Guarantees: reading tools and failed
// calls touch none; a text is only reconstructed where the call leaves no doubt. Must not know: the disk.
import { applyPatch, parsePatch, reversePatch } from 'diff';
import type { Fact } from '../protocol/facts.ts';
import type { ToolResult } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';

/** Tools whose `path` is only looked at. */
const reading = new Set(['read', 'grep', 'find', 'ls']);

type Args = Record<string, unknown>;

/** Whether a tool changes nothing. */
export const onlyReads = (toolName: string): boolean => reading.has(toolName);

/** The path of the file that a tool call writes, as the call names it; undefined when it names none. */
export function writtenPath(toolName: string, args: Args | undefined): string | undefined {
  const path = args?.path;
  return reading.has(toolName) || typeof path !== 'string' || path === '' ? undefined : path;
}

/** The path that a call names, in the beginning of its arguments as raw JSON; undefined while there is none. */
export function pathBegun(json: string): string | undefined {
  // A quote inside of a text has a backslash before it, so that these are a key and its value.
  const [, raw] = /[{,]\s*"path"\s*:\s*("(?:[^"\\]|\\.)+")/s.exec(json) ?? [];
  try {
    return raw === undefined ? undefined : (JSON.parse(raw) as string);
  } catch {
    return undefined;
  }
}

/** The `file_touched` fact that follows from `fact`, before `fact` is folded into `snapshot`. */
export function touchedFile(snapshot: Snapshot, fact: Fact): Fact | undefined {
  if (fact.type !== 'tool_execution_end' || fact.isError) return undefined;
  const path = writtenPath(fact.toolName, snapshot.tools[fact.toolCallId]?.args);
  if (path === undefined) return undefined;
  return { type: 'file_touched', path, toolName: fact.toolName, toolCallId: fact.toolCallId };
}

/** Whether `after` is what a call with these arguments makes of `before`. */
export function isResult(args: Args, before: string | undefined, after: string): boolean {
  if (typeof args.content === 'string') return args.content === after;
  return before !== undefined && before === undone(args, undefined, after);
}

/** The text before a call that left `after`, as far as the call tells; undefined when it does not. */
export function undone(args: Args, result: ToolResult | undefined, after: string): string | undefined {
  const details = result?.details as { patch?: unknown } | undefined;
  if (typeof details?.patch === 'string') {
    const before = unpatched(details.patch, after);
    if (before !== undefined) return before;
  }
  const edits = editsOf(args);
  if (edits.length === 0) return undefined;
  let text = after;
  for (const { oldText, newText } of edits.reverse()) {
    const at = newText === '' ? -1 : text.indexOf(newText);
    if (at < 0 || text.indexOf(newText, at + 1) >= 0) return undefined;
    text = text.slice(0, at) + oldText + text.slice(at + newText.length);
  }
  return text;
}

function unpatched(patch: string, after: string): string | undefined {
  try {
    const [only, ...more] = parsePatch(patch);
    if (!only || only.hunks.length === 0 || more.length > 0) return undefined;
    const before = applyPatch(after, reversePatch(only), { autoConvertLineEndings: true });
    return before === false ? undefined : before;
  } catch {
    return undefined;
  }
}

/** `oldText`, `newText` or `edits`, in the forms that agents take. */
function editsOf(args: Args): { oldText: string; newText: string }[] {
  const list = Array.isArray(args.edits) ? args.edits : [args.edits];
  return [...list, args].filter(
    (it) => typeof it?.oldText === 'string' && typeof it.newText === 'string',
  ) as { oldText: string; newText: string }[];
}
