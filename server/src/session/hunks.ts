// Differences as a person reads them and takes them back: hunks of a unified diff. Guarantees: taking back all hunks, one by one
// in any order, gives the base; the diff is one that `git apply` and `patch` take. Must not know: where the texts come from.
import type { ChangeHunk } from '../protocol/changes.ts';
import { linesOf, type Span, spansBetween } from './line-diff.ts';
import type { WithoutAgent } from './three-way.ts';

/** Unchanged lines around a change. */
const context = 3;

export interface Difference {
  hunks: ChangeHunk[];
  added: number;
  removed: number;
}

/** What was changed from `base` to `current`; `mixed` are lines of `current` as of {@link WithoutAgent}. */
export function difference(base: string, current: string, mixed: WithoutAgent['mixed'] = []): Difference {
  const a = linesOf(base);
  const b = linesOf(current);
  const spans = spansBetween(a, b);
  const sum = (length: (span: Span) => number) => spans.reduce((total, span) => total + length(span), 0);
  return {
    hunks: grouped(spans).map((group) => hunkOf(a, b, group, mixed)),
    added: sum(({ bStart, bEnd }) => bEnd - bStart),
    removed: sum(({ aStart, aEnd }) => aEnd - aStart),
  };
}

/** `current` with one hunk as it was in `base`. */
export function withoutHunk(
  base: string,
  current: string,
  { oldStart, oldLines, newStart, newLines }: ChangeHunk,
): string {
  const a = linesOf(base);
  const b = linesOf(current);
  const from = oldLines === 0 ? oldStart : oldStart - 1;
  const at = newLines === 0 ? newStart : newStart - 1;
  return [...b.slice(0, at), ...a.slice(from, from + oldLines), ...b.slice(at + newLines)].join('');
}

/** A unified diff of one file. A name is undefined where there is no file; others are as they should be shown. */
export function unified(
  oldName: string | undefined,
  newName: string | undefined,
  hunks: readonly ChangeHunk[],
): string {
  if (hunks.length === 0) return '';
  // As git does: the end of a name with a space in it has to be seen.
  const name = (side: string, path: string | undefined) =>
    path === undefined ? '/dev/null' : `${side}/${path.replace(/^\//, '')}${path.includes(' ') ? '\t' : ''}`;
  const body = hunks.flatMap(({ header, lines }) => [header, ...lines]);
  return [`--- ${name('a', oldName)}`, `+++ ${name('b', newName)}`, ...body, ''].join('\n');
}

/** Spans whose contexts touch are one hunk. */
function grouped(spans: readonly Span[]): Span[][] {
  const groups: Span[][] = [];
  for (const span of spans) {
    const last = groups.at(-1);
    if (last && span.aStart - last.at(-1)!.aEnd <= 2 * context) last.push(span);
    else groups.push([span]);
  }
  return groups;
}

function hunkOf(
  a: readonly string[],
  b: readonly string[],
  spans: readonly Span[],
  mixed: WithoutAgent['mixed'],
): ChangeHunk {
  const first = spans[0]!;
  const last = spans.at(-1)!;
  const before = Math.min(context, first.aStart);
  const after = Math.min(context, a.length - last.aEnd);
  const aRange = { start: first.aStart - before, end: last.aEnd + after };
  const bRange = { start: first.bStart - before, end: last.bEnd + after };
  const lines: string[] = [];
  const put = (mark: string, from: readonly string[]) => {
    for (const line of from) {
      lines.push(mark + line.replace(/\n$/, ''));
      if (!line.endsWith('\n')) lines.push('\\ No newline at end of file');
    }
  };
  let at = aRange.start;
  for (const { aStart, aEnd, bStart, bEnd } of spans) {
    put(' ', a.slice(at, aStart));
    put('-', a.slice(aStart, aEnd));
    put('+', b.slice(bStart, bEnd));
    at = aEnd;
  }
  put(' ', a.slice(at, aRange.end));
  const place = {
    oldStart: lineOf(aRange),
    oldLines: aRange.end - aRange.start,
    newStart: lineOf(bRange),
    newLines: bRange.end - bRange.start,
  };
  const touched = spans.some(({ bStart, bEnd }) =>
    mixed.some(([start, end]) => bStart <= end && start <= bEnd),
  );
  return {
    header: `@@ -${place.oldStart},${place.oldLines} +${place.newStart},${place.newLines} @@`,
    ...place,
    lines,
    ...(touched && { mixed: true }),
  };
}

/** The number of a range's first line from 1; of the line before where it is empty. */
const lineOf = ({ start, end }: { start: number; end: number }): number =>
  start === end ? start : start + 1;
