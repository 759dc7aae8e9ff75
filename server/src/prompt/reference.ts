// A place in a file as a prompt shows it: a mention, or the place with its text. Guarantees: pure; a fence is longer than any in the
// text; what is left out is said. Must not know: who asks, which documents are open.

/** Lines of a file, both included, from 1. */
export interface Lines {
  from: number;
  to: number;
}

export interface Reference {
  /** As a prompt names it; absent for a text that has no file. */
  path?: string;
  /** Absent: the whole file. */
  lines?: Lines;
  /** The lines' text. */
  text: string;
  /** The text is newer than the file. */
  unsaved: boolean;
  /** LSP: `TextDocumentItem.languageId`. */
  languageId: string;
}

/** UTF-16 units of text that a block holds. */
export const blockLimit = 65_536;

/** `:12-20`, as it stands behind a path. */
export const lineNumbers = (lines: Lines | undefined): string =>
  lines === undefined ? '' : lines.from === lines.to ? `:${lines.from}` : `:${lines.from}-${lines.to}`;

/** `@src/a.ts:12-20`, or `@"my file.ts":12-20` where the path would not be one word. */
export const mention = (path: string, lines?: Lines): string =>
  `@${/[\s"'`]/.test(path) ? `"${path.replaceAll('"', '\\"')}"` : path}${lineNumbers(lines)}`;

/** The place and its text as Markdown: the place in a code span, so that it is no mention, then a fenced block. */
export function referenceBlock({ path, lines, text, unsaved, languageId }: Reference): string {
  const shown = text.length > blockLimit ? `${text.slice(0, cutAt(text))}\n` : text;
  const notes = [
    ...(unsaved && path !== undefined ? ['unsaved'] : []),
    ...(shown === text ? [] : [`the first ${shown.length} of ${text.length} characters`]),
  ];
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  const place = path === undefined ? 'A text without a file' : code(`${path}${lineNumbers(lines)}`);
  const language = /^[\w+#.-]+$/.test(languageId) ? languageId : '';
  return `${place}${note}\n${fenced(shown, language)}`;
}

/** A fenced block that its text cannot close (CommonMark: "Fenced code blocks"). */
export function fenced(text: string, language = ''): string {
  const ticks = Math.max(0, ...[...text.matchAll(/^[ \t]*(`{3,})/gm)].map(([, run]) => run!.length));
  const fence = '`'.repeat(Math.max(3, ticks + 1));
  return `${fence}${language}\n${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${fence}`;
}

/** A code span that holds backticks, too (CommonMark: "Code spans"). */
function code(text: string): string {
  const ticks = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(ticks + 1);
  return ticks === 0 ? `${mark}${text}${mark}` : `${mark} ${text} ${mark}`;
}

/** At the end of a line where one is near, and never inside a character. */
function cutAt(text: string): number {
  const line = text.lastIndexOf('\n', blockLimit - 1);
  if (line > blockLimit / 2) return line;
  return /[\uD800-\uDBFF]/.test(text[blockLimit - 1]!) ? blockLimit - 1 : blockLimit;
}
