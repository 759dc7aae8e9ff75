// The end of a transcript, for a view that stays small. Guarantees: pure; cut only before a turn, which other text cannot imitate
// (session/transcript-text.ts: the mark). Must not know: LSP, files.
import { stillOpenPattern } from '../session/transcript-blocks.ts';
import { mark, remark } from '../session/transcript-text.ts';
import { lookPattern } from '../session/transcript-tools.ts';

/** Turns that a view begins with, and UTF-16 units. */
const viewKept = { turns: 40, units: 200_000 };

const turn = new RegExp(`^## You ${mark}.*$`, 'gm');

/** Where turns begin: offsets into the text. */
export const turnsOf = (text: string): number[] => [...text.matchAll(turn)].map(({ index }) => index);

/** Where the shown end of a transcript begins, and how many turns stand before it. At least one turn is shown. */
export function tailStart(
  text: string,
  kept: { turns: number; units: number } = viewKept,
): { at: number; left: number } {
  const turns = turnsOf(text);
  let first = turns.length;
  while (
    first > 0 &&
    (first === turns.length ||
      (turns.length - first < kept.turns && text.length - turns[first - 1]! <= kept.units))
  )
    first -= 1;
  return first === 0 ? { at: 0, left: 0 } : { at: turns[first]!, left: first };
}

/** The first line of a view that does not begin at the beginning. */
export const headLine = (left: number): string =>
  remark(
    `${left} earlier ${left === 1 ? 'turn is' : 'turns are'} left out here: \`atomic.olderTurns\` shows more, \`chat.md\` beside this folder has all.`,
  );
/** The line of {@link headLine}, whatever its number is. */
export const headPattern = new RegExp(`^${mark} \\d+ earlier turns? (is|are) left out here: .*$`, 'm');

/** The only line of a view of a conversation that has not begun. */
export const emptyView = `${remark('Nothing was said yet: `atomic.compose` opens the prompt file, saving it sends it.')}\n\n`;

/** What a document that shows a transcript lacks, and how many line breaks at its end it has already. */
export interface Missing {
  text: string;
  breaks: number;
}

/** Lines at a document's end that may be a person's own. */
const ownLines = 200;

/**
 * What is to be added at a document's end. Undefined where the document shows nothing of this transcript. What a person wrote
 * at the end, and remarks of the moment, are passed over.
 */
export function missingIn(document: string, transcript: string): Missing | undefined {
  const normal = document.replace(/\r\n?/g, '\n');
  const breaks = breaksAt(normal);
  const lines = normal.replace(lookPattern, '').replace(stillOpenPattern, '').replace(/\n+$/, '').split('\n');
  for (let kept = lines.length; kept > Math.max(0, lines.length - ownLines); kept -= 1) {
    if (lines[kept - 1]!.trim() === '') continue;
    const end = lines.slice(0, kept).join('\n').slice(-80);
    const at = transcript.lastIndexOf(end);
    if (at < 0 || end.length < Math.min(20, transcript.length)) continue;
    const text = transcript.slice(at + end.length);
    const common = Math.min(/^\n*/.exec(text)![0].length, breaks);
    return { text: text.slice(common), breaks: common };
  }
  const begun = lines.some((line) => line.startsWith('## ') && line.includes(mark));
  return begun || (normal.trim() !== '' && !normal.includes(emptyView.trim()))
    ? undefined
    : { text: transcript, breaks };
}

/** How many line breaks a text ends with. */
export const breaksAt = (text: string): number => /\n*$/.exec(text)![0].length;
