// What a file would be without the agent: its original with what others changed since. Guarantees: outside of lines that both
// changed, the agent's changes are exactly taken out and the others' exactly kept; lines of both are named. Must not know: files.
import { linesOf, type Span, spansBetween } from './line-diff.ts';

export interface WithoutAgent {
  /** The text without the agent's changes. */
  base: string;
  /** Lines of the current text that the agent and then somebody else changed, `[start, end)` from 0. */
  mixed: [start: number, end: number][];
}

/**
 * `original` is the text before the agent, `written` the one that it left, `current` what is there now. Lines that both
 * changed are as in `original`, or with `keepMixed` as in `current`.
 */
export function withoutAgent(
  original: string,
  written: string,
  current: string,
  { keepMixed = false } = {},
): WithoutAgent {
  if (written === current) return { base: original, mixed: [] };
  if (original === written) return { base: current, mixed: [] };
  const from = { original: linesOf(original), current: linesOf(current) };
  const lines = linesOf(written);
  const agent = spansBetween(lines, from.original);
  const others = spansBetween(lines, from.current);
  const base: string[] = [];
  const mixed: WithoutAgent['mixed'] = [];
  let at = 0;
  while (agent.length > 0 || others.length > 0) {
    const { start, end, ours, theirs } = nextCluster(agent, others);
    base.push(...lines.slice(at, start));
    at = end;
    if (ours.length === 0) base.push(...replaced(lines, from.current, theirs, start, end));
    else if (theirs.length === 0) base.push(...replaced(lines, from.original, ours, start, end));
    else {
      const side = keepMixed ? ([from.current, theirs] as const) : ([from.original, ours] as const);
      base.push(...replaced(lines, ...side, start, end));
      const first = theirs[0]!;
      const last = theirs.at(-1)!;
      mixed.push([first.bStart - (first.aStart - start), last.bEnd + (end - last.aEnd)]);
    }
  }
  base.push(...lines.slice(at));
  return { base: base.join(''), mixed };
}

/** Takes the first spans of both lists that touch each other, directly or through others. */
function nextCluster(agent: Span[], others: Span[]) {
  const ours: Span[] = [];
  const theirs: Span[] = [];
  const start = Math.min(agent[0]?.aStart ?? Infinity, others[0]?.aStart ?? Infinity);
  let end = start;
  for (;;) {
    const list = [agent, others].find((it) => it[0] && it[0].aStart <= end);
    if (!list) return { start, end, ours, theirs };
    const span = list.shift()!;
    (list === agent ? ours : theirs).push(span);
    end = Math.max(end, span.aEnd);
  }
}

/** `lines[start, end)` with the spans replaced by what the other text has there. */
function replaced(
  lines: readonly string[],
  other: readonly string[],
  spans: readonly Span[],
  start: number,
  end: number,
): string[] {
  const result: string[] = [];
  let at = start;
  for (const { aStart, aEnd, bStart, bEnd } of spans) {
    result.push(...lines.slice(at, aStart), ...other.slice(bStart, bEnd));
    at = aEnd;
  }
  return [...result, ...lines.slice(at, end)];
}
