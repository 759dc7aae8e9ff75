// The transcript of everything that a snapshot still knows, for readers that come late. Guarantees: what is streamed while a
// snapshot grows and what is written from it say the same; the transcript can go on from there. Must not know: files, editors.
import type { Fact } from '../protocol/facts.ts';
import { liveTail, type Snapshot } from '../protocol/snapshot.ts';
import { createTranscript, type Transcript } from './transcript.ts';
import { remark } from './transcript-text.ts';

export interface BegunTranscript {
  text: string;
  /** Takes the facts after the snapshot. */
  transcript: Transcript;
}

/** Its messages, the one in flight, running tools and open questions. */
export function begunTranscript(snapshot: Snapshot): BegunTranscript {
  const transcript = createTranscript();
  const facts: Fact[] = [];
  for (const message of snapshot.messages) facts.push({ type: 'message_end', message });
  const { message } = snapshot;
  if (message) {
    facts.push({ type: 'message_start', message: { role: 'assistant', timestamp: message.startedAt } });
    message.blocks.forEach(({ kind, text }, contentIndex) => {
      if (kind !== 'toolcall')
        facts.push({
          type: 'message_update',
          assistantMessageEvent: { type: `${kind}_delta`, contentIndex, delta: text },
        });
    });
  }
  for (const { toolCallId, toolName, args, status, output, startedAt } of Object.values(snapshot.tools)) {
    if (status !== 'running') continue;
    facts.push({
      type: 'tool_execution_start',
      toolCallId,
      toolName,
      args,
      ...(startedAt > 0 && { at: startedAt }),
    });
    // Of more, only the end is known.
    if (output.length < liveTail / 2)
      facts.push({ type: 'tool_execution_update', toolCallId, delta: output });
  }
  for (const dialog of snapshot.dialogs) facts.push({ type: 'dialog_opened', dialog });
  const older = snapshot.olderMessages;
  const head = older > 0 ? `${remark(`${older} earlier messages are left out here.`)}\n\n` : '';
  return { text: head + facts.map((fact) => transcript.appended(fact, snapshot)).join(''), transcript };
}

/** The text of {@link begunTranscript} alone. */
export const wholeTranscript = (snapshot: Snapshot): string => begunTranscript(snapshot).text;
