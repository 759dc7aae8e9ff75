// Bytes of the agent's stdout into lines. Guarantees: splits on the LF byte only and on bytes (a character may be cut by any
// chunk border), strips one CR, no limit on a line's length, every byte is looked at once and copied at most once. Must not
// know: what is in a line.

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export interface LineSplitter {
  /** The lines that this chunk completes, without LF and without one CR before it. They may share the chunk's memory. */
  push(chunk: Buffer): Buffer[];
  /** The last line when the stream ended without an LF; undefined when nothing is left. */
  end(): Buffer | undefined;
}

/** Splits a byte stream into lines (protocol reference, "Framing"). */
export function createLineSplitter(): LineSplitter {
  let held: Buffer[] = [];
  const completed = (tail: Buffer): Buffer => {
    const line = held.length === 0 ? tail : Buffer.concat([...held, tail]);
    held = [];
    return line.length > 0 && line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line;
  };
  return {
    push(chunk) {
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        lines.push(completed(chunk.subarray(start, end)));
        start = end + 1;
      }
      if (start < chunk.length) held.push(start === 0 ? chunk : chunk.subarray(start));
      return lines;
    },
    end: () => (held.length === 0 ? undefined : completed(Buffer.alloc(0))),
  };
}
