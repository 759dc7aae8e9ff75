// The progress that an editor shows (LSP: "Work Done Progress"). Guarantees: one begin and one end for each time of work, in
// that order; no more reports than the editor bears; text is one short line. Must not know: the hub, dialogs.
import type { Snapshot, ToolRun } from '../protocol/snapshot.ts';
import { phaseOf } from '../session/fold.ts';
import type { Clock } from '../session/ports.ts';
import { type Client, oneLine } from './client.ts';

export interface Progress {
  update(snapshot: Snapshot): void;
  /** The work is out of sight: ends what is shown. */
  end(): void;
  /** Whether the editor's token is one of ours that is being shown. */
  owns(token: unknown): boolean;
}

/** Milliseconds that an editor may take to know the token. */
const createLimit = 2000;
/** Milliseconds after which an end is said again where it may be lost. */
const again = 3000;
const tailLength = 60;

/** `token` makes a new token; `title` is the heading of what is shown. */
export function createProgress(
  client: Client,
  clock: Clock,
  token: () => string,
  title: () => string,
): Progress {
  let shown: { token: string; begun: boolean; over: boolean } | undefined;
  let text = '';
  let told = '';
  let quietUntil = 0;
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
    const mine = { token: token(), begun: false, over: false };
    shown = mine;
    told = '';
    quietUntil = 0;
    const begun = () => {
      if (mine.over) return;
      mine.begun = true;
      told = text;
      quietUntil = clock.now() + 1000 / client.traits.reportsPerSecond;
      send(mine.token, { kind: 'begin', title: title(), cancellable: true, message: text });
    };
    // Whatever the answer is: some editors refuse and show it all the same, some never answer.
    client
      .request('window/workDoneProgress/create', { token: mine.token }, { limit: createLimit })
      .then(begun, begun);
  };
  const end = () => {
    if (!shown) return;
    const { token, begun } = shown;
    shown.over = true;
    shown = undefined;
    cancelReport?.();
    cancelReport = undefined;
    if (!begun) return;
    send(token, { kind: 'end' });
    if (client.traits.repeatsEnd) clock.after(again, () => send(token, { kind: 'end' }));
  };

  return {
    update(snapshot) {
      if (!client.traits.progress) return;
      const doing = doingOf(snapshot);
      if (doing === undefined) return end();
      const statuses = Object.values(snapshot.statuses).map((status) => oneLine(status, 40));
      text = [doing, ...statuses, ...(snapshot.title ? [oneLine(snapshot.title, 40)] : [])].join(' · ');
      if (!shown) begin();
      else plan();
    },
    end,
    owns: (token) => shown !== undefined && shown.token === token,
  };
}

/** What the agent does now, in a few words; undefined when it rests. */
export function doingOf(snapshot: Snapshot): string | undefined {
  const phase = phaseOf(snapshot);
  if (snapshot.dialogs.length > 0 && phase !== 'idle')
    return `waits for an answer: ${oneLine(snapshot.dialogs[0]!.title, tailLength)}`;
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
      const { attempt, maxAttempts, errorMessage } = snapshot.retry!;
      const why = errorMessage ? `: ${oneLine(errorMessage, tailLength)}` : '';
      return `retry ${attempt} of ${maxAttempts}${why}`;
    }
  }
}

function toolLine({ toolName, args }: ToolRun): string {
  const first = Object.values(args).find((value) => typeof value === 'string' && value.trim() !== '');
  return first === undefined ? toolName : `${toolName}: ${firstLine(first as string)}`;
}

const firstLine = (text: string): string => oneLine(text.trim().split('\n', 1)[0]!, tailLength);

/** The end of the last line that is not blank. */
function lastLine(text: string): string {
  const line = text.slice(-1000).trimEnd().split('\n').at(-1)!.trim();
  return line.length > tailLength ? `…${line.slice(1 - tailLength)}` : line;
}
