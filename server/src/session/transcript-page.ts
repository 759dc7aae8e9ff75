// The growing page of a transcript: blocks apart by one blank line, a text that streams, whose turn it is to speak.
// Guarantees: append only; a stream's pieces may be cut anywhere; a stream that ends or is cut closes its code fence.
// Must not know: facts, messages.
import { timeOf } from './transcript-blocks.ts';
import { createCleaner, createFences, mark, quotedLines, remark } from './transcript-text.ts';

type Kind = 'text' | 'thinking';

export interface Page {
  /** Writes a block of lines; a stream that is open ends before it. */
  block(text: string): void;
  /** Whose turn it is: a heading where it was another's, or always with `again`. Undefined: nobody's. */
  speaker(name: 'You' | 'Atomic' | undefined, again?: boolean): void;
  /** Milliseconds since the epoch for the next heading. */
  time(milliseconds: number | undefined): void;
  /** A part of the message begins (anew). */
  started(index: number, kind: Kind): void;
  /** A piece of a part of the message. */
  piece(index: number, kind: Kind, delta: string): void;
  /** A part is complete: what was missing is added; what differs is written again, as a correction. */
  completed(index: number, kind: Kind, full: string | undefined): void;
  /** Writes a line of a code block, which stays open until anything else is written. It must not end the block. */
  codeLine(line: string): void;
  endCode(): void;
  readonly inCode: boolean;
  /** Ends the stream; the next message has parts of its own. */
  messageOver(): void;
  /** What was written since the last time. */
  taken(): string;
  /** Anything was ever written, here or before. */
  readonly begun: boolean;
  readonly streaming: boolean;
  newFile(): void;
}

/** An empty page; with `continues` it stands in a file that already has text, and begins with a rule. */
export function createPage(continues: boolean): Page {
  let out = '';
  let lineBreaks = 2;
  let begun = continues;
  let ruleDue = continues;
  let current: string | undefined;
  let headingTime: number | undefined;
  let inCode = false;
  let parts = new Map<number, { kind: Kind; raw: string }>();
  let stream:
    | {
        index: number;
        kind: Kind;
        clean: ReturnType<typeof createCleaner>;
        fences: ReturnType<typeof createFences>;
        /** White space that is written only when something follows. */
        held: string;
        begun: boolean;
      }
    | undefined;

  const write = (text: string) => {
    out += text;
    begun = true;
    lineBreaks = text.endsWith('\n\n') ? 2 : !text.endsWith('\n') ? 0 : text === '\n' ? lineBreaks + 1 : 1;
  };
  const gap = () => {
    if (ruleDue) {
      ruleDue = false;
      write('---\n');
    }
    if (lineBreaks < 2) write('\n'.repeat(2 - lineBreaks));
  };
  const block = (text: string) => {
    close();
    // A rule of its own follows: one is enough.
    if (text === '---') ruleDue = false;
    gap();
    write(text);
    write('\n');
  };
  const speaker: Page['speaker'] = (name, again = false) => {
    if (name && (again || name !== current)) block(`## ${name} ${mark}${timeOf(headingTime)}`);
    current = name;
  };

  const show = (text: string) => {
    const open = stream!;
    const all = open.held + text;
    const body = all.trimEnd();
    open.held = all.slice(body.length);
    if (!body) return;
    let shown = body;
    if (!open.begun) {
      shown = body.replace(/^\s*\n/, '');
      stream = undefined;
      speaker('Atomic');
      stream = open;
      open.begun = true;
      gap();
      if (open.kind === 'thinking') write('> *Thinking*\n>\n> ');
    }
    if (open.kind === 'text') open.fences.read(shown);
    write(open.kind === 'text' ? shown : quotedLines(shown));
  };
  const endCode = () => {
    if (inCode) write('```\n');
    inCode = false;
  };
  const close = () => {
    endCode();
    if (!stream) return;
    show(stream.clean());
    const open = stream;
    stream = undefined;
    if (!open.begun) return;
    const closing = open.kind === 'text' ? open.fences.closing() : undefined;
    if (closing !== undefined) write(`\n${closing}`);
    write('\n');
  };
  const piece: Page['piece'] = (index, kind, delta) => {
    if (stream?.index !== index || stream.kind !== kind) {
      close();
      stream = { index, kind, clean: createCleaner(), fences: createFences(), held: '', begun: false };
    }
    const part = parts.get(index);
    parts.set(index, { kind, raw: (part?.kind === kind ? part.raw : '') + delta });
    show(stream.clean(delta));
  };

  return {
    block,
    speaker,
    time: (milliseconds) => {
      headingTime = milliseconds;
    },
    started(index, kind) {
      if (stream?.index === index) close();
      parts.set(index, { kind, raw: '' });
    },
    piece,
    completed(index, kind, full) {
      const part = parts.get(index);
      const raw = part?.kind === kind ? part.raw : '';
      if (full !== undefined && full !== raw) {
        if (!full.startsWith(raw)) {
          block(remark('The agent corrected this to:'));
          parts.set(index, { kind, raw: '' });
          piece(index, kind, full);
        } else piece(index, kind, full.slice(raw.length));
      }
      if (stream?.index === index) close();
    },
    codeLine(line) {
      if (!inCode) {
        close();
        gap();
        write('```\n');
        inCode = true;
      }
      write(`${line}\n`);
    },
    endCode,
    get inCode() {
      return inCode;
    },
    messageOver() {
      close();
      parts = new Map();
    },
    taken() {
      const text = out;
      out = '';
      return text;
    },
    get begun() {
      return begun;
    },
    get streaming() {
      return stream !== undefined;
    },
    newFile() {
      current = undefined;
      lineBreaks = 2;
    },
  };
}
