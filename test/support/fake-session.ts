// A session without an agent, for tests of the hub. Guarantees the interface of the core with a real journal; what it does
// is chosen by the test. Must not know the hub.

import { AtomicError } from '../../server/src/protocol/errors.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { Snapshot } from '../../server/src/protocol/snapshot.ts';
import { emptySnapshot } from '../../server/src/session/fold.ts';
import { createJournal, type JournalLimits } from '../../server/src/session/journal.ts';
import type { Outdated } from '../../server/src/session/outdated.ts';
import type {
  CreateSession,
  Session,
  SessionParts,
  SessionUpdate,
} from '../../server/src/session/session.ts';

export interface FakeSession extends Session {
  parts: SessionParts;
  updates: SessionUpdate[];
  stopped: number;
  /** Who came and went. */
  present: [origin: string, here: boolean][];
  busy: boolean;
  outdated: Outdated[];
  dialogs: number;
  /** The text that all deltas so far make. */
  readonly text: string;
  delta(text: string): void;
  /** How an ended agent is waited for. */
  onStop: () => Promise<void>;
}

/**
 * Makes sessions and keeps them in `all`. The snapshot's `title` is the text so far. `prompt` answers with the given text
 * word by word and settles; `read` of `hang` waits until it is cancelled; every other command is unknown.
 */
export function fakeSessions(limits?: JournalLimits): { create: CreateSession; all: FakeSession[] } {
  const all: FakeSession[] = [];
  const create: CreateSession = (parts) => {
    const journal = createJournal(parts.epoch, limits);
    const intents = new Set<string>();
    let text = '';
    let agent: Snapshot['agent'] = { status: 'absent', unavailable: [] };
    let state: Snapshot['state'] = {};
    journal.onAppend((fact) => {
      if (fact.type === 'message_update' && 'delta' in fact.assistantMessageEvent)
        text += fact.assistantMessageEvent.delta;
      if (fact.type === 'agent_started') agent = { status: 'running', unavailable: [] };
      if (fact.type === 'agent_exited') agent = { status: 'exited', unavailable: [] };
      if (fact.type === 'state_changed') state = { ...state, ...fact.state };
    });
    const session: FakeSession = {
      parts,
      updates: [],
      stopped: 0,
      present: [],
      busy: false,
      dialogs: 0,
      outdated: [],
      journal,
      onStop: async () => {},
      get text() {
        return text;
      },
      snapshot: () => ({ ...emptySnapshot(), title: text, agent, state }),
      intent({ id, command, params, origin }) {
        if (command !== 'prompt')
          throw new AtomicError('UnknownCommand', `There is no command "${command}".`, { command });
        if (intents.has(id)) return { intent: id };
        intents.add(id);
        journal.append({ type: 'intent_accepted', intent: id, command, ...(origin && { origin }) });
        for (const word of String(params.message).split(/(?<= )/)) session.delta(word);
        journal.append({ type: 'intent_settled', intent: id, command, outcome: 'done' });
        return { intent: id };
      },
      read(command, params, signal) {
        if (command !== 'hang') return Promise.resolve({ command, params, workspace: parts.spec.workspace });
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () =>
            reject(new AtomicError('TimedOut', 'Waiting was given up.')),
          );
        });
      },
      update: (how) => void session.updates.push(how),
      presence: (origin, here) => void session.present.push([origin, here]),
      notice: (level, message) => void journal.append({ type: 'notice', level, message }),
      delta: (delta) => void journal.append(deltaFact(delta)),
      async stop() {
        session.stopped += 1;
        await session.onStop();
      },
    };
    all.push(session);
    return session;
  };
  return { create, all };
}

export const deltaFact = (delta: string): Fact => ({
  type: 'message_update',
  assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta },
});
