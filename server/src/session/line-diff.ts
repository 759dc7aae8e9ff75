// Texts as lines, and where two lists of lines differ. Guarantees: lines joined are the text again, whatever their ends are; the
// same texts always give the same spans; work is bounded (very different texts differ in one span). Must not know: files.
import { diffArrays } from 'diff';

/** `a[aStart, aEnd)` stands where the other text has `b[bStart, bEnd)`. */
export interface Span {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

/** Lines that may come and go before the rest counts as one difference. */
const longestEdit = 2000;

/** The lines of a text with their ends (LF; a CR before it belongs to the line); the last may have none. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Where two lists of lines differ, in order; neighbouring spans never touch. */
export function spansBetween(a: readonly string[], b: readonly string[]): Span[] {
  const shorter = Math.min(a.length, b.length);
  let before = 0;
  while (before < shorter && a[before] === b[before]) before += 1;
  let after = 0;
  while (after < shorter - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after += 1;
  const aEnd = a.length - after;
  const bEnd = b.length - after;
  if (before === aEnd && before === bEnd) return [];
  const changes = diffArrays(a.slice(before, aEnd), b.slice(before, bEnd), { maxEditLength: longestEdit });
  if (!changes) return [{ aStart: before, aEnd, bStart: before, bEnd }];
  const spans: Span[] = [];
  let aAt = before;
  let bAt = before;
  for (const { added, removed, count } of changes) {
    if (!added && !removed) {
      aAt += count;
      bAt += count;
      continue;
    }
    const last = spans.at(-1);
    const span =
      last?.aEnd === aAt && last.bEnd === bAt ? last : { aStart: aAt, aEnd: aAt, bStart: bAt, bEnd: bAt };
    if (span !== last) spans.push(span);
    if (removed) aAt = span.aEnd += count;
    else bAt = span.bEnd += count;
  }
  return spans;
}
