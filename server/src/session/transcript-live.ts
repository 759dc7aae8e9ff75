// The output of a tool that runs, line by line. Guarantees: pure; the same lines however the output was cut into pieces; what is
// shown at once is the beginning of what is shown at the end, so that nothing stands there twice; bounded, whatever a tool
// puts out. Must not know: facts, pages.
import { cutLine } from './transcript-text.ts';

export interface LiveOutput {
  /** Takes what was added, and gives the lines to show now; none from now on once it is `hidden`. */
  added(delta: string, hidden: boolean): string[];
  /** The output begins anew. */
  reset(): void;
  /** What was shown so far. */
  readonly shown: readonly string[];
  /** The newest lines that were given neither by {@link added} nor before by this. */
  newest(): string[];
}

/** Lines that are shown as they come, lines of a look at the newest, UTF-16 units of a line. */
export interface LiveKept {
  head: number;
  newest: number;
  width: number;
}

export function createLiveOutput({ head, newest, width }: LiveKept): LiveOutput {
  const shown: string[] = [];
  let last: string[] = [];
  let blank: string[] = [];
  /** Of a line that is not complete only what can be shown is kept, and a line break that may be half. */
  let rest = '';
  let half = '';
  let over = false;

  const take = (line: string): string[] => {
    const text = cutLine(line, width).trimEnd();
    if (text === '') {
      if (shown.length > 0 || blank.length > 0 || line !== '') blank.push('');
      if (blank.length > head) blank.pop();
      return [];
    }
    const lines = [...blank, text];
    blank = [];
    // A line like that might end the block.
    over ||= text.includes('```');
    const now = over ? [] : lines.slice(0, head - shown.length);
    shown.push(...now);
    over ||= shown.length >= head;
    last = [...last, ...lines.slice(now.length)].slice(-newest);
    return now;
  };
  return {
    added(delta, hidden) {
      over ||= hidden;
      const text = half + delta;
      half = text.endsWith('\r') ? '\r' : '';
      const lines = text.slice(0, text.length - half.length).split(/\r\n|\r|\n/);
      lines[0] = rest + lines[0]!;
      rest = lines.pop()!.slice(0, 4 * width);
      return lines.flatMap(take);
    },
    reset() {
      over ||= shown.length > 0;
      [last, blank, rest, half] = [[], [], '', ''];
    },
    shown,
    newest() {
      const lines = last;
      last = [];
      return lines;
    },
  };
}
