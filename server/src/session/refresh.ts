// What is read from the agent again, because no event tells it. Guarantees: at most one reading at a time, and one more
// after it when it was asked for meanwhile; only differences become facts; a session that was replaced by whomever is
// noticed by its id. Must not know: which command made it necessary (conduct.ts).
import type { Fact } from '../protocol/facts.ts';
import type { AgentState, Message } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { newestMessages } from './fold-message.ts';
import type { Agent } from './ports.ts';

/** Fields that the fold knows better than a reading that may be late. */
const momentary = new Set(['isStreaming', 'isCompacting', 'compactionReason', 'pendingMessageCount']);
/** Fields that events tell and no reading holds. */
const onlyTold = new Set(['contextWindow']);

export interface Refresh {
  /** Reads the state; when the session is another one, everything. Never rejects. */
  state(agent: Agent, reason?: string): Promise<void>;
  /** Reads everything. `before` is the snapshot from when the replacing call was sent. Never rejects. */
  everything(agent: Agent, reason: string, before?: Snapshot): Promise<void>;
}

export function createRefresh(append: (fact: Fact) => void, snapshot: () => Snapshot): Refresh {
  let reading: Promise<void> | undefined;
  let again: Promise<void> | undefined;

  const call = async (agent: Agent, type: string): Promise<Record<string, unknown> | undefined> => {
    try {
      const response = await agent.call({ type });
      return response.success ? ((response.data ?? {}) as Record<string, unknown>) : undefined;
    } catch {
      // The agent's end is told by its own fact.
      return undefined;
    }
  };

  /** The agent could not take the model that its settings or the session name. */
  const fallbackTold = (before: AgentState, state: AgentState) => {
    const message = state.modelFallbackMessage;
    if (typeof message === 'string' && message !== '' && message !== before.modelFallbackMessage)
      append({
        type: 'notice',
        level: 'warning',
        message: `${message.trim().replace(/[.!?]*$/, '.')} Choose a model with atomic.setModel.`,
      });
  };

  const everything = async (agent: Agent, reason: string, before = snapshot()) => {
    const data = await call(agent, 'get_state');
    if (!data) return;
    const listed = await call(agent, 'get_messages');
    const { messages, dropped: olderMessages } = newestMessages((listed?.messages ?? []) as Message[]);
    const state = lasting(data as AgentState);
    const now = snapshot();
    const same = state.sessionId !== undefined && state.sessionId === before.state.sessionId;
    append({
      type: 'session_replaced',
      state,
      messages,
      olderMessages,
      reason,
      statuses: same ? now.statuses : added(before.statuses, now.statuses),
      widgets: same ? now.widgets : added(before.widgets, now.widgets),
      ...(now.title !== null && now.title !== before.title && { title: now.title }),
    });
    fallbackTold(now.state, state);
  };

  const readState = async (agent: Agent, reason: string) => {
    const before = snapshot();
    const data = await call(agent, 'get_state');
    if (!data) return;
    const known = before.state.sessionId;
    if (known !== undefined && data.sessionId !== undefined && data.sessionId !== known)
      return everything(agent, reason, before);
    const now = snapshot().state;
    const { state, removed } = difference(now, lasting(data as AgentState));
    if (Object.keys(state).length > 0 || removed.length > 0)
      append({ type: 'state_changed', state, ...(removed.length > 0 && { removed }) });
    fallbackTold(now, state);
  };

  return {
    everything: (agent, reason, before) => everything(agent, reason, before),
    state(agent, reason = 'the agent changed the session') {
      if (!reading) {
        reading = readState(agent, reason).finally(() => {
          reading = undefined;
        });
        return reading;
      }
      again ??= reading.then(() => {
        again = undefined;
        return this.state(agent, reason);
      });
      return again;
    },
  };
}

const lasting = (state: AgentState): AgentState =>
  Object.fromEntries(Object.entries(state).filter(([key]) => !momentary.has(key)));

/** What differs in `next`, and the fields that are gone. */
function difference(known: AgentState, next: AgentState): { state: AgentState; removed: string[] } {
  const changed = Object.entries(next).filter(
    ([key, value]) => JSON.stringify(known[key]) !== JSON.stringify(value),
  );
  const removed = Object.keys(known).filter((key) => !(key in next) && !onlyTold.has(key));
  return { state: Object.fromEntries(changed), removed };
}

/** Entries that came or changed since. */
const added = <T>(before: Record<string, T>, now: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(now).filter(([key, value]) => before[key] !== value));
