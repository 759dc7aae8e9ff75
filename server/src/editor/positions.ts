// Places in a text as LSP counts them (lines and UTF-16 units) and as offsets. Guarantees: pure; any of the three line ends; a place
// beyond a line or the text is its end. Must not know: documents.

export interface Position {
  line: number;
  character: number;
}

const lineEnd = /\r\n|\r|\n/g;

/** LSP: "Position". */
export function offsetAt(text: string, { line, character }: Position): number {
  lineEnd.lastIndex = 0;
  let start = 0;
  for (let n = 0; n < line; n += 1) {
    const found = lineEnd.exec(text);
    if (!found) return text.length;
    start = found.index + found[0].length;
  }
  lineEnd.lastIndex = start;
  const end = lineEnd.exec(text)?.index ?? text.length;
  return Math.min(start + character, end);
}

/** The inverse of {@link offsetAt}. */
function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length - 1, character: lines.at(-1)!.length };
}

export const rangeBetween = (
  text: string,
  start: number,
  end: number,
): { start: Position; end: Position } => ({
  start: positionAt(text, start),
  end: positionAt(text, end),
});
