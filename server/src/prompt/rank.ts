// How well a path fits what was typed of it. Guarantees: pure; one pass over each path; the same order every time. Must not know:
// where the paths come from.

export interface Ranking {
  add(paths: readonly string[]): void;
  /** The best first; `more` when there were others that fit. */
  best(): { paths: string[]; more: boolean };
}

/** The best `count` of what is added, in portions of any size. */
export function createRanking(typed: string, count: number, liked: ReadonlySet<string> = new Set()): Ranking {
  const query = typed.toLowerCase();
  let found: { path: string; score: number }[] = [];
  let least = Number.NEGATIVE_INFINITY;
  let all = 0;
  const narrow = () => {
    found.sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
    found = found.slice(0, count);
    if (found.length === count) least = found.at(-1)!.score;
  };
  return {
    add(paths) {
      for (const path of paths) {
        const fits = scoreOf(query, path);
        if (fits === undefined) continue;
        all += 1;
        const score = fits + (liked.has(path) ? likedMore : 0);
        if (score < least) continue;
        found.push({ path, score });
        if (found.length >= 4 * count) narrow();
      }
    },
    best() {
      narrow();
      return { paths: found.map(({ path }) => path), more: all > found.length };
    },
  };
}

/** The best of a list that is not long. */
export function ranked(typed: string, paths: readonly string[], count: number): ReturnType<Ranking['best']> {
  const ranking = createRanking(typed, count);
  ranking.add(paths);
  return ranking.best();
}

const likedMore = 150;
const inName = 600;
const separators = '/._- ';

/** Higher is better; undefined: it does not fit. Every typed character has to be there, in order. `query` in lower case. */
function scoreOf(query: string, path: string): number | undefined {
  if (query === '') return -10 * depth(path);
  const lower = path.toLowerCase();
  const bare = lower.endsWith('/') ? lower.slice(0, -1) : lower;
  const name = bare.lastIndexOf('/') + 1;
  const length = -bare.length / 10;
  if (bare === query || lower === query) return 3000;
  const rest = 2 * (bare.length - name - query.length);
  if (bare.startsWith(query, name)) return (rest === 0 ? 2000 : 1500 - rest) + length;
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
    points += (found === last + 1 ? 8 : 0) + begins(path, found) * (last < 0 ? 12 : 6);
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

function depth(path: string): number {
  let count = 0;
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1))
    count += 1;
  return count;
}
