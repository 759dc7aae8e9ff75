// The transcript: a session as Markdown that only grows. Guarantees: pure; what is returned belongs at the exact end of what
// was returned before; `\n` only; merged facts give the same text as exact ones; text of others stands as it is (cleaned),
// but headings and one-liners of the transcript bear a mark that other text cannot have, and no code fence stays open over
// one. Must not know: files, editors.
import { shellCommands } from '../protocol/commands-prompting.ts';
import type { Dialog, Fact, FactOf } from '../protocol/facts.ts';
import type { Message } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { noUsage, usageWith } from './fold-message.ts';
import * as blocks from './transcript-blocks.ts';
import { createPage } from './transcript-page.ts';
import { codeSpan, mark, oneLine, passage, remark } from './transcript-text.ts';
import { createTranscriptTools } from './transcript-tools.ts';
import { usageLine } from './usage.ts';

/** How far a transcript has come: enough to go on in another process. */
export interface TranscriptPosition {
  /** `sessionId` of the conversation. */
  session?: string;
  /** Identity of the last message that is in it. */
  last?: string;
}

export interface Transcript {
  /** The text that this fact adds; `after` is the snapshot with it. May be empty, may end within a line. */
  appended(fact: Fact, after: Snapshot): string;
  /** The newest output of tools that have run for a while, which no other transcript has. `now` in milliseconds since the epoch. */
  looked(now: number): string;
  /** A line that only this transcript has; for when it is at rest. */
  noted(line: string): string;
  readonly position: TranscriptPosition;
  /** No text is being streamed. */
  readonly atRest: boolean;
  /** From here on the text stands in a new file: the next speaker is named again. */
  newFile(): void;
}

/** A message's identity as far as dialects give one. */
function identityOf({ role, timestamp, toolCallId, content }: Message): string {
  const text = blocks.textOf(content);
  return JSON.stringify([role, timestamp ?? 0, toolCallId ?? '', text.length, text.slice(0, 40)]);
}

/** A transcript; with a position it goes on under a rule, and a conversation read again adds only what is new. */
export function createTranscript(from?: TranscriptPosition): Transcript {
  const page = createPage(from !== undefined);
  let position: TranscriptPosition = from ?? {};
  const tools = createTranscriptTools(page);
  const dialogs = new Map<string, Dialog>();
  const shells = new Map<string, string>();
  /** Shell commands since the last message: they come back when the conversation is read again. */
  const shellsWritten = new Set<string>();
  let said = '';
  /** Since the last prompt. */
  let used = noUsage();
  let contextWindow: number | undefined;
  let queued: string[] = [];
  /** Said when no text is being streamed. */
  let queuedLines: string[] = [];

  const block = (text: string) => {
    if (!text) return;
    tools.interrupted();
    page.block(text);
  };
  const queueTold = () => {
    for (const line of queuedLines) block(line);
    queuedLines = [];
  };
  const assistantEnded = (message: Message, at: number | undefined) => {
    page.time(message.timestamp ?? at);
    blocks.blocksOf(message.content).forEach((part, index) => {
      if (part.type === 'text') page.completed(index, 'text', String(part.text ?? ''));
      else if (part.type === 'thinking') page.completed(index, 'thinking', String(part.thinking ?? ''));
      else if (part.type === 'toolCall') tools.named(part.id, part.name, part.arguments ?? {});
    });
    page.messageOver();
    queueTold();
    block(blocks.imagesOf(message.content));
    said = '';
    outcome(message.stopReason, message.errorMessage);
    used = usageWith(used, message);
    // Otherwise the turn goes on.
    if (message.stopReason === 'toolUse') return;
    const line = usageLine(used, message, contextWindow);
    block(line && remark(line));
    used = noUsage();
  };
  /** Said once, whether the message or the end of the run tells it first. */
  const outcome = (stopReason: string | undefined, error: string | undefined) => {
    const text =
      stopReason === 'aborted'
        ? remark('Stopped.')
        : stopReason === 'error'
          ? blocks.problem('Error', error || 'The model gave no reason.')
          : stopReason === 'length'
            ? remark('The answer was cut: the model’s limit of tokens was reached.')
            : '';
    if (text && text !== said) block(text);
    said = text;
  };

  const messageEnded = (message: Message, at?: number) => {
    const content = message.content;
    shellsWritten.clear();
    switch (message.role) {
      case 'assistant':
        return assistantEnded(message, at);
      case 'user':
        used = noUsage();
        page.time(message.timestamp ?? at);
        page.speaker('You', true);
        block(passage(blocks.textOf(content)));
        return block(blocks.imagesOf(content));
      case 'toolResult': {
        const id = message.toolCallId ?? '';
        if (!tools.isNamed(id)) tools.named(id, message.toolName ?? 'tool', {});
        return tools.ended(
          id,
          { content: blocks.blocksOf(content), details: message.details },
          message.isError === true,
        );
      }
      case 'bashExecution':
        return shellEnded(String(message.command ?? ''), message);
      case 'compactionSummary':
      case 'branchSummary':
        return block(blocks.summary(message));
      default: {
        const text = passage(blocks.textOf(content));
        if (message.display === false || !text) return;
        const kind = oneLine(String(message.customType ?? message.role), 60);
        page.speaker(undefined);
        block(`### ${kind} ${mark}`);
        return block(text);
      }
    }
  };
  const shellEnded = (command: string, data: unknown) => {
    page.speaker(undefined);
    block(`### You ran ${codeSpan(oneLine(command, 120) || 'a command')} ${mark}`);
    block(blocks.shellOutput(data));
    shellsWritten.add(command);
  };

  const sessionReplaced = ({ state, messages, olderMessages, reason }: FactOf<'session_replaced'>) => {
    page.messageOver();
    const same = state.sessionId !== undefined && state.sessionId === position.session;
    const known = same ? messages.findLastIndex((message) => identityOf(message) === position.last) : -1;
    const fresh = messages
      .slice(known + 1)
      .filter(
        ({ role, command }) => !(same && role === 'bashExecution' && shellsWritten.has(String(command))),
      );
    const first = position.session === undefined && !page.begun;
    const last = messages.at(-1);
    position = {
      ...(state.sessionId !== undefined && { session: state.sessionId }),
      ...(last ? { last: identityOf(last) } : same && position.last !== undefined && { last: position.last }),
    };
    if (fresh.length === 0 && (same || first)) return;
    tools.again();
    page.speaker(undefined);
    if (page.begun) block('---');
    const name = state.sessionName ? ` “${oneLine(state.sessionName, 80)}”` : '';
    const what =
      known >= 0 ? 'The conversation goes on' : same || first ? 'The conversation' : 'Another conversation';
    block(remark(`${what}${name} (${oneLine(reason, 100)}).`));
    if (known < 0 && olderMessages > 0) block(remark(`${olderMessages} earlier messages are left out here.`));
    for (const message of fresh) messageEnded(message);
  };

  const handled = (fact: Fact, after: Snapshot) => {
    switch (fact.type) {
      case 'message_start':
        if (fact.message.role !== 'assistant') return;
        page.messageOver();
        return page.time(fact.message.timestamp ?? fact.at);
      case 'message_update': {
        const event = fact.assistantMessageEvent;
        if (event.type.startsWith('toolcall_')) return;
        const kind = event.type.startsWith('text') ? 'text' : 'thinking';
        tools.interrupted();
        if ('delta' in event) return page.piece(event.contentIndex, kind, event.delta);
        if (event.type.endsWith('_start')) return page.started(event.contentIndex, kind);
        return page.completed(event.contentIndex, kind, 'content' in event ? event.content : undefined);
      }
      case 'message_end':
        messageEnded(fact.message, fact.at);
        position = { ...position, last: identityOf(fact.message) };
        return;
      case 'tool_execution_start':
        return tools.started(fact);
      case 'tool_execution_update':
        return tools.added(fact);
      case 'tool_execution_end':
        if (!tools.isNamed(fact.toolCallId))
          tools.named(fact.toolCallId, fact.toolName, after.tools[fact.toolCallId]?.args ?? {});
        return tools.ended(fact.toolCallId, fact.result, fact.isError);
      case 'agent_settled':
        tools.over(after);
        page.messageOver();
        outcome(fact.aborted ? 'aborted' : fact.outcome.stopReason, fact.outcome.errorMessage);
        said = '';
        return;
      case 'dialog_opened':
        dialogs.set(fact.dialog.id, fact.dialog);
        return block(blocks.dialogOpened(fact.dialog, dialogs.size - 1));
      case 'dialog_settled':
        block(blocks.dialogSettled(dialogs.get(fact.id), fact));
        dialogs.delete(fact.id);
        return;
      case 'intent_accepted':
        if (shellCommands.has(fact.command)) shells.set(fact.intent, fact.text ?? '');
        return;
      case 'intent_settled':
        return intentSettled(fact);
      case 'queue_update': {
        const now = [...fact.steering, ...fact.followUp];
        if (now.length > queued.length) queuedLines.push(remark(`Queued: ${oneLine(now.at(-1)!)}`));
        queued = now;
        return page.streaming ? undefined : queueTold();
      }
      case 'queue_returned':
        return fact.texts?.length ? block(blocks.returned(fact.texts)) : undefined;
      case 'session_replaced':
        return sessionReplaced(fact);
      case 'agent_exited':
        tools.over(after);
        page.messageOver();
        return block(remark(passage(fact.message)));
      default:
        return block(blocks.announcement(fact));
    }
  };
  const intentSettled = ({ intent, command, outcome: how, error, data }: FactOf<'intent_settled'>) => {
    const shell = shells.get(intent);
    shells.delete(intent);
    if (how === 'done') return shell === undefined ? undefined : shellEnded(shell, data);
    // An error about a credential might quote it.
    const why = error && !command.includes('credential') ? error : `${how}.`;
    const what = shell === undefined ? command : `${command} ${codeSpan(oneLine(shell, 120))}`;
    return block(blocks.problem(`Not done (${what})`, why));
  };

  return {
    appended(fact, after) {
      contextWindow = after.state.model?.contextWindow;
      handled(fact, after);
      return page.taken();
    },
    looked(now) {
      tools.looked(now);
      return page.taken();
    },
    noted(line) {
      block(line);
      return page.taken();
    },
    get position() {
      return position;
    },
    get atRest() {
      return !page.streaming && !page.inCode;
    },
    newFile: () => page.newFile(),
  };
}
