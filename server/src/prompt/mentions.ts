// What a prompt refers to, by its text alone: `@path`, `@path:12-20`, `@"a path":12`, `@folder/`, `#document`, `#document:symbol`,
// and `/command` at its beginning. Guarantees: pure, linear; addresses, code spans and fenced blocks are no mentions; what
// reference.ts writes is read back. Must not know: whether anything of that exists.
import { codeZones, inZone } from './code-zones.ts';
import { type Lines, mention } from './reference.ts';

export interface Mention {
  kind: 'file' | 'document';
  /** UTF-16 offsets of the whole mention. */
  start: number;
  end: number;
  /** The path, or the document's name. */
  name: string;
  lines?: Lines;
  symbol?: string;
  quoted: boolean;
}

export interface CommandWord {
  name: string;
  /** UTF-16 offsets of the word with its slash. */
  start: number;
  end: number;
}

/** What is being written at a place. `typed` is what stands before it, without sign and quote. */
export type Writing = { start: number; end: number; typed: string } & (
  | { kind: 'file' | 'document'; quoted: boolean }
  | { kind: 'command' }
  | { kind: 'argument'; command: string }
);

const boundary = /[\s([{<"'«“‘,;:|]/;
const closing = /[.,;:!?)\]}>”’»…。，、！？）】*]/;
const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{', '>': '<' };
const lineNumbers = String.raw`:(\d+)(?:-(\d+)|:\d+)?|#L(\d+)(?:-L?(\d+))?`;
const symbolName = String.raw`:([\p{L}_$][\p{L}\p{N}_$?!.-]*)`;
const quotedName = /"((?:\\"|[^"\r\n])+)"/y;
const bareName = /[^\s"'`]+/y;
const linesAfter = new RegExp(`(?:${lineNumbers})(?![\\w-])`, 'y');
const symbolAfter = new RegExp(symbolName, 'uy');
const linesAtEnd = new RegExp(`(?:${lineNumbers})$`);
const symbolAtEnd = new RegExp(`${symbolName}$`, 'u');

/** The mentions of a prompt, in order. */
export function mentionsIn(text: string): Mention[] {
  const zones = codeZones(text);
  const found: Mention[] = [];
  const signs = /[@#]/g;
  for (let sign = signs.exec(text); sign; sign = signs.exec(text)) {
    const start = sign.index;
    if ((start > 0 && !boundary.test(text[start - 1]!)) || inZone(zones, start)) continue;
    const one = mentionAt(text, start);
    if (!one) continue;
    found.push(one);
    signs.lastIndex = one.end;
  }
  return found;
}

/** The command that a prompt begins with, as the agent sees it: blank space before it does not count. */
export function commandIn(text: string): CommandWord | undefined {
  const [, before, name] = /^(\s*)\/([^\s/]+)(?=\s|$)/.exec(text) ?? [];
  if (before === undefined || name === undefined) return undefined;
  return { name, start: before.length, end: before.length + 1 + name.length };
}

/** What is being written at an offset; undefined where nothing is to be completed. */
export function writingAt(text: string, offset: number): Writing | undefined {
  const before = text.slice(0, offset);
  const [, blank, word] = /^(\s*)\/([^\s/]*)$/.exec(before) ?? [];
  if (blank !== undefined && word !== undefined)
    return { kind: 'command', start: blank.length, end: offset, typed: word };
  const line = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1);
  const at = signIn(line);
  if (at !== undefined) {
    const start = offset - line.length + at;
    if (inZone(codeZones(text), start)) return undefined;
    const quoted = line[at + 1] === '"';
    // Editors that close quotes have put one after the place.
    const end = quoted && text[offset] === '"' ? offset + 1 : offset;
    const typed = line.slice(at + (quoted ? 2 : 1)).replaceAll('\\"', '"');
    return { kind: line[at] === '@' ? 'file' : 'document', start, end, typed, quoted };
  }
  const [, command, argument] = /^\s*\/([^\s/]+)[ \t]+([^\r\n]*)$/.exec(before) ?? [];
  if (command === undefined || argument === undefined) return undefined;
  return { kind: 'argument', command, start: offset - argument.length, end: offset, typed: argument };
}

/** A mention of a path or document that reads back as it. */
export function mentionOf(sign: '@' | '#', name: string, quoted = false): string {
  const plain = sign + mention(name).slice(1);
  const back = mentionsIn(plain)[0];
  const same = back?.name === name && back.end === plain.length && !back.lines && !back.symbol;
  return !quoted && same ? plain : `${sign}"${name.replaceAll('"', '\\"')}"`;
}

function mentionAt(text: string, start: number): Mention | undefined {
  const kind = text[start] === '@' ? 'file' : 'document';
  const quoted = matchAt(quotedName, text, start + 1);
  if (quoted) {
    let end = start + 1 + quoted[0].length;
    const numbers = matchAt(linesAfter, text, end);
    const symbol = numbers || kind === 'file' ? undefined : matchAt(symbolAfter, text, end);
    end += (numbers ?? symbol)?.[0].length ?? 0;
    const name = quoted[1]!.replaceAll('\\"', '"');
    return {
      kind,
      start,
      end,
      name,
      quoted: true,
      ...numbered(numbers),
      ...(symbol && { symbol: symbol[1]! }),
    };
  }
  const bare = matchAt(bareName, text, start + 1);
  const word = bare && withoutClosing(bare[0]);
  // A heading begins with signs alone.
  if (!word || /^[@#]*$/.test(word)) return undefined;
  const end = start + 1 + word.length;
  const numbers = linesAtEnd.exec(word);
  const symbol = numbers || kind === 'file' ? undefined : symbolAtEnd.exec(word);
  const name = word.slice(0, (numbers ?? symbol)?.index ?? word.length);
  if (name === '') return undefined;
  return {
    kind,
    start,
    end,
    name,
    quoted: false,
    ...numbered(numbers),
    ...(symbol && { symbol: symbol[1]! }),
  };
}

function numbered(match: RegExpExecArray | undefined | null): { lines?: Lines } {
  if (!match) return {};
  const from = Number(match[1] ?? match[3]);
  const to = Number(match[2] ?? match[4] ?? from);
  return { lines: from <= to ? { from, to } : { from: to, to: from } };
}

/** Without the punctuation of the sentence that it stands in; brackets that were opened in it stay. */
function withoutClosing(word: string): string {
  const counts: Record<string, number> = {};
  for (const sign of word) counts[sign] = (counts[sign] ?? 0) + 1;
  let end = word.length;
  for (; end > 0 && closing.test(word[end - 1]!); end -= 1) {
    const last = word[end - 1]!;
    const open = pairs[last];
    if (open && (counts[open] ?? 0) >= counts[last]!) break;
    counts[last]! -= 1;
  }
  return word.slice(0, end);
}

/** Where the mention begins that a line ends in. */
function signIn(line: string): number | undefined {
  const open = /(?:^|[\s([{<'«“‘,;:|])([@#]"(?:\\"|[^"])*)$/.exec(line);
  if (open) return line.length - open[1]!.length;
  const from = /[^\s]*$/.exec(line)!.index;
  for (let at = from; at < line.length; at += 1)
    if (/[@#]/.test(line[at]!) && (at === 0 || boundary.test(line[at - 1]!)))
      return /["'`]/.test(line.slice(at + 1)) ? undefined : at;
  return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
