// Tool calls on the page of a transcript. Guarantees: each output stands under its heading, which is written again where other
// text came in between; the beginning of an output is shown while the tool runs; an output is written once. Must not know:
// messages, streams of text, files.
import type { FactOf } from '../protocol/facts.ts';
import type { ToolResult } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import * as blocks from './transcript-blocks.ts';
import { createLiveOutput, type LiveOutput } from './transcript-live.ts';
import type { Page } from './transcript-page.ts';
import { boundedLines, codeSpan, fenced, mark, oneLine, remark } from './transcript-text.ts';

export interface TranscriptTools {
  /** A call is known by name. */
  named(id: string, name: string, args: Record<string, unknown>): void;
  isNamed(id: string): boolean;
  started(fact: FactOf<'tool_execution_start'>): void;
  /** Output that is shown while the call is the last thing on the page. */
  added(fact: FactOf<'tool_execution_update'>): void;
  ended(id: string, result: ToolResult | undefined, failed: boolean): void;
  /** Writes what calls had put out that will have no end, and forgets all. */
  over(snapshot: Snapshot): void;
  /** Outputs may come again: the conversation is another. */
  again(): void;
  /** Something else is written. */
  interrupted(): void;
  /** A look at the newest output of calls that have run for a while: ever less often. `now` in milliseconds since the epoch. */
  looked(now: number): void;
}

/** Milliseconds after which a call's newest output is looked at; then twice as many each time, up to the last. */
const looks = { first: 5000, last: 60_000 };
const live = { head: blocks.outputKept.head, newest: 5, width: blocks.outputKept.width };

interface Call {
  name: string;
  args: Record<string, unknown>;
  startedAt?: number;
  output?: LiveOutput;
  /** When it is looked at next, and how long after that. */
  look: number;
  wait: number;
}

export function createTranscriptTools(page: Page): TranscriptTools {
  const calls = new Map<string, Call>();
  const written = new Set<string>();
  let underHeading: string | undefined;

  const callOf = (id: string): Call => calls.get(id) ?? { name: 'tool', args: {}, look: 0, wait: 0 };
  const block = (text: string) => {
    if (text) page.block(text);
  };
  const head = (id: string) => {
    if (underHeading === id) return;
    const { name, args } = callOf(id);
    page.speaker('Atomic');
    block(blocks.toolHeading(name, args));
    underHeading = id;
  };
  const ended: TranscriptTools['ended'] = (id, result, failed) => {
    if (written.has(id)) return;
    written.add(id);
    head(id);
    const call = callOf(id);
    const { output } = call;
    delete call.output;
    const shown = page.inCode && output ? output.shown : [];
    const lines =
      blocks.diffOf(result, failed) === undefined
        ? boundedLines(blocks.textOf(result?.content), blocks.outputKept)
        : [];
    const rest = lines.slice(shown.length);
    if (
      shown.length === 0 ||
      shown.some((line, n) => line !== lines[n]) ||
      rest.some((line) => line.includes('```'))
    )
      return block(blocks.toolOutput(result, failed, call.args));
    for (const line of rest) page.codeLine(line);
    page.endCode();
    block(blocks.afterOutput(result, failed));
  };

  return {
    named(id, name, args) {
      calls.set(id, { ...callOf(id), name, args });
    },
    isNamed: (id) => calls.has(id),
    started({ toolCallId: id, toolName: name, args, at }) {
      written.delete(id);
      calls.set(id, {
        name,
        args,
        output: createLiveOutput(live),
        look: (at ?? 0) + looks.first,
        wait: looks.first,
        ...(at !== undefined && { startedAt: at }),
      });
      head(id);
    },
    added({ toolCallId: id, delta, reset }) {
      const output = calls.get(id)?.output;
      if (!output) return;
      if (reset) output.reset();
      const hidden = underHeading !== id || (output.shown.length > 0 && !page.inCode);
      for (const line of output.added(delta, hidden)) page.codeLine(line);
    },
    ended,
    over({ tools }) {
      for (const { toolCallId, output, status } of Object.values(tools))
        if (status === 'failed' && calls.has(toolCallId) && output)
          ended(toolCallId, { content: blocks.blocksOf(output) }, true);
      calls.clear();
      written.clear();
    },
    again: () => written.clear(),
    interrupted() {
      underHeading = undefined;
    },
    looked(now) {
      if (page.streaming) return;
      for (const call of calls.values()) {
        const { output, startedAt } = call;
        if (!output || startedAt === undefined || now < call.look) continue;
        const lines = output.newest();
        call.wait = Math.min(2 * call.wait, looks.last);
        call.look = now + call.wait;
        if (lines.length === 0) continue;
        underHeading = undefined;
        block(lookText(blocks.mainArgument(call.args) ?? call.name, now - startedAt, lines));
      }
    },
  };
}

const lookText = (what: string, milliseconds: number, lines: string[]): string =>
  `${remark(`${codeSpan(oneLine(what, 60))} has run for ${Math.round(milliseconds / 1000)} s, its last lines:`)}\n\n${fenced(lines.join('\n'))}`;

/** What {@link TranscriptTools.looked} writes, with the blank line after it: of the moment, in no other transcript. */
export const lookPattern = new RegExp(
  `^${mark} .* has run for \\d+ s, its last lines:\\n\\n(\`{3,})\\n[\\s\\S]*?\\n\\1\\n\\n?`,
  'gm',
);
