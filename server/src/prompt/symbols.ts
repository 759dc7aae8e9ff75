// Symbols of a document by the look of its lines: headings of Markdown, and lines that declare with a word such as `function`,
// `class`, `def`, `fn`. Guarantees: pure, linear, bounded; a symbol's lines are whole. Must not know: any language; what declares
// without such a word (methods of many languages, functions of C) is not found.
import type { Lines } from './reference.ts';

export interface DocumentSymbol extends Lines {
  name: string;
  /** Its first line. */
  line: string;
}

/** Symbols of one document, and UTF-16 units of a text that is looked at. */
const most = 500;
const longest = 2_000_000;
const longestLine = 500;

const words =
  'function\\*?|class|interface|enum|type|struct|trait|impl|fn|def|defp|defmodule|defmacro|defun|defvar|defcustom|defn|func|fun|module|namespace|record|object|mod|macro_rules!|sub|proc|message|service|protocol|extension|procedure|package';
const before =
  '(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|override|sealed|inline|unsafe|virtual|extern|open|data|const|local|pub(?:\\([^)]*\\))?)';
const declared = new RegExp(
  `^\\s*\\(?(?:${before}\\s+)*(?:${words})(?:<[^>]*>)?\\s+(?:\\([^)]*\\)\\s*)?(?:<[^>]*>\\s*)?([\\p{L}_$][\\p{L}\\p{N}_$?!.:-]*)`,
  'u',
);
const assigned =
  /^\s*(?:export\s+)?(?:const|let|var)\s+([\p{L}_$][\p{L}\p{N}_$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\(|function\b|[\p{L}_$][\p{L}\p{N}_$]*\s*=>)/u;
const heading = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;

/** The symbols of a text, in order. */
export function symbolsIn(text: string, languageId: string): DocumentSymbol[] {
  if (text.length > longest) return [];
  const lines = text.split(/\r\n|\r|\n/);
  return /^(?:markdown|md|quarto|mdx)$/.test(languageId) ? headings(lines) : declarations(lines);
}

/** A heading as one word: `My heading, too` → `my-heading-too`. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');

/** The symbol of this name; letter case counts only where two differ by nothing else. */
export function symbolNamed(symbols: readonly DocumentSymbol[], name: string): DocumentSymbol | undefined {
  return (
    symbols.find((symbol) => symbol.name === name) ??
    symbols.find((symbol) => symbol.name.toLowerCase() === name.toLowerCase())
  );
}

function headings(lines: readonly string[]): DocumentSymbol[] {
  const found: (DocumentSymbol & { level: number })[] = [];
  let fence: string | undefined;
  for (const [n, line] of lines.entries()) {
    const [, run] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (run && (fence === undefined || run.startsWith(fence))) fence = fence === undefined ? run : undefined;
    if (fence !== undefined || run) continue;
    const [, marks, title] = heading.exec(line.slice(0, longestLine)) ?? [];
    const name = title === undefined ? '' : slug(title);
    if (!marks || name === '') continue;
    for (const open of found) if (open.to === 0 && open.level >= marks.length) open.to = n;
    if (found.length < most) found.push({ name, line: line.trim(), from: n + 1, to: 0, level: marks.length });
  }
  return found.map(({ level: _, ...symbol }) => ({ ...symbol, to: symbol.to || lines.length }));
}

function declarations(lines: readonly string[]): DocumentSymbol[] {
  const found: DocumentSymbol[] = [];
  for (const [n, whole] of lines.entries()) {
    const line = whole.slice(0, longestLine);
    const [, name] = declared.exec(line) ?? assigned.exec(line) ?? [];
    if (name === undefined) continue;
    found.push({
      name: name.replace(/[.:-]+$/, ''),
      line: line.trim(),
      from: n + 1,
      to: lastLine(lines, n) + 1,
    });
    if (found.length === most) break;
  }
  return found;
}

/** What is indented deeper, and the line that closes it. */
function lastLine(lines: readonly string[], first: number): number {
  const depth = indentation(lines[first]!);
  let last = first;
  for (let n = first + 1; n < lines.length; n += 1) {
    const line = lines[n]!;
    if (line.trim() === '') continue;
    if (indentation(line) > depth) last = n;
    else {
      // The brace of the next line, or the end of what was begun.
      if (!/^\s*(?:[{})\]]|end\b|fi\b|done\b|esac\b)/.test(line)) break;
      last = n;
      if (!/^\s*[{)]/.test(line) || /^\s*\)\s*;?\s*$/.test(line)) break;
    }
  }
  return last;
}

const indentation = (line: string): number => /^\s*/.exec(line)![0].replaceAll('\t', '        ').length;
