// A hub of one session for tests of the language server. Guarantees a real journal and fold, and the behaviour of a hub client:
// facts come in later turns and merged, a lost connection refuses. Must not know what is tested.
import type { Connect } from '../../../server/src/editor/line.ts';
import type { HubClient } from '../../../server/src/hub/client.ts';
import type { Settings } from '../../../server/src/protocol/editor.ts';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import type { AttachParams, FactsBatch, IntentParams, ReadParams } from '../../../server/src/protocol/hub.ts';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { createJournal, type Journal } from '../../../server/src/session/journal.ts';
import { mergedFacts, nextBatch } from '../../../server/src/session/view.ts';

export interface FakeHub {
  connect: Connect;
  append(...facts: Fact[]): void;
  readonly journal: Journal;
  /** What came in, in order; the same id twice is kept twice. */
  /** The session's folder. */
  folder: string;
  intents: IntentParams[];
  reads: ReadParams[];
  attaches: AttachParams[];
  settings: Settings[];
  names: string[];
  /** What a reading command answers with. */
  data: Record<string, unknown>;
  /** Called for each intent; may throw, or keep it waiting. */
  onIntent: (intent: IntentParams) => void | Promise<void>;
  /** Called before each connection; may throw, or keep it waiting. */
  onConnect: () => void | Promise<void>;
  /** Every connection is lost; with `forget` the journal is, too. */
  die(how?: { forget?: boolean }): void;
  /** How many connections are open. */
  readonly open: number;
}

export const us = { id: 'p1', name: 'This editor' };
export const other = { id: 'p2', name: 'Helix' };

export function fakeHub(): FakeHub {
  let epoch = 1;
  let journal = createJournal(`e${epoch}`);
  let snapshot = emptySnapshot();
  const clients = new Set<{ lose(): void; pump(): void }>();

  const hub: FakeHub = {
    get journal() {
      return journal;
    },
    get open() {
      return clients.size;
    },
    folder: '/nowhere',
    intents: [],
    reads: [],
    attaches: [],
    settings: [],
    names: [],
    data: {},
    onIntent: () => {},
    onConnect: () => {},
    append(...facts) {
      for (const fact of facts) {
        snapshot = folded(snapshot, fact);
        journal.append(fact);
      }
      for (const client of clients) client.pump();
    },
    die({ forget = false } = {}) {
      if (forget) {
        epoch += 1;
        journal = createJournal(`e${epoch}`);
        snapshot = emptySnapshot();
      }
      for (const client of [...clients]) client.lose();
    },
    async connect(settings, name) {
      hub.settings.push(settings);
      hub.names.push(name);
      await hub.onConnect();
      const facts: ((batch: FactsBatch) => void)[] = [];
      const closes: (() => void)[] = [];
      let seq: number | undefined;
      let lost = false;
      const alive = () => {
        if (lost) throw new AtomicError('HubUnreachable', 'The connection to the hub was lost.');
      };
      const state = {
        lose() {
          if (lost) return;
          lost = true;
          clients.delete(state);
          for (const listener of closes) listener();
        },
        // As the real hub: in a later turn, neighbouring deltas merged.
        pump() {
          setImmediate(() => {
            while (!lost && seq !== undefined) {
              const batch = nextBatch(journal, seq, 65_536);
              if (batch === undefined || batch === 'resync') return;
              seq = batch.to;
              const merged = mergedFacts(batch.texts.map((text) => JSON.parse(text) as Fact));
              for (const listener of facts)
                listener({
                  session: '1',
                  epoch: journal.epoch,
                  from: batch.from,
                  to: batch.to,
                  facts: merged,
                });
            }
          });
        },
      };
      clients.add(state);
      const client: HubClient = {
        origin: us,
        version: '1.0.0',
        async attach(params) {
          alive();
          hub.attaches.push(params);
          const { cursor } = params;
          const continued = cursor?.epoch === journal.epoch && cursor.seq <= journal.last;
          seq = continued ? cursor.seq : journal.last;
          state.pump();
          return {
            session: '1',
            workspace: params.workspace,
            epoch: journal.epoch,
            seq,
            folder: hub.folder,
            ...(!continued && { snapshot }),
          };
        },
        detach: async () => {},
        async intent(params) {
          alive();
          hub.intents.push(params);
          await hub.onIntent(params);
          alive();
          return { intent: params.id };
        },
        async read(params) {
          alive();
          hub.reads.push(params);
          if (!(params.command in hub.data))
            throw new AtomicError('AgentRefused', `The agent refused ${params.command}.`);
          return hub.data[params.command];
        },
        sessions: async () => ({ sessions: [] }),
        status: () => Promise.reject(new Error('not here')),
        stop: () => Promise.reject(new Error('not here')),
        onFacts: (listener) => void facts.push(listener),
        onResync: () => {},
        onClose: (listener) => void closes.push(listener),
        close: () => state.lose(),
      };
      return client;
    },
  };
  return hub;
}
