// The structure of a chat document: turns, tool calls, questions, thinking. Guarantees: pure and linear; found by the mark that only
// the transcript's own lines have, so that neither an answer nor what a person typed in between is taken for structure. Must
// not know: LSP, where a document comes from.
import { mark } from '../session/transcript-text.ts';

/** Lines are counted from 0, the last is included. */
export interface Part {
  kind: 'tool' | 'question' | 'shell' | 'thinking';
  /** `bash npm test`, without marks. */
  title: string;
  line: number;
  end: number;
}
export interface Turn {
  /** The first line of the prompt; empty for what stands before the first prompt. */
  title: string;
  line: number;
  end: number;
  /** The prompt as it stands there. */
  prompt: string;
  /** `1,234 tokens in, …`: everything that its answers used. */
  usage: string[];
  /** Lines of `## Atomic`. */
  answers: number[];
  parts: Part[];
}

const speaker = new RegExp(`^## (You|Atomic) ${mark}`);
const heading = new RegExp(`^### (.*?) ?${mark}$`);
const usage = new RegExp(`^${mark} ([\\d,]+ tokens in, .*)$`);
const thinking = '> *Thinking*';

/** The turns of a chat document, in order. */
export function outlineOf(text: string): Turn[] {
  const lines = text.split(/\r\n|\n|\r/);
  while (lines.length > 0 && lines.at(-1)!.trim() === '') lines.pop();
  const turns: Turn[] = [];
  let turn: Turn | undefined;
  const begin = (line: number, title: string, prompt: string) => {
    if (turn) turn.end = lastText(lines, turn.line, line - 1);
    turn = { title, line, end: line, prompt, usage: [], answers: [], parts: [] };
    turns.push(turn);
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const said = speaker.exec(line);
    if (said?.[1] === 'You') {
      const end = nextOwn(lines, at + 1);
      const prompt = lines
        .slice(at + 1, end)
        .join('\n')
        .trim();
      begin(at, prompt.split('\n', 1)[0]!, prompt);
      continue;
    }
    if (!turn && (said || heading.test(line))) begin(at, '', '');
    if (!turn) continue;
    if (said) turn.answers.push(at);
    const used = usage.exec(line);
    if (used) turn.usage.push(used[1]!);
    const named = heading.exec(line);
    const part: Part | undefined = named
      ? { ...partOf(named[1]!), line: at, end: endOfPart(lines, at, named[1]!) }
      : line === thinking
        ? { kind: 'thinking', title: 'Thinking', line: at, end: endOfQuote(lines, at) }
        : undefined;
    if (!part) continue;
    turn.parts.push(part);
    at = part.end;
  }
  if (turn) turn.end = lastText(lines, turn.line, lines.length - 1);
  return turns;
}

/** What the agent said in a turn, as it stands there: without thinking, tools, questions and the transcript's own lines. */
export function answerIn(text: string, { answers, end, parts }: Turn): string {
  const [from] = answers;
  if (from === undefined) return '';
  return text
    .split(/\r\n|\n|\r/)
    .slice(0, end + 1)
    .flatMap((line, at) => {
      const other =
        at < from || line.includes(mark) || parts.some((part) => part.line <= at && at <= part.end);
      return other ? [] : [line];
    })
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function partOf(title: string): Pick<Part, 'kind' | 'title'> {
  const plain = title.replace(/`+ ?(.*?) ?`+$/, '$1');
  if (title === 'Question') return { kind: 'question', title };
  return { kind: title.startsWith('You ran ') ? 'shell' : 'tool', title: plain };
}

/** The next line of the transcript's own. */
function nextOwn(lines: string[], from: number): number {
  let at = from;
  while (at < lines.length && !lines[at]!.includes(mark)) at += 1;
  return at;
}

/** A tool's output is fenced; a question goes on to its line with the mark. */
function endOfPart(lines: string[], from: number, title: string): number {
  if (title === 'Question') {
    const end = nextOwn(lines, from + 1);
    return end < lines.length && lines[end]!.startsWith(`${mark} `) ? end : lastText(lines, from, end - 1);
  }
  let end = from;
  for (let at = from + 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.trim() === '') continue;
    const [, fence] = /^(`{3,})/.exec(line) ?? [];
    if (fence) {
      let close = at + 1;
      while (close < lines.length && !(lines[close]!.trim() === fence)) close += 1;
      at = Math.min(close, lines.length - 1);
      end = at;
    } else if (line.startsWith(`${mark} `) && !usage.test(line)) end = at;
    else break;
  }
  return end;
}

function endOfQuote(lines: string[], from: number): number {
  let at = from;
  while (at + 1 < lines.length && lines[at + 1]!.startsWith('>')) at += 1;
  return at;
}

function lastText(lines: string[], from: number, to: number): number {
  let at = to;
  while (at > from && lines[at]!.trim() === '') at -= 1;
  return at;
}
