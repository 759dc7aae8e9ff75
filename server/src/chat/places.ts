// Files that a chat document names. Guarantees: pure and linear; only what stands in a code span or a tool's heading, is shaped like a
// path, and bounded in number. Must not know: the disk, LSP.

/** A path in a line, as it is named; lines are counted from 1 as people count. */
export interface Place {
  path: string;
  /** Line and columns of the document, from 0, the end not included. */
  line: number;
  start: number;
  end: number;
  from?: number;
}

const most = 500;
const span = /`([^`\n]{1,400})`/g;
const shape = /^(.*?[^:/\\])(?::(\d+)(?:[-:]\d+)?)?$/;

/** The places of a document; whether the files are there is for others to see. */
export function placesIn(text: string): Place[] {
  const places: Place[] = [];
  let fence: string | undefined;
  for (const [line, content] of text.split(/\r\n|\n|\r/).entries()) {
    const [, open] = /^\s*(`{3,}|~{3,})/.exec(content) ?? [];
    if (open) {
      if (fence === undefined) fence = open;
      else if (content.trim().startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined) continue;
    for (const found of content.matchAll(span)) {
      const place = placeOf(found[1]!);
      if (!place) continue;
      const start = found.index + 1;
      places.push({ ...place, line, start, end: start + found[1]!.length });
      if (places.length >= most) return places;
    }
  }
  return places;
}

function placeOf(text: string): Pick<Place, 'path' | 'from'> | undefined {
  const named = text.replace(/^@/, '');
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(named) || !/[./\\]/.test(named) || /^\s|\s$|[\0*?<>|]/.test(named))
    return undefined;
  const [, path, from] = shape.exec(named) ?? [];
  return path === undefined ? undefined : { path, ...(from !== undefined && { from: Number(from) }) };
}
