// What version control ignores. Guarantees: the files of every folder count, the deepest first, as git reads them; nothing is run.
// Must not know: which files there are.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** The rules that hold in a folder, the deepest first. */
export type Rules = readonly { folder: string; rules: Ignore }[];

/** Files that hold rules; later ones win. */
export const ruleFiles = ['.gitignore', '.ignore'];
const longest = 1_000_000;

/** The rules of a folder's own files (`names`: the ones that are there), over those of the folders above. */
export async function rulesOf(folder: string, names: readonly string[], above: Rules): Promise<Rules> {
  const own = ignore({ allowRelativePaths: true });
  let any = false;
  for (const name of names) {
    const text = await textOf(path.join(folder, name));
    if (text === undefined) continue;
    own.add(text);
    any = true;
  }
  return any ? [{ folder, rules: own }, ...above] : above;
}

/** The rules that come from above a folder: of the folders up to the one with `.git`, and that one's own exclude file. */
export async function rulesAbove(folder: string): Promise<Rules> {
  const parents: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    const git = path.join(at, '.git');
    if (await exists(git)) {
      let rules = await rulesOf(at, [path.join('.git', 'info', 'exclude')], []);
      for (const parent of parents.reverse()) rules = await rulesOf(parent, ruleFiles, rules);
      return rules;
    }
    if (at !== folder) parents.push(at);
    if (at === path.dirname(at)) return [];
  }
}

/** Whether an entry of a folder that is not ignored itself is ignored. */
export function isIgnored(file: string, isFolder: boolean, rules: Rules): boolean {
  for (const { folder, rules: own } of rules) {
    const inside = path.relative(folder, file).replaceAll(path.sep, '/');
    const { ignored, unignored } = own.test(isFolder ? `${inside}/` : inside);
    if (unignored) return false;
    if (ignored) return true;
  }
  return false;
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > longest ? undefined : await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
