// Which file a tool call writes, and what the call itself says about the text before it. Guarantees: reading tools and failed
// calls touch none; a text is only reconstructed where the call leaves no doubt. Must not know: the disk.
import { applyPatch, parsePatch, reversePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';
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

/** Whether the call tells of places in the text that it changes, and leaves the rest. */
export const hasEdits = (args: Args): boolean => editsOf(args, '').length > 0;

/** Whether a call can have been made with this text before it, as far as it tells where it changes what. */
export function fits(args: Args, result: ToolResult | undefined, before: string): boolean {
  const patch = toldPatch(result);
  if (patch) return stands(patch, '-', before);
  return hasEdits(args) && foundOnce(editsOf(args, before), before);
}

/** Whether `after` is what a call with these arguments makes of `before`. */
export function isResult(args: Args, before: string | undefined, after: string): boolean {
  if (typeof args.content === 'string') return args.content === after;
  return before !== undefined && before === undone(args, undefined, after);
}

/** The text before a call that left `after`, as far as the call tells; undefined when it does not, or left no such text. */
export function undone(args: Args, result: ToolResult | undefined, after: string): string | undefined {
  const edits = editsOf(args, after);
  const patch = toldPatch(result);
  const before = patch && unpatched(patch, after);
  if (before !== undefined && (stands(patch!, '+', after) || (edits.length > 0 && foundOnce(edits, before))))
    return before;
  if (edits.length === 0) return undefined;
  let text = after;
  for (const { oldText, newText } of edits.reverse()) {
    const at = newText === '' ? -1 : text.indexOf(newText);
    if (at < 0 || text.indexOf(newText, at + 1) >= 0) return undefined;
    text = text.slice(0, at) + oldText + text.slice(at + newText.length);
  }
  return foundOnce(edits, text) ? text : undefined;
}

/** An edit is made where its text is found once, so that it is found once again when it is taken back. */
const foundOnce = (edits: readonly { oldText: string }[], text: string): boolean =>
  edits.every(({ oldText }) => oldText !== '' && text.split(oldText).length === 2);

/** What the result of a call tells of its change, with places: a patch, or what agents without one show to people. */
function toldPatch(result: ToolResult | undefined): StructuredPatch | undefined {
  const { patch, diff } = (result?.details ?? {}) as { patch?: unknown; diff?: unknown };
  try {
    const patches = typeof patch === 'string' ? parsePatch(patch) : [];
    if (patches.length === 1 && patches[0]!.hunks.length > 0) return patches[0];
  } catch {
    // Not the format that its name promises.
  }
  return typeof diff === 'string' ? numberedPatch(diff) : undefined;
}

/** Lines with a sign and a number: the new one of an added line, else the old one; dots stand for lines left out. */
function numberedPatch(diff: string): StructuredPatch | undefined {
  const hunks: StructuredPatchHunk[] = [];
  let grown = 0;
  let hunk: StructuredPatchHunk | undefined;
  for (const line of diff.split('\n')) {
    const [, sign, digits, text] = /^([+\- ]) *(\d+) (.*)$/s.exec(line) ?? [];
    if (sign === undefined) {
      if (!/^ +\.\.\.$/.test(line)) return undefined;
      hunk = undefined;
      continue;
    }
    if (!hunk) {
      const oldStart = Number(digits) - (sign === '+' ? grown : 0);
      hunk = { oldStart, newStart: oldStart + grown, oldLines: 0, newLines: 0, lines: [] };
      hunks.push(hunk);
    }
    hunk.lines.push(sign + text);
    if (sign !== '+') hunk.oldLines += 1;
    if (sign !== '-') hunk.newLines += 1;
    grown += sign === '+' ? 1 : sign === '-' ? -1 : 0;
  }
  const changed = hunks.filter(({ lines }) => lines.some((line) => !line.startsWith(' ')));
  if (changed.length === 0) return undefined;
  return { oldFileName: '', newFileName: '', oldHeader: '', newHeader: '', hunks: changed };
}

function unpatched(patch: StructuredPatch, after: string): string | undefined {
  // What stands as before the patch does not have it, though it may have lines like it elsewhere.
  if (!stands(patch, '+', after) && stands(patch, '-', after)) return undefined;
  const before = applyPatch(after, reversePatch(patch), { autoConvertLineEndings: true });
  return before === false ? undefined : before;
}

/** Whether the text has the lines that the patch leaves (`+`) or replaces (`-`), each at its place. */
function stands({ hunks }: StructuredPatch, side: '+' | '-', text: string): boolean {
  const lines = text.split(/\r?\n/);
  return hunks.every(({ newStart, oldStart, lines: told }) => {
    const start = (side === '+' ? newStart : oldStart) - 1;
    const wanted = told.filter((line) => line[0] === ' ' || line[0] === side);
    return wanted.every((line, index) => line.slice(1).replace(/\r$/, '') === lines[start + index]);
  });
}

/** `oldText`, `newText` or `edits`, in the forms that agents take, with the line ends of the text. */
function editsOf(args: Args, text: string): { oldText: string; newText: string }[] {
  const list = Array.isArray(args.edits) ? args.edits : [args.edits];
  const edits = [...list, args].filter(
    (it) => typeof it?.oldText === 'string' && typeof it.newText === 'string',
  ) as { oldText: string; newText: string }[];
  const ends = /\r\n/.test(text) && !/(?<!\r)\n/.test(text) ? '\r\n' : undefined;
  const ended = (part: string) => (ends ? part.replace(/\r?\n/g, ends) : part);
  return edits.map(({ oldText, newText }) => ({ oldText: ended(oldText), newText: ended(newText) }));
}
