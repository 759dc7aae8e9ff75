// How well a path fits what was typed of it. Guarantees: pure; one pass over each path; the same order every time. Must not know:
// where the paths come from.

/** The best of many, the best first; `more` when there were others that fit. */
export function ranked(
  typed: string,
  paths: readonly string[],
  count: number,
  liked: ReadonlySet<string> = new Set(),
): { paths: string[]; more: boolean } {
  const query = typed.toLowerCase();
  const found: { path: string; score: number }[] = [];
  for (const path of paths) {
    const score = scoreOf(query, path);
    if (score !== undefined) found.push({ path, score: score + (liked.has(path) ? likedMore : 0) });
  }
  found.sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return { paths: found.slice(0, count).map(({ path }) => path), more: found.length > count };
}

const likedMore = 150;
const inName = 600;
const separators = '/._- ';

/** Higher is better; undefined: it does not fit. Every typed character has to be there, in order. `query` in lower case. */
export function scoreOf(query: string, path: string): number | undefined {
  const depth = path.split('/').length;
  if (query === '') return -depth * 10;
  const lower = path.toLowerCase();
  const bare = lower.endsWith('/') ? lower.slice(0, -1) : lower;
  const name = bare.lastIndexOf('/') + 1;
  const length = -bare.length / 10;
  if (bare === query || lower === query) return 3000;
  if (bare.startsWith(query, name)) return 1500 + length + (bare.length === name + query.length ? 500 : 0);
  if (lower.startsWith(query)) return 1400 + length;
  const whole = bare.indexOf(query, name);
  if (whole >= 0) return 1000 + length + begins(path, whole) * 10;
  const somewhere = lower.indexOf(query);
  if (somewhere >= 0) return 700 + length + begins(path, somewhere) * 10;
  const scattered = scatter(query, lower, path, name);
  if (scattered !== undefined) return inName / 2 + scattered + length;
  const anywhere = scatter(query, lower, path, 0);
  return anywhere === undefined ? undefined : anywhere + length;
}

/** Characters one after the other, with points for neighbours and for beginnings of words. */
function scatter(query: string, lower: string, path: string, from: number): number | undefined {
  let points = 0;
  let last = -2;
  let at = from;
  for (const letter of query) {
    const found = lower.indexOf(letter, at);
    if (found < 0) return undefined;
    points += (found === last + 1 ? 8 : 0) + begins(path, found) * 6;
    last = found;
    at = found + letter.length;
  }
  return Math.min(points, inName / 2);
}

/** 1 where a word begins. */
function begins(path: string, at: number): number {
  const before = path[at - 1];
  if (before === undefined || separators.includes(before)) return 1;
  const letter = path[at]!;
  return letter !== letter.toLowerCase() && before === before.toLowerCase() ? 1 : 0;
}
