// Facts as text for a terminal. Guarantees: pure; the answer's text and nothing else is for `out`, so that it can be piped;
// a tool call is one line; on a terminal nothing of the agent's can move the cursor or set the clipboard. Must not know:
// streams, when a prompt is over.
import type { AssistantDelta, Fact, FactOf, FactType } from '../protocol/facts.ts';
import type { Message } from '../protocol/records.ts';
import type { MessageInFlight } from '../protocol/snapshot.ts';
import { mainArgument } from '../session/transcript-blocks.ts';

export interface Piece {
  to: 'out' | 'err';
  text: string;
}

export interface RenderOptions {
  /** Output is a terminal: control characters are left out. */
  outTty: boolean;
  /** Errors are a terminal: thinking is shown, dim; running tools are shown. */
  errTty: boolean;
  /** Shows what users say too, as whoever follows a session needs it. */
  users?: boolean;
}

export interface Renderer {
  fact(fact: Fact): Piece[];
  /** A line for the person that is no answer. */
  remark(text: string): Piece[];
  /** After a gap: what of the message in flight was not shown yet. */
  resync(message: MessageInFlight | null): Piece[];
  /** Ends what is open, so that a shell's prompt begins a line. */
  end(): Piece[];
}

/** Characters of a tool's argument or of a remark's first line. */
const shownLength = 100;

export function createRenderer(options: RenderOptions): Renderer {
  const { outTty, errTty, users = false } = options;
  const shared = outTty && errTty;
  let pieces: Piece[] = [];
  const lineOpen = { out: false, err: false };
  let thinking = false;
  /** The tool whose line was begun and is the last thing written. */
  let begun: string | undefined;
  /** Text of the message in flight that was shown, by block. */
  let shown = new Map<number, string>();

  const put = (to: 'out' | 'err', text: string) => {
    if (text === '') return;
    pieces.push({ to, text });
    lineOpen[to] = !text.endsWith('\n');
  };
  const closeLine = (to: 'out' | 'err') => {
    if (lineOpen[to]) put(to, '\n');
  };
  const endThinking = () => {
    if (!thinking) return;
    thinking = false;
    put('err', '\x1b[22m');
    lineOpen.err = true;
    closeLine('err');
  };
  const endBegun = () => {
    if (begun === undefined) return;
    begun = undefined;
    closeLine('err');
  };
  const answer = (text: string) => {
    endThinking();
    endBegun();
    put('out', outTty ? harmless(text) : text);
  };
  /** A whole line for the person. On one screen it must not begin inside the answer's line. */
  const remark = (text: string) => {
    endThinking();
    endBegun();
    if (shared && lineOpen.out) {
      // The break belongs to the screen and not to the answer, which may go on.
      put('err', '\n');
      lineOpen.out = false;
    }
    put('err', `${errTty ? harmless(text) : text}\n`);
  };
  const think = (text: string) => {
    if (!errTty) return;
    endBegun();
    if (!thinking) {
      if (shared && lineOpen.out) put('err', '\n');
      lineOpen.out = shared ? false : lineOpen.out;
      put('err', '\x1b[2m');
    }
    thinking = true;
    put('err', harmless(text));
  };

  const delta = (event: AssistantDelta) => {
    const { contentIndex: at } = event;
    switch (event.type) {
      case 'text_start':
        closeLine('out');
        break;
      case 'text_delta':
        shown.set(at, (shown.get(at) ?? '') + event.delta);
        answer(event.delta);
        break;
      case 'text_end':
        if (event.content !== undefined) rest(at, event.content);
        break;
      case 'thinking_delta':
        think(event.delta);
        break;
      case 'thinking_end':
        endThinking();
        break;
    }
  };
  /** What of a block's text was not shown yet; text that was changed afterwards is shown whole. */
  const rest = (at: number, text: string) => {
    const before = shown.get(at) ?? '';
    if (before === text) return;
    shown.set(at, text);
    if (text.startsWith(before)) return answer(text.slice(before.length));
    closeLine('out');
    answer(text);
  };

  const toolLine = (mark: string, name: string, args: Record<string, unknown> | undefined) =>
    `${mark} ${oneLine(name)}${args ? argumentOf(args) : ''}`;
  const argsOf = new Map<string, Record<string, unknown>>();

  const each: { [T in FactType]?: (fact: FactOf<T>) => void } = {
    message_start({ message }) {
      shown = new Map();
      if (users && message.role === 'user') remark(`› ${textOf(message)}`);
    },
    message_update: (fact) => delta(fact.assistantMessageEvent),
    message_end({ message }) {
      if (message.role === 'assistant' && shown.size === 0) {
        const text = textOf(message);
        if (text !== '') {
          closeLine('out');
          answer(text);
        }
      }
      endThinking();
      closeLine('out');
      if (message.role === 'custom' && message.display === true) remark(textOf(message));
      shown = new Map();
    },
    tool_execution_start(fact) {
      argsOf.set(fact.toolCallId, fact.args);
      if (!errTty) return;
      remark(toolLine('…', fact.toolName, fact.args));
      // Left open, so that its end takes its place.
      const last = pieces.pop()!;
      pieces.push({ to: 'err', text: last.text.slice(0, -1) });
      lineOpen.err = true;
      begun = fact.toolCallId;
    },
    tool_execution_end(fact) {
      const text = toolLine(fact.isError ? '✗' : '✓', fact.toolName, argsOf.get(fact.toolCallId));
      argsOf.delete(fact.toolCallId);
      if (begun === fact.toolCallId) {
        begun = undefined;
        put('err', `\r\x1b[K${harmless(text)}\n`);
      } else remark(text);
    },
    auto_retry_start: (fact) =>
      remark(
        `Trying again in ${Math.round(fact.delayMs / 100) / 10} s (attempt ${fact.attempt} of ${fact.maxAttempts})${fact.errorMessage ? `: ${oneLine(fact.errorMessage)}` : ''}`,
      ),
    compaction_start: () => remark('The conversation is being compacted.'),
    compaction_end: (fact) => {
      if (fact.errorMessage) remark(`The compaction failed: ${oneLine(fact.errorMessage)}`);
    },
    extension_error: (fact) => remark(`An extension failed: ${oneLine(fact.error)}`),
    extension_ui_request(fact) {
      if (fact.method === 'notify' && typeof fact.message === 'string')
        remark(
          `${fact.notifyType === 'error' ? '✗' : fact.notifyType === 'warning' ? '!' : '·'} ${fact.message}`,
        );
    },
    notice: (fact) => remark(fact.message),
    queue_returned: (fact) => remark(`Taken back from the queue: ${fact.texts.map(oneLine).join(' | ')}`),
    agent_exited(fact) {
      argsOf.clear();
      if (!fact.expected && users) remark(fact.message);
    },
  };

  const taken = (): Piece[] => {
    const result = pieces;
    pieces = [];
    return result;
  };
  return {
    fact(fact) {
      (each[fact.type] as ((fact: Fact) => void) | undefined)?.(fact);
      return taken();
    },
    remark(text) {
      remark(text);
      return taken();
    },
    resync(message) {
      const blocks = message?.role === 'assistant' ? message.blocks : [];
      const known = blocks.some(
        ({ text }, at) => (shown.get(at) ?? '') !== '' && text.startsWith(shown.get(at)!),
      );
      if (shown.size > 0 && !known) {
        shown = new Map();
        remark('(A part of the answer came faster than it could be shown: it is in the chat.)');
      }
      for (const [at, block] of blocks.entries()) if (block.kind === 'text') rest(at, block.text);
      return taken();
    },
    end() {
      endThinking();
      endBegun();
      closeLine('out');
      closeLine('err');
      return taken();
    },
  };
}

/** A text without characters that command a terminal; line breaks and tabs stay. */
export const harmless = (text: string): string =>
  text.replace(/\r\n/g, '\n').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');

/** The first line that is not blank, shortened: a script or a message keeps its beginning, where the transcript joins all lines. */
export function oneLine(text: string): string {
  const [first = '', ...more] = harmless(text)
    .split('\n')
    .map((it) => it.trim())
    .filter((it) => it !== '');
  const cut = [...first];
  if (cut.length > shownLength) return `${cut.slice(0, shownLength - 1).join('')}…`;
  return more.length > 0 ? `${first} …` : first;
}

/** The argument that says most about a tool call, with a blank before it; empty when there is none. */
function argumentOf(args: Record<string, unknown>): string {
  const main = mainArgument(args);
  return main === undefined ? '' : ` ${oneLine(main)}`;
}

/** The text of a message; images are named. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((block) =>
      block.type === 'text'
        ? String(block.text)
        : block.type === 'image'
          ? `[image ${String(block.mimeType)}]`
          : '',
    )
    .filter((text) => text !== '')
    .join('\n');
}
