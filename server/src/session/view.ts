// A view: a number into a journal. Guarantees: a reader gets ranges that follow each other without a gap, or is told that
// it must begin anew; merging changes no fold. Must not know: when to read, how to send.
import type { Fact } from '../protocol/facts.ts';
import type { Journal } from './journal.ts';

export interface TextBatch {
  from: number;
  to: number;
  texts: string[];
}

/**
 * The facts after `seq`, as many as fit into `budget` UTF-16 units (at least one); undefined when there are none;
 * 'resync' when facts after `seq` have fallen off the journal, or `seq` was never reached.
 */
export function nextBatch(journal: Journal, seq: number, budget: number): TextBatch | 'resync' | undefined {
  if (seq === journal.last) return undefined;
  if (seq > journal.last || seq + 1 < journal.first) return 'resync';
  const texts: string[] = [];
  const from = seq + 1;
  let to = seq;
  // Small steps, so that a long backlog costs no more than what is sent now.
  for (let spent = 0; to < journal.last && (to === seq || spent < budget); ) {
    for (const text of journal.texts(to + 1, Math.min(to + 64, journal.last))) {
      if (to > seq && spent + text.length > budget) return { from, to, texts };
      texts.push(text);
      spent += text.length;
      to += 1;
    }
  }
  return { from, to, texts };
}

/** The same facts with neighbouring deltas of one block, tool call or shell command merged into one. */
export function mergedFacts(facts: readonly Fact[]): Fact[] {
  const merged: Fact[] = [];
  // Deltas are joined at the end of a row of them, so that a thousand of them cost one join.
  let parts: string[] = [];
  const closed = () => {
    if (parts.length > 1) setDelta(merged, parts.join(''));
    parts = [];
  };
  for (const fact of facts) {
    const previous = merged.at(-1);
    const delta = deltaOf(fact);
    if (previous && delta !== undefined && parts.length > 0 && continues(previous, fact)) {
      parts.push(delta);
      continue;
    }
    closed();
    merged.push(fact);
    if (delta !== undefined) parts = [delta];
  }
  closed();
  return merged;
}

/** What a fact of a stream adds; undefined for every other fact. */
export function deltaOf(fact: Fact): string | undefined {
  if (fact.type === 'message_update')
    return 'delta' in fact.assistantMessageEvent ? fact.assistantMessageEvent.delta : undefined;
  if (fact.type === 'tool_execution_update' || fact.type === 'bash_execution_update') return fact.delta;
  return undefined;
}

function continues(previous: Fact, fact: Fact): boolean {
  if (previous.type === 'message_update' && fact.type === 'message_update') {
    const [a, b] = [previous.assistantMessageEvent, fact.assistantMessageEvent];
    return a.type === b.type && a.contentIndex === b.contentIndex;
  }
  if (previous.type === 'tool_execution_update' && fact.type === 'tool_execution_update')
    return previous.toolCallId === fact.toolCallId && !fact.reset;
  if (previous.type === 'bash_execution_update' && fact.type === 'bash_execution_update')
    return previous.id === fact.id && previous.channel === fact.channel;
  return false;
}

function setDelta(merged: Fact[], delta: string): void {
  const last = merged.pop()!;
  if (last.type === 'message_update' && 'delta' in last.assistantMessageEvent)
    merged.push({ ...last, assistantMessageEvent: { ...last.assistantMessageEvent, delta } });
  else merged.push({ ...last, delta } as Fact);
}
