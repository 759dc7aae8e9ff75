// A session: one journal of facts, its fold, and whoever may change it. Guarantees: every fact goes through `append`, is
// folded before it is told, and bears the hub's time unless it is a stream's; every accepted intent is settled exactly
// once; without anybody asking, no agent runs. Must not know: peers, sockets, files, dialects.
import { checkedParams } from '../protocol/arguments.ts';
import { type CommandRow, commandRow } from '../protocol/commands.ts';
import { AtomicError } from '../protocol/errors.ts';
import { type Fact, type Origin, streamFacts } from '../protocol/facts.ts';
import type { AgentChoice, StartOptions } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { type AgentLife, createAgentLife } from './agent-life.ts';
import { createChangeCommands } from './change-commands.ts';
import { createConduct } from './conduct.ts';
import { createDialogs } from './dialogs.ts';
import { touchedFile } from './files.ts';
import { emptySnapshot, folded } from './fold.ts';
import { originOfQuestion } from './fold-intents.ts';
import { createIntents } from './intents.ts';
import { createJournal, type Journal } from './journal.ts';
import { createLanes } from './lanes.ts';
import { type Outdated, outdatedIn } from './outdated.ts';
import type {
  Agent,
  AgentExit,
  AgentSpec,
  Clock,
  FileChanges,
  Log,
  PromptHistory,
  SessionFiles,
  SessionWriters,
  StartAgent,
} from './ports.ts';
import { createRefresh } from './refresh.ts';
import { createStored } from './stored.ts';
import { briefFact } from './streamed.ts';
import { createTwoWriters } from './two-writers.ts';

/** What a later attach may change for the next start of the agent. */
export interface SessionUpdate {
  choice?: AgentChoice;
  /** As in the newest attach. */
  refused?: string | undefined;
  start?: StartOptions;
  whileBusy?: 'steer' | 'followUp';
  restart?: 'onPrompt' | 'atOnce';
  env?: Record<string, string>;
}

export interface Session {
  readonly journal: Journal;
  /** The fold up to `journal.last`. */
  snapshot(): Snapshot;
  /** Accepts an intent; the same id twice is the same intent. Throws AtomicError. */
  intent(intent: { id: string; command: string; params: Record<string, unknown>; origin?: Origin }): {
    intent: string;
  };
  /** The data of a reading command; `signal` ends the waiting. Rejects with AtomicError. */
  read(command: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  /** A run, a shell command, or an intent that is not settled. */
  readonly busy: boolean;
  /** How many questions are open. */
  readonly dialogs: number;
  update(how: SessionUpdate): void;
  /** What the running agent does not have of what was given since it started. */
  readonly outdated: readonly Outdated[];
  /** Whether an origin watches the session. */
  presence(origin: string, here: boolean): void;
  /** Tells everybody a sentence of the bridge. */
  notice(level: 'info' | 'warning' | 'error', message: string): void;
  /** Ends the agent. */
  stop(): Promise<void>;
}

export interface SessionParts {
  startAgent: StartAgent;
  clock: Clock;
  log: Log;
  spec: AgentSpec;
  whileBusy?: 'steer' | 'followUp';
  /** When an agent that ended by itself is started again. */
  restart?: 'onPrompt' | 'atOnce';
  epoch: string;
  /** Absent: sessions can only be listed by agents that list them themselves. */
  files?: SessionFiles;
  /** Absent: other writers of a session file go unnoticed. */
  writers?: SessionWriters;
  /** Absent: what the agent changes in files is not kept. */
  changes?: FileChanges;
  /** Absent: earlier prompts are those of the conversation. */
  history?: PromptHistory;
}

export type CreateSession = (parts: SessionParts) => Session;

/** Milliseconds after which an agent that was started and says nothing is spoken of. */
export const silent = 30_000;
const unheard = ({ identity: { name, command } }: Agent): string =>
  `The agent (${name}) has answered nothing in the ${silent / 1000} s since it was started: check its command (${command}) with "atomic-lsp doctor"; atomic.restartAgent starts it again.`;

/** A session whose agent is started when it is first needed. */
export const createSession: CreateSession = (parts) => {
  const { clock, log } = parts;
  const journal = createJournal(parts.epoch);
  let snapshot = emptySnapshot();
  let spec = parts.spec;
  /** What the agent was started with. */
  let used = spec;
  let whileBusy = parts.whileBusy ?? 'steer';
  let restart = parts.restart ?? 'onPrompt';

  const append = (fact: Fact) => {
    const stamped = streamFacts.has(fact.type) ? fact : { ...fact, at: clock.now() };
    const told = briefFact(stamped, snapshot.message);
    snapshot = folded(snapshot, stamped);
    journal.append(stamped, told);
  };
  const now = () => snapshot;
  const lanes = createLanes(clock);
  const dialogs = createDialogs(clock, append);
  const refresh = createRefresh((fact) => {
    append(fact);
    writers.saw(fact);
  }, now);
  const writers = createTwoWriters({
    writers: parts.writers,
    clock,
    snapshot: now,
    tell: (message) => append({ type: 'notice', level: 'warning', message }),
  });
  /** Prompts wait for the end of a compaction: some agents refuse them meanwhile. */
  let release: (() => void) | undefined;

  const exited = (exit: AgentExit) => {
    dialogs.withdraw(() => true);
    const texts = [...snapshot.queue.steering, ...snapshot.queue.followUp];
    if (texts.length > 0) {
      append({ type: 'queue_update', steering: [], followUp: [] });
      append({ type: 'queue_returned', texts });
    }
    append({ type: 'agent_exited', ...exit });
    release?.();
    conduct.forget();
  };

  const life: AgentLife = createAgentLife({
    startAgent: parts.startAgent,
    clock,
    restart: () => restart,
    gaveUp: (message) => append({ type: 'notice', level: 'error', message }),
    spec: () => {
      const resume = snapshot.state.sessionFile ?? spec.resume;
      used = spec;
      return { ...spec, ...(resume !== undefined && { resume }) };
    },
    events: {
      fact(fact) {
        const touched = touchedFile(snapshot, fact);
        append(fact);
        writers.saw(fact);
        if (touched) append(touched);
        if (fact.type === 'compaction_start') release ??= lanes.hold();
        if (fact.type === 'compaction_end' || fact.type === 'agent_settled') {
          release?.();
          release = undefined;
        }
        if (fact.type === 'agent_settled' && life.current) void refresh.state(life.current);
      },
      dialog: (dialog) => dialogs.open(dialog, originOfQuestion(snapshot)),
      dialogWithdrawn: (id) => dialogs.withdraw((dialog) => dialog.id === id),
      exit: exited,
    },
    async greeted(agent, resumed) {
      append({
        type: 'agent_started',
        agent: agent.identity,
        ...(agent.pid !== undefined && { pid: agent.pid }),
        ...(resumed !== undefined && { resumed }),
      });
      const cancel = clock.after(silent, () => {
        // One that asks has said something.
        if (dialogs.list.length === 0) append({ type: 'notice', level: 'warning', message: unheard(agent) });
      });
      // Whatever the agent continues with, it is read from it and not remembered.
      await refresh.everything(agent, resumed === undefined ? 'start' : 'resumed').finally(cancel);
    },
  });

  const conduct = createConduct({
    append,
    snapshot: now,
    whileBusy: () => whileBusy,
    life,
    lanes,
    dialogs,
    refresh,
    look: writers.look,
    stored: createStored(parts.files, spec.workspace, now),
    changes: createChangeCommands(parts.changes, append),
    history: parts.history,
  });
  const intents = createIntents({ append, log, conduct: conduct.conduct });

  return {
    journal,
    snapshot: now,
    intent: ({ id, command, params, origin }) => {
      if (intents.known(id)) return { intent: id };
      const row = rowOf(command);
      intents.accept(id, row, checkedParams(row, params), origin);
      return { intent: id };
    },
    async read(command, params, signal) {
      const row = rowOf(command);
      if (row.kind !== 'read')
        throw new AtomicError('BadArguments', `${row.id} does work: send it as an intent.`, { command });
      const reading = conduct.conduct({ id: '', row, params: checkedParams(row, params) });
      const response = await (signal ? Promise.race([reading, aborted(signal)]) : reading);
      if (!response.success)
        throw new AtomicError('AgentRefused', response.error ?? `The agent refused ${row.name}.`, {
          command,
        });
      return response.data ?? {};
    },
    get busy() {
      return (
        snapshot.run !== null ||
        snapshot.compaction !== null ||
        Object.keys(snapshot.bash).length > 0 ||
        intents.pending > 0
      );
    },
    get dialogs() {
      return dialogs.list.length;
    },
    update(how) {
      whileBusy = how.whileBusy ?? whileBusy;
      restart = how.restart ?? restart;
      const { refused: _, ...before } = spec;
      spec = {
        ...before,
        ...(how.refused !== undefined && { refused: how.refused }),
        ...(how.choice && { choice: how.choice }),
        ...(how.start && { start: how.start }),
        ...(how.env && { env: how.env }),
      };
    },
    get outdated() {
      return life.current ? outdatedIn(used, spec) : [];
    },
    presence: dialogs.presence,
    notice: (level, message) => append({ type: 'notice', level, message }),
    stop: () => life.stop(),
  };
};

function rowOf(command: string): CommandRow {
  const row = commandRow(command);
  if (!row || row.kind === 'local' || row.here)
    throw new AtomicError(
      'UnknownCommand',
      `The hub knows no command "${command}"; atomic.rpc sends what is newer.`,
    );
  return row;
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(new AtomicError('TimedOut', 'Nobody waits for this answer any more.'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
