// The progress that an editor shows (LSP: "Work Done Progress"). Guarantees: one begin and one end for each time of work, in
// that order; no more reports than the editor bears; text is one short line. Must not know: the hub, dialogs.
import type { Dialog } from '../protocol/facts.ts';
import type { Snapshot, ToolRun } from '../protocol/snapshot.ts';
import { phaseOf } from '../session/fold.ts';
import type { Clock } from '../session/ports.ts';
import { mainArgument } from '../session/transcript-blocks.ts';
import { turnUsage } from '../session/usage.ts';
import { type Client, oneLine } from './client.ts';
import { announcement } from './question.ts';

export interface Progress {
  update(snapshot: Snapshot): void;
  /** The work is out of sight: ends what is shown. */
  end(summary?: string): void;
  /** Whether the editor's token is one of ours that is being shown. */
  owns(token: unknown): boolean;
}

/** Milliseconds that an editor may take to know the token. */
const createLimit = 2000;
/** Milliseconds after which an end is said again where it may be lost. */
const again = 3000;
/** Milliseconds without news after which that is said, and said again. */
const silence = 30_000;
const tailLength = 60;

interface Shown {
  token: string;
  begun: boolean;
  over: boolean;
  /** Milliseconds of the clock. */
  since: number;
  /** What is told with the end. */
  summary: string;
}

/** `token` makes a new token; `title` is the heading of what is shown. */
export function createProgress(
  client: Client,
  clock: Clock,
  token: () => string,
  title: () => string,
): Progress {
  let shown: Shown | undefined;
  let cancelCount: (() => void) | undefined;
  let text = '';
  let told = '';
  let quietUntil = 0;
  let heardAt = 0;
  let cancelReport: (() => void) | undefined;

  const send = (token: string, value: object) => client.notify('$/progress', { token, value });
  const report = () => {
    cancelReport = undefined;
    if (!shown?.begun || text === told) return;
    told = text;
    quietUntil = clock.now() + 1000 / client.traits.reportsPerSecond;
    send(shown.token, { kind: 'report', message: text });
  };
  const plan = () => {
    if (!shown?.begun || text === told || cancelReport) return;
    const wait = quietUntil - clock.now();
    if (wait <= 0) report();
    else cancelReport = clock.after(wait, report);
  };
  const begin = () => {
    const mine: Shown = { token: token(), begun: false, over: false, since: clock.now(), summary: '' };
    shown = mine;
    told = '';
    quietUntil = 0;
    const begun = () => {
      mine.begun = true;
      told = text;
      quietUntil = clock.now() + 1000 / client.traits.reportsPerSecond;
      send(mine.token, { kind: 'begin', title: title(), cancellable: true, message: text });
      // The work was shorter than the way of the token.
      if (mine.over) over(mine);
    };
    // Whatever the answer is: some editors refuse and show it all the same, some never answer.
    client
      .request('window/workDoneProgress/create', { token: mine.token }, { limit: createLimit })
      .then(begun, begun);
  };
  const over = ({ token, summary, since }: Shown) => {
    const { hidesMessages, repeatsEnd } = client.traits;
    const ended = clock.now();
    const end = (message = '') => send(token, { kind: 'end', ...(message && { message }) });
    // Some editors show no text that comes with the end.
    if (summary && !hidesMessages) send(token, { kind: 'report', message: summary });
    end(summary);
    if (hidesMessages) client.again(since);
    if (!repeatsEnd) return;
    clock.after(again, () => {
      end(shown ? '' : summary);
      if (hidesMessages && !client.again(ended, true)) client.again(since);
    });
  };
  const end = (summary = '') => {
    cancelReport?.();
    cancelReport = undefined;
    cancelCount?.();
    cancelCount = undefined;
    if (!shown) return;
    const mine = shown;
    shown = undefined;
    mine.over = true;
    mine.summary = summary;
    if (mine.begun) over(mine);
  };
  /** While a retry is waited for, the seconds are counted down; else those without news are counted. */
  const count = (snapshot: Snapshot) => {
    cancelCount?.();
    const every = phaseOf(snapshot) === 'retrying' ? 1000 : silence;
    cancelCount = clock.after(every, () => say(snapshot));
  };
  /** Where progress takes the place of the message, it says how to answer. */
  const asked = (dialog: Dialog) =>
    client.traits.hidesMessages && !client.traits.answersMessages ? announcement(dialog) : titleOf(dialog);
  const silent = ({ dialogs }: Snapshot): string[] => {
    const seconds = Math.floor((clock.now() - heardAt) / silence) * (silence / 1000);
    return seconds > 0 && dialogs.length === 0 ? [`no news for ${seconds} s`] : [];
  };
  const say = (snapshot: Snapshot) => {
    const doing = doingOf(snapshot, clock.now(), asked);
    if (doing === undefined) return end(turnUsage(snapshot));
    const statuses = Object.values(snapshot.statuses).map((status) => oneLine(status, 40));
    text = [
      doing,
      ...silent(snapshot),
      ...statuses,
      ...(snapshot.title ? [oneLine(snapshot.title, 40)] : []),
    ].join(' · ');
    if (!shown) begin();
    else plan();
    count(snapshot);
  };

  return {
    update(snapshot) {
      heardAt = clock.now();
      if (client.traits.progress) say(snapshot);
    },
    end,
    owns: (token) => shown !== undefined && shown.token === token,
  };
}

const titleOf = ({ title }: Dialog): string => oneLine(title, tailLength);

/** What the agent does now, in a few words; undefined when it rests. `now` in milliseconds since the epoch. */
export function doingOf(snapshot: Snapshot, now: number, asked = titleOf): string | undefined {
  const phase = phaseOf(snapshot);
  if (snapshot.dialogs.length > 0 && phase !== 'idle')
    return `waits for you${several(snapshot.dialogs.length)}: ${asked(snapshot.dialogs[0]!)}`;
  switch (phase) {
    case 'idle': {
      const bash = Object.values(snapshot.bash).at(-1);
      return bash && `$ ${firstLine(bash.command ?? 'shell command')}`;
    }
    case 'waiting':
      return 'waits for the model';
    case 'thinking':
      return 'thinking';
    case 'writing': {
      const block = snapshot.message?.blocks.at(-1);
      if (block?.kind === 'toolcall') return `prepares ${block.toolName ?? 'a tool'}`;
      const tail = lastLine(block?.text ?? '');
      return tail ? `writing: ${tail}` : 'writing';
    }
    case 'tool': {
      const running = Object.values(snapshot.tools).filter(({ status }) => status === 'running');
      const more = running.length > 1 ? ` (+${running.length - 1})` : '';
      return `${toolLine(running.at(-1)!)}${more}`;
    }
    case 'compacting':
      return 'compacting the conversation';
    case 'retrying': {
      const { attempt, maxAttempts, errorMessage, since, delayMs } = snapshot.retry!;
      const left = Math.ceil((since + delayMs - now) / 1000);
      const why = errorMessage ? `: ${oneLine(errorMessage, tailLength)}` : '';
      return `retry ${attempt} of ${maxAttempts}${left > 0 ? ` in ${left} s` : ''}${why}`;
    }
  }
}

function toolLine({ toolName, args }: ToolRun): string {
  const target = mainArgument(args);
  return target === undefined ? toolName : `${toolName}: ${firstLine(target)}`;
}

const several = (questions: number): string => (questions > 1 ? ` (${questions} questions)` : '');

const firstLine = (text: string): string => oneLine(text.trim().split('\n', 1)[0]!, tailLength);

/** The end of the last line that is not blank. */
function lastLine(text: string): string {
  const line = text.slice(-1000).trimEnd().split('\n').at(-1)!.trim();
  return line.length > tailLength ? `…${line.slice(1 - tailLength)}` : line;
}
