// Every recording through the product's core: the recorded commands as intents, the recorded answers to its questions.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { commandRow } from '../../server/src/protocol/commands.ts';
import type { Dialog, Fact } from '../../server/src/protocol/facts.ts';
import type { AgentRecord } from '../../server/src/protocol/records.ts';
import { emptySnapshot, folded } from '../../server/src/session/fold.ts';
import type { SessionFiles } from '../../server/src/session/ports.ts';
import { traceFiles } from '../support/replay.ts';
import { type TestSession, testSession } from '../support/sessions.ts';
import { type Action, acts, type Heard, recording, talk, undrivable } from './recording.ts';

/** The files of the recorded sessions are on another machine. */
const recordedFiles: SessionFiles = { list: async () => [], exists: async () => true };

/** A guard against waiting for ever, with what was waited for; nothing is measured by it. */
const patience = 12_000;

function watcher(session: TestSession) {
  const counts: Heard = {};
  const outcomes = new Map<string, Fact & { type: 'intent_settled' }>();
  let wake = () => {};
  session.journal.onAppend((fact) => {
    counts[fact.type] = (counts[fact.type] ?? 0) + 1;
    if (fact.type === 'intent_settled') outcomes.set(fact.intent, fact);
    wake();
  });
  return {
    counts,
    outcomes,
    /** Waits until there is nothing left to wait for; the list says what there is. */
    async until(missing: () => string[]) {
      const end = new Promise<'end'>((resolve) => setTimeout(() => resolve('end'), patience).unref());
      while (missing().length > 0) {
        const next = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if ((await Promise.race([next, end])) === 'end')
          throw new Error(`waited in vain for ${missing().join(', ')}; have ${JSON.stringify(counts)}`);
      }
    },
  };
}

/** Sends what was recorded as an editor would say it; the intent's id. */
function send(session: TestSession, record: AgentRecord): string {
  const id = randomUUID();
  const { type, id: recordedId, ...params } = record;
  if (type === 'extension_ui_response') {
    const dialog = session.snapshot().dialogs.find((open) => open.id === recordedId);
    session.intent({ id, command: 'answer', params: { dialog: recordedId, ...answerTo(dialog, params) } });
    return id;
  }
  const raw = () => session.intent({ id, command: 'rpc', params: { command: { ...params, type } } });
  // What the product refuses before it is sent goes as it is; the agent's own word on it is in the recording.
  if (!accepted(type, params)) raw();
  else
    try {
      session.intent({ id, command: type, params });
    } catch {
      raw();
    }
  return id;
}

const accepted = (type: string, params: object): boolean =>
  commandRow(type)?.params.safeParse(params).success === true;

/** The recorded answer; one that does not fit its question, which the product does not send, is a refusal to answer. */
function answerTo(dialog: Dialog | undefined, params: Record<string, unknown>): Record<string, unknown> {
  if (params.cancelled) return { cancelled: true };
  if (dialog?.options) {
    const index = dialog.options.indexOf(String(params.value));
    return index < 0 ? { cancelled: true } : { index };
  }
  const key = dialog?.method === 'confirm' ? 'confirmed' : 'value';
  return params[key] === undefined ? { cancelled: true } : { [key]: params[key] };
}

async function play(session: TestSession, actions: Action[], watch: ReturnType<typeof watcher>) {
  const sent = new Map<string, string>();
  const readings: Promise<unknown>[] = [];
  const lacking = (after: Heard, answered: Iterable<string>) => [
    ...Object.entries(after).flatMap(([type, count]) =>
      (watch.counts[type] ?? 0) < count ? [`${type} ${count}`] : [],
    ),
    ...[...answered].flatMap((id) => {
      const intent = sent.get(id);
      return intent !== undefined && !watch.outcomes.has(intent) ? [`the answer to ${id}`] : [];
    }),
  ];
  // An agent that was not started is not stopped either.
  await session.read('get_state', {}).catch(() => {});
  for (const { record, after, answered } of actions) {
    const gone = () => session.snapshot().agent.status === 'exited';
    await watch.until(() => (gone() ? [] : lacking(after, answered)));
    if (gone()) break;
    const { type, id: _, ...params } = record;
    if (acts(type) || !accepted(type, params)) sent.set(String(record.id), send(session, record));
    else readings.push(session.read(type, params).catch((error) => error));
  }
  return { lacking, readings, intents: sent };
}

/** How many runs there were, each with one end; throws where one has none or two. */
function runs(facts: readonly Fact[]): number {
  let open = false;
  let count = 0;
  for (const fact of facts) {
    if (fact.type === 'agent_start') open = true;
    if (fact.type !== 'agent_settled') continue;
    expect(open, 'a run ended twice').toBe(true);
    open = false;
    count += 1;
  }
  expect(open, 'a run has no end').toBe(false);
  return count;
}

describe.concurrent('a recording through the core', () => {
  const traces = traceFiles().filter((trace) => !(trace in undrivable));
  it.each(traces)('%s', { timeout: 60_000 }, async (trace) => {
    const { choice, actions, heard, answered, runs: ran, ends, conversation } = recording(trace);
    const session = testSession(choice, undefined, recordedFiles);
    try {
      const watch = watcher(session);
      const { lacking, readings, intents } = await play(session, actions, watch);
      const gone = () => session.snapshot().agent.status === 'exited';
      const ended = () => (ends && !gone() ? ['the end of the agent'] : []);
      await watch.until(() => [...(gone() ? [] : lacking(heard, answered)), ...ended()]);
      expect(gone(), 'the player gave up early').toBe(ends);
      await watch.until(() =>
        session.dialogs > 0 && actions.some(({ record }) => record.type.startsWith('extension')) && !gone()
          ? session.snapshot().dialogs.flatMap(({ id, timeout }) => (timeout ? [`dialog ${id}`] : []))
          : [],
      );
      const before = session.snapshot();
      await session.stop();
      await watch.until(() =>
        [...intents.values()].filter((intent) => !watch.outcomes.has(intent)).map((id) => `intent ${id}`),
      );
      await Promise.all(readings);
      const facts = session.facts();
      expect(session.journal.last).toBe(facts.length);
      const snapshot = session.snapshot();
      expect(snapshot.run).toBeNull();
      expect(snapshot.message).toBeNull();
      expect(snapshot.dialogs).toEqual([]);
      expect(snapshot.intents.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
      expect(session.busy).toBe(false);
      const count = runs(facts);
      expect(count).toBe(ran ?? count);
      expect(talk(before.messages)).toEqual(conversation);

      // From any number on, a snapshot and the rest make the whole.
      let whole = emptySnapshot();
      const wholes = facts.map((fact) => {
        whole = folded(whole, fact);
        return whole;
      });
      expect(whole).toEqual(snapshot);
      const step = Math.max(1, Math.floor(facts.length / 8));
      for (let at = 0; at < facts.length; at += step) {
        const sent = JSON.parse(JSON.stringify(wholes[at])) as typeof whole;
        expect(facts.slice(at + 1).reduce(folded, sent)).toEqual(snapshot);
      }
    } finally {
      await session.close();
    }
  });
});
