// Files that a chat document names. Guarantees: pure and linear; only what is shaped like a path and stands in a code span or a
// tool's heading, or has a line number, as compilers and tests write it; bounded in number. Must not know: the disk, LSP.

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
/** `src/a.ts:12:3` or `src/a.ts(12,3)` anywhere. */
const numbered = /([^\s()[\]{}<>,;'"`|]{1,300}\.\w{1,10})(?::(\d+)(?::\d+)?|\((\d+)(?:,\d+)?\))/g;
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
    const spans = fence === undefined ? [...content.matchAll(span)] : [];
    const found = spans.flatMap(({ 1: named, index }): Place[] => {
      const place = placeOf(named!);
      return place ? [{ ...place, line, start: index + 1, end: index + 1 + named!.length }] : [];
    });
    if (/[:(]\d/.test(content))
      for (const { 0: whole, 1: named, 2: colon, 3: bracket, index } of content.matchAll(numbered)) {
        const end = index + whole.length;
        if (named!.includes('://') || found.some((it) => it.start < end && index < it.end)) continue;
        found.push({ path: named!, from: Number(colon ?? bracket), line, start: index, end });
      }
    places.push(...found);
    if (places.length >= most) return places.slice(0, most);
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
