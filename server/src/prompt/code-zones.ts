// Where a text in Markdown is code. Guarantees: linear time; fenced blocks and code spans as CommonMark has them. Must not know:
// what is looked for outside.

/** Half-open ranges of UTF-16 offsets, in order. */
export type Zones = readonly (readonly [from: number, to: number])[];

/** Code of a Markdown text (CommonMark: "Fenced code blocks", "Code spans"). */
export function codeZones(text: string): Zones {
  const zones: [number, number][] = [];
  let fence: { mark: string; from: number } | undefined;
  let paragraph: number | undefined;
  const endParagraph = (to: number) => {
    if (paragraph !== undefined) zones.push(...spansIn(text, paragraph, to));
    paragraph = undefined;
  };
  for (let from = 0; from < text.length; ) {
    const [whole, line] = lineAt(text, from);
    const to = from + whole;
    if (fence) {
      const [, run] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
      if (run?.startsWith(fence.mark)) {
        zones.push([fence.from, to]);
        fence = undefined;
      }
    } else {
      const [, run] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
      if (run) {
        endParagraph(from);
        fence = { mark: run, from };
      } else if (line.trim() === '') endParagraph(from);
      else paragraph ??= from;
    }
    from = to;
  }
  if (fence) zones.push([fence.from, text.length]);
  endParagraph(text.length);
  return zones;
}

/** Whether an offset lies in one of the zones. */
export function inZone(zones: Zones, offset: number): boolean {
  let low = 0;
  let high = zones.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (zones[middle]![1] <= offset) low = middle + 1;
    else high = middle;
  }
  return low < zones.length && zones[low]![0] <= offset;
}

/** The length of the line at an offset with its end, and its text without. */
function lineAt(text: string, from: number): [number, string] {
  const end = /\r\n|\r|\n/g;
  end.lastIndex = from;
  const found = end.exec(text);
  return found
    ? [found.index + found[0].length - from, text.slice(from, found.index)]
    : [text.length - from, text.slice(from)];
}

/** Code spans: a run of backticks up to the next run of the same length. */
function spansIn(text: string, from: number, to: number): [number, number][] {
  const runs = [...text.slice(from, to).matchAll(/`+/g)].map((run) => ({
    at: from + run.index,
    length: run[0].length,
  }));
  const byLength = new Map<number, number[]>();
  for (const [index, { length }] of [...runs.entries()].reverse()) {
    const same = byLength.get(length);
    if (same) same.push(index);
    else byLength.set(length, [index]);
  }
  const spans: [number, number][] = [];
  for (let n = 0; n < runs.length; n += 1) {
    const { at, length } = runs[n]!;
    // The smallest index is the last one.
    const later = byLength.get(length)!;
    while (later.length > 0 && later.at(-1)! <= n) later.pop();
    const close = later.at(-1);
    if (close === undefined) continue;
    spans.push([at, runs[close]!.at + length]);
    n = close;
  }
  return spans;
}
