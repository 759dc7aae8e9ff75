// The pieces of the transcript that are written whole: tool calls, questions, one-liners. Guarantees: pure; output is bounded
// and cannot leave its block; every heading and one-liner bears the mark; no secret answer. Must not know: streams,
// files, what came before.
import type { Dialog, Fact, FactOf } from '../protocol/facts.ts';
import type { Block, Message, ToolResult } from '../protocol/records.ts';
import {
  bounded,
  cleaned,
  codeSpan,
  fenced,
  mark,
  oneLine,
  passage,
  quoted,
  remark,
} from './transcript-text.ts';

/** Lines of a tool's output and of a diff that are kept, and UTF-16 units of a line. */
export const outputKept = { head: 20, tail: 20, width: 500 };
const diffKept = { head: 200, tail: 100, width: 1000, exact: true };

/** ` 2026-12-01 05:14`, in the time zone of the process; empty where no time is known. */
export function timeOf(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '';
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  return ` ${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

const pathArguments = ['path', 'file_path', 'filePath', 'file'];
const mainArguments = ['command', ...pathArguments, 'pattern', 'query', 'url', 'name'];

/** The argument of a tool call that a person would look for; of a part of a file with its lines: `src/a.ts:10-19`. */
export function mainArgument(args: Record<string, unknown>): string | undefined {
  const told = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
  const { offset, limit } = args;
  const main = [...mainArguments.map((key) => args[key]), ...Object.values(args)].find(told);
  if (main !== pathOf(args) || typeof offset !== 'number' || offset < 1) return main;
  return `${main}:${offset}${typeof limit === 'number' ? `-${offset + limit - 1}` : ''}`;
}

const pathOf = (args: Record<string, unknown>): string | undefined =>
  pathArguments.map((key) => args[key]).find((value): value is string => typeof value === 'string');

/** `### bash `npm test` ◈`. The argument is the one that a person would look for. */
export function toolHeading(name: string, args: Record<string, unknown> = {}): string {
  const text = mainArgument(args) ?? (Object.keys(args).length ? JSON.stringify(args) : '');
  const argument = oneLine(text, 120);
  return `### ${oneLine(name, 60) || 'tool'} ${argument && `${codeSpan(argument)} `}${mark}`;
}

/** The diff that a tool tells. */
export function diffOf(result: ToolResult | undefined, failed: boolean): string | undefined {
  const details = result?.details as { diff?: unknown } | null | undefined;
  return typeof details?.diff === 'string' && !failed ? details.diff : undefined;
}

/** `src/a.ts:12`, where a tool changed a file first. */
function firstChange(result: ToolResult | undefined, failed: boolean, args: Record<string, unknown>): string {
  const diff = diffOf(result, failed);
  const path = pathOf(args);
  if (diff === undefined || path === undefined) return '';
  const { firstChangedLine: told } = result!.details as { firstChangedLine?: unknown };
  // `+12 text`, or the head of a hunk.
  const [, numbered] = /^[+-] *(\d+)/m.exec(diff) ?? /^@@ -\S+ \+(\d+)/m.exec(diff) ?? [];
  const line = typeof told === 'number' ? told : numbered;
  return line === undefined ? '' : remark(`The first change: ${codeSpan(oneLine(`${path}:${line}`))}`);
}

/** What a tool gave: its diff where it has one, else its output, bounded. */
export function toolOutput(
  result: ToolResult | undefined,
  failed: boolean,
  args: Record<string, unknown>,
): string {
  const diff = diffOf(result, failed);
  const text = diff === undefined ? bounded(textOf(result?.content), outputKept) : bounded(diff, diffKept);
  const after = afterOutput(result, failed);
  return [
    text ? fenced(text, diff === undefined ? '' : 'diff') : '',
    firstChange(result, failed, args),
    after,
    !text && !after ? remark('Done, without output.') : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** What stands below a tool's output. */
export const afterOutput = (result: ToolResult | undefined, failed: boolean): string =>
  [imagesOf(result?.content), failed ? remark('**Failed**') : ''].filter(Boolean).join('\n\n');

/** What a shell command of the user's gave. */
export function shellOutput(data: unknown): string {
  const { output, exitCode, cancelled, fullOutputPath } = (data ?? {}) as Record<string, unknown>;
  const text = bounded(typeof output === 'string' ? output : '', outputKept);
  const end = cancelled === true ? 'Stopped.' : exitCode === undefined ? '' : `Exit code ${exitCode}.`;
  const more = typeof fullOutputPath === 'string' ? `All of it: ${codeSpan(oneLine(fullOutputPath))}` : '';
  const line = [end, more].filter(Boolean).join(' ');
  return [text ? fenced(text) : '', line ? remark(line) : ''].filter(Boolean).join('\n\n');
}

/** The texts of a message's or result's content. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return blocksOf(content)
    .flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? [block.text] : []))
    .join('\n');
}

export const blocksOf = (content: unknown): Block[] =>
  Array.isArray(content)
    ? (content.filter((block) => typeof block === 'object' && block !== null) as Block[])
    : typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : [];

/** One line for each image. */
export const imagesOf = (content: unknown): string =>
  blocksOf(content)
    .flatMap((block) =>
      block.type === 'image' ? [remark(`Image (${oneLine(String(block.mimeType), 40)})`)] : [],
    )
    .join('\n\n');

/** An error: on one line where it is one. */
export function problem(label: string, text: string): string {
  const clean = cleaned(text).trim();
  if (!clean.includes('\n') && clean.length <= 1000) return remark(`**${label}:** ${clean}`);
  return `${remark(`**${label}:**`)}\n\n${fenced(clean)}`;
}

/** A question with its options and how to answer it; `before` others are open. */
export function dialogOpened(dialog: Dialog, before: number): string {
  const lines = [`### Question ${mark}`, '', passage(dialog.title) || 'The agent asks.'];
  if (dialog.message) lines.push('', passage(dialog.message));
  const options = dialog.options ?? (dialog.method === 'confirm' ? ['Yes', 'No'] : undefined);
  if (options) {
    lines.push('');
    options.forEach((label, at) => {
      const how = at < 9 ? ` (\`atomic.answer${at + 1}\`)` : '';
      lines.push(`${at + 1}. ${oneLine(label, 500) || '(empty)'}${how}`);
    });
  } else if (dialog.placeholder) lines.push('', `For example: ${oneLine(dialog.placeholder)}`);
  const more =
    (options?.length ?? 0) > 9 ? ' `atomic.answer` with `{"index": …}` takes the others (from 0).' : '';
  const how = options
    ? `Answer with the command beside an option, or refuse with \`atomic.dialogCancel\`.${more}`
    : 'Answer with `atomic.answer` and your text, or by saving its file in `answers/`; refuse with `atomic.dialogCancel`.';
  const until =
    dialog.deadline === undefined
      ? ''
      : ` The agent waits ${Math.round((dialog.deadline - dialog.openedAt) / 1000)} s.`;
  const others =
    before === 0
      ? ''
      : ` ${before === 1 ? '1 other question is' : `${before} other questions are`} open before it.`;
  lines.push('', remark(how + until + others));
  return lines.join('\n');
}

/** How a question ended. */
export function dialogSettled(
  dialog: Dialog | undefined,
  { outcome, by, answer }: FactOf<'dialog_settled'>,
): string {
  const title = dialog ? ` “${oneLine(dialog.title, 80)}”` : '';
  const who = by ? ` by ${oneLine(by.name, 40)}` : '';
  if (outcome !== 'answered') return remark(`Question${title} ${ends[outcome] ?? outcome}${who}.`);
  const line = `Question${title} answered${who}`;
  if (answer === undefined || dialog?.secret) return remark(`${line}.`);
  if (!answer.includes('\n') && answer.length <= 300)
    return remark(`${line}: ${oneLine(answer, 300) || '(empty)'}`);
  return `${remark(`${line}:`)}\n\n${quoted(answer)}`;
}

/** A question that was shown and not answered: of the moment, in no other transcript. */
export const stillOpen = (how: string): string => remark(`Still open: ${oneLine(how, 600)}`);
/** The line of {@link stillOpen} with the blank line after it. */
export const stillOpenPattern = new RegExp(`^${mark} Still open: .*\\n\\n?`, 'gm');

const ends: Record<string, string> = {
  cancelled: 'refused',
  expired: 'timed out: the agent decided by itself',
  withdrawn: 'withdrawn',
};

/** Texts that were queued and never sent. */
export const returned = (texts: readonly string[]): string =>
  [remark('Taken back from the queue, not sent:'), ...texts.map(quoted)].filter(Boolean).join('\n\n');

/** What the agent's own summary of older messages says. */
export function summary(message: Message): string {
  const tokens = typeof message.tokensBefore === 'number' ? ` (${message.tokensBefore} tokens before)` : '';
  const line =
    message.role === 'branchSummary'
      ? 'Summary of another branch:'
      : `The conversation was compacted${tokens}:`;
  return [remark(line), quoted(String(message.summary ?? textOf(message.content)))]
    .filter(Boolean)
    .join('\n\n');
}

/** What an agent or the bridge says of its doings, as a one-liner; empty for facts that say nothing to a reader. */
export function announcement(fact: Fact): string {
  switch (fact.type) {
    case 'auto_retry_start':
    case 'summarization_retry_scheduled': {
      const why = fact.errorMessage ? `: ${oneLine(fact.errorMessage, 300)}` : '.';
      const seconds = Math.round(fact.delayMs / 100) / 10;
      return remark(`Retry ${fact.attempt} of ${fact.maxAttempts} in ${seconds} s${why}`);
    }
    case 'auto_retry_end':
      return fact.success ? '' : problem('Retrying failed', fact.finalError || 'The agent gave up.');
    case 'compaction_start':
      return remark(`Compacting the conversation${fact.reason ? ` (${oneLine(fact.reason, 60)})` : ''}…`);
    case 'compaction_end':
      if (fact.errorMessage)
        return problem('Compaction failed', fact.errorMessage.replace(/^Compaction failed: /, ''));
      if (fact.aborted) return remark('The compaction was stopped.');
      return summary({ role: 'compactionSummary', ...fact.result });
    case 'extension_error':
      return problem(`Error in extension ${oneLine(fact.extensionPath ?? '', 120)}`, String(fact.error));
    case 'extension_ui_request':
      if (fact.method !== 'notify') return '';
      return remark(`${levels[String(fact.notifyType)] ?? ''}${oneLine(String(fact.message ?? ''), 1000)}`);
    case 'notice':
      return remark(`${levels[fact.level] ?? ''}${oneLine(String(fact.message), 1000)}`);
    default:
      return '';
  }
}

const levels: Record<string, string> = { warning: '**Warning:** ', error: '**Error:** ' };
