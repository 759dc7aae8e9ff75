// Text of others made fit for the transcript. Guarantees: the same result however a text was cut into pieces; no control
// characters, terminal escapes or halves of characters; never the mark that makes lines of the transcript recognisable;
// a code fence that a text leaves open can be closed. Must not know: facts, messages, files.

/** In every heading and one-liner of the transcript itself, and in nothing else: whoever looks for structure looks for it. */
export const mark = '◈';
const markInText = '◇';

/** A line of the transcript itself. */
export const remark = (text: string): string => `${mark} ${text}`;

const special = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff◈]/;

/** A function that cleans a text piece by piece; without an argument it ends the text and gives what was held back. */
export function createCleaner(): (piece?: string) => string {
  let state: 'text' | 'escape' | 'between' | 'csi' | 'string' | 'return' = 'text';
  let high = '';

  const one = (char: string): string => {
    if (state === 'return') {
      state = 'text';
      return char === '\n' ? '\n' : `\n${one(char)}`;
    }
    if (char === '\u001b') state = 'escape';
    else if (state === 'escape') state = afterEscape(char);
    // Two-part escapes such as the choice of a character set.
    else if (state === 'between') state = char >= ' ' && char <= '/' ? 'between' : 'text';
    else if (state === 'csi') {
      if (char >= '@' && char <= '~') state = 'text';
      else if (char < ' ' || char > '~') return ended(char);
    } else if (state === 'string') {
      if (char === '\u0007' || char === '\u009c') state = 'text';
      else if (char === '\n') return ended(char);
    } else if (char === '\u009b') state = 'csi';
    else if (char === '\r') state = 'return';
    else if (char === '\n' || char === '\t') return char;
    else if (char === mark) return markInText;
    else if (char >= ' ' && !(char >= '\u007f' && char <= '\u009f')) return char;
    return '';
  };
  /** An escape that was never finished must not swallow the text after it. */
  const ended = (char: string): string => {
    state = 'text';
    return one(char);
  };

  return (piece) => {
    if (piece === undefined) {
      const rest = (high && one('\ufffd')) + (state === 'return' ? '\n' : '');
      state = 'text';
      high = '';
      return rest;
    }
    if (state === 'text' && high === '' && !special.test(piece)) return piece;
    let clean = '';
    for (const unit of units(high + piece)) {
      high = '';
      if (isHigh(unit)) high = unit;
      else clean += one(isLow(unit) ? '\ufffd' : unit);
    }
    // Only at the very end may a first half still find its second.
    return clean;
  };

  /** Whole characters; a first half that is followed by something else is a replacement character. */
  function* units(text: string): Generator<string> {
    let at = 0;
    for (const char of text) {
      at += char.length;
      yield isHigh(char) && at < text.length ? '\ufffd' : char;
    }
  }
}

const isHigh = (char: string): boolean => char.length === 1 && (char.charCodeAt(0) & 0xfc00) === 0xd800;
const isLow = (char: string): boolean => char.length === 1 && (char.charCodeAt(0) & 0xfc00) === 0xdc00;

function afterEscape(char: string): 'csi' | 'string' | 'between' | 'text' {
  if (char === '[') return 'csi';
  if (']PX^_'.includes(char)) return 'string';
  return char >= ' ' && char <= '/' ? 'between' : 'text';
}

/** A whole text, cleaned. */
export function cleaned(text: string): string {
  const clean = createCleaner();
  return clean(text) + clean();
}

/** A text on one line, cut to `limit` UTF-16 units (not within a character). */
export function oneLine(text: string, limit = 200): string {
  const line = cleaned(text.slice(0, 8 * limit))
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= limit) return line;
  return `${line.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export interface Fences {
  /** Text that follows what was read before. */
  read(text: string): void;
  /** The line that closes the open code fence; undefined when none is open. */
  closing(): string | undefined;
}

/** Follows the code fences of a Markdown text (CommonMark 4.5), those inside of lists included. */
export function createFences(): Fences {
  let open: { indent: string; fence: string } | undefined;
  // Of a line only its beginning matters, but an information string with a backtick makes it no fence.
  let line = '';

  const after = (before: typeof open): typeof open => {
    if (before) {
      const [, fence] = /^\s*(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
      const closes = fence && fence[0] === before.fence[0] && fence.length >= before.fence.length;
      return closes ? undefined : before;
    }
    const [, lead, fence, info] =
      /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (lead === undefined || !fence || (fence[0] === '`' && info?.includes('`'))) return undefined;
    // Closed where it was opened: in a list a fence at the margin would open another.
    return { indent: lead.replace(/[^\t]/g, ' '), fence };
  };

  return {
    read(text) {
      const lines = text.split('\n');
      const last = lines.pop()!;
      for (const rest of lines) {
        line += rest;
        open = after(open);
        line = '';
      }
      line += last;
    },
    closing() {
      const now = after(open);
      return now && `${now.indent}${now.fence}`;
    },
  };
}

/** The line that closes the code fence which a text leaves open, if it does. */
export function closingOf(text: string): string | undefined {
  const fences = createFences();
  fences.read(text);
  return fences.closing();
}

/** A text as it is, its code fences closed, without blank lines around it; empty when it says nothing. */
export function passage(text: string): string {
  const body = cleaned(text)
    .replace(/^\s*\n/, '')
    .trimEnd();
  const closing = closingOf(body);
  return closing === undefined ? body : `${body}\n${closing}`;
}

/** A text as a quotation. */
export const quoted = (text: string): string => quotedLines(`\n${passage(text)}`).slice(1);

/** The same with `> ` after each line break. */
export const quotedLines = (text: string): string =>
  text.replace(/\n(?=(\n?))/g, (_, blank: string) => (blank ? '\n>' : '\n> '));

/** A text in a code block whose fence is longer than any in it. */
export function fenced(text: string, language = ''): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A text that Markdown shows as it is: no link, no picture, no element, no code (CommonMark 2.4), and nothing for a terminal. */
export const literal = (text: string): string => cleaned(text).replace(/[\\`<[\]]/g, '\\$&');

/** A text in a code span whose delimiter is longer than any in it (CommonMark 6.1). */
export function codeSpan(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const delimiter = '`'.repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(text) ? ' ' : '';
  return `${delimiter}${pad}${text}${pad}${delimiter}`;
}

export interface Kept {
  head: number;
  tail: number;
  /** UTF-16 units of a line. */
  width: number;
  /** White space at the ends of lines says something. */
  exact?: boolean;
}

/** A line, cleaned and cut. Only what is kept is looked at. */
export function cutLine(line: string, width: number): string {
  const clean = cleaned(line.slice(0, width * 4));
  return clean.length > width ? `${clean.slice(0, width).replace(/[\ud800-\udbff]$/, '')}…` : clean;
}

/** The first and last lines of a text and how many were left out; long lines are cut. */
export function boundedLines(text: string, { head, tail, width, exact }: Kept): string[] {
  const all = text
    .replace(/^[\r\n]+/, '')
    .trimEnd()
    .split(/\r\n|\r|\n/);
  const left = all.length - head - tail;
  const cut = (lines: string[]) =>
    lines.map((line) => (exact ? cutLine(line, width) : cutLine(line, width).trimEnd()));
  const kept =
    left <= 1
      ? cut(all)
      : [...cut(all.slice(0, head)), `… ${left} lines left out`, ...cut(all.slice(all.length - tail))];
  while (kept.at(-1)?.trimEnd() === '') kept.pop();
  return kept;
}

/** The same as one text. */
export const bounded = (text: string, kept: Kept): string => boundedLines(text, kept).join('\n');
