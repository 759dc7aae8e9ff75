// The fold: what a session looks like after one more fact. Guarantees: pure and persistent (the argument is never changed, what
// stays the same is shared), bounded, the same for exact and for merged facts; a fact that says nothing here, or that is
// not known, gives the same snapshot back. Must not know: where facts come from, who looks.
import type { AgentIdentity, Fact, FactOf } from '../protocol/facts.ts';
import type { AgentState } from '../protocol/records.ts';
import type { Phase, Retry, Snapshot } from '../protocol/snapshot.ts';
import { bashUpdated, intentAccepted, intentSettled, originOfRun } from './fold-intents.ts';
import { messageUpdated, newestMessages, noUsage, usageWith, withMessage } from './fold-message.ts';
import { toolsAfter, toolsCut } from './fold-tools.ts';
import { announced, dialogsAfter } from './fold-ui.ts';
import { wholeFact, wholeMessage } from './streamed.ts';

/** How many touched files a snapshot keeps. */
const filesKept = 500;

/** The snapshot of a session before its first fact. */
export const emptySnapshot = (): Snapshot => ({
  agent: { status: 'absent', unavailable: [] },
  state: {},
  messages: [],
  olderMessages: 0,
  message: null,
  tools: {},
  bash: {},
  run: null,
  lastRun: null,
  queue: { steering: [], followUp: [] },
  compaction: null,
  retry: null,
  summarization: null,
  statuses: {},
  widgets: {},
  title: null,
  dialogs: [],
  settledDialogs: [],
  intents: [],
  files: [],
  usage: noUsage(),
});

/** The snapshot after one more fact. Facts of a stream may be merged with their neighbours before. */
export function folded(snapshot: Snapshot, fact: Fact): Snapshot {
  const at = fact.at ?? 0;
  switch (fact.type) {
    case 'agent_started':
      return agentStarted(snapshot, fact);
    case 'agent_exited':
      return agentExited(snapshot, fact, at);
    case 'command_unavailable':
      return commandUnavailable(snapshot, fact.command);
    case 'state_changed':
      return { ...snapshot, state: stateWith(snapshot.state, fact.state, fact.removed) };
    case 'session_replaced':
      return sessionReplaced(snapshot, fact);
    case 'session_info_changed':
      return {
        ...snapshot,
        state:
          fact.name === undefined
            ? stateWith(snapshot.state, {}, ['sessionName'])
            : stateWith(snapshot.state, { sessionName: fact.name }),
      };
    case 'thinking_level_changed':
      return { ...snapshot, state: { ...snapshot.state, thinkingLevel: fact.level } };
    case 'model_changed':
      return { ...snapshot, state: { ...snapshot.state, model: fact.model ?? null } };
    case 'context_window_changed':
      return { ...snapshot, state: { ...snapshot.state, contextWindow: fact.contextWindow } };

    case 'agent_start':
      return snapshot.run ? snapshot : runStarted(snapshot, at);
    case 'turn_start':
      return snapshot.run
        ? { ...snapshot, run: { ...snapshot.run, turns: snapshot.run.turns + 1 } }
        : snapshot;
    case 'agent_settled':
      return {
        ...snapshot,
        run: null,
        lastRun: { ...fact.outcome, endedAt: at },
        message: null,
        retry: null,
        tools: toolsCut(snapshot.tools, at),
      };

    case 'message_start':
      return fact.message.role === 'assistant'
        ? { ...snapshot, message: { role: 'assistant', startedAt: at, blocks: [] } }
        : snapshot;
    case 'message_update': {
      const message = messageUpdated(snapshot.message, fact.assistantMessageEvent, at);
      return message === snapshot.message ? snapshot : { ...snapshot, message };
    }
    case 'message_end': {
      const next = withMessage(snapshot, wholeMessage(fact.message, snapshot.message));
      return fact.message.role === 'assistant' ? { ...next, message: null } : next;
    }

    case 'tool_execution_start':
    case 'tool_execution_update':
    case 'tool_execution_end': {
      const tools = toolsAfter(snapshot.tools, fact);
      return tools === snapshot.tools ? snapshot : { ...snapshot, tools };
    }
    case 'bash_execution_update':
      return bashUpdated(snapshot, fact);
    case 'file_touched':
      return {
        ...snapshot,
        files: [...snapshot.files.filter((path) => path !== fact.path), fact.path].slice(-filesKept),
      };

    case 'queue_update':
      return { ...snapshot, queue: { steering: fact.steering, followUp: fact.followUp } };
    case 'compaction_start':
      return {
        ...snapshot,
        compaction: { ...(fact.reason !== undefined && { reason: fact.reason }), since: at },
      };
    case 'compaction_end':
      return compactionEnded(snapshot, fact, at);
    case 'auto_retry_start':
      return { ...snapshot, retry: retryOf(fact, at) };
    case 'auto_retry_end':
      return snapshot.retry ? { ...snapshot, retry: null } : snapshot;
    case 'summarization_retry_scheduled':
      return {
        ...snapshot,
        summarization: { attempt: fact.attempt, maxAttempts: fact.maxAttempts },
      };
    case 'summarization_retry_attempt_start':
      return snapshot.summarization ? snapshot : { ...snapshot, summarization: {} };
    case 'summarization_retry_finished':
      return snapshot.summarization ? { ...snapshot, summarization: null } : snapshot;
    case 'extension_ui_request':
      return announced(snapshot, fact);

    case 'dialog_opened':
    case 'dialog_offered':
    case 'dialog_settled':
      return { ...snapshot, ...dialogsAfter(snapshot, fact) };
    case 'intent_accepted':
      return intentAccepted(snapshot, fact);
    case 'intent_settled':
      return intentSettled(snapshot, fact);
    default:
      return snapshot;
  }
}

/** Facts with what they left out because it had been streamed, and the snapshot after them. */
export function foldedWhole(
  snapshot: Snapshot,
  told: readonly Fact[],
): { facts: Fact[]; snapshot: Snapshot } {
  let after = snapshot;
  const facts = told.map((fact) => {
    const whole = wholeFact(fact, after.message);
    after = folded(after, whole);
    return whole;
  });
  return { facts, snapshot: after };
}

/** What the session is doing, in one word for a person. */
export function phaseOf(snapshot: Snapshot): Phase {
  const { compaction, retry, run, tools, message } = snapshot;
  if (compaction) return 'compacting';
  // Some agents say that a retry is over only when its answer is complete; one that writes does not wait.
  if (retry && !message) return 'retrying';
  if (!run) return 'idle';
  if (Object.values(tools).some(({ status }) => status === 'running')) return 'tool';
  if (!message) return 'waiting';
  return message.blocks.at(-1)?.kind === 'thinking' ? 'thinking' : 'writing';
}

function agentStarted(snapshot: Snapshot, { agent: identity, pid }: FactOf<'agent_started'>): Snapshot {
  const before = snapshot.agent;
  return {
    ...snapshot,
    agent: {
      status: 'running',
      identity,
      ...(pid !== undefined && { pid }),
      unavailable: sameAgent(before.identity, identity) ? before.unavailable : [],
    },
  };
}

const sameAgent = (a: AgentIdentity | undefined, b: AgentIdentity): boolean =>
  a?.command === b.command && a.name === b.name && a.demo === b.demo;

/** Everything that lived in the agent's process is gone; questions are settled by facts of their own. */
function agentExited(snapshot: Snapshot, fact: FactOf<'agent_exited'>, at: number): Snapshot {
  const { code, signal, expected, message } = fact;
  const { pid: _, ...agent } = snapshot.agent;
  return {
    ...snapshot,
    agent: { ...agent, status: 'exited', exit: { code, signal, expected, message } },
    run: null,
    message: null,
    tools: toolsCut(snapshot.tools, at),
    queue: { steering: [], followUp: [] },
    compaction: null,
    retry: null,
    summarization: null,
    statuses: {},
    widgets: {},
    title: null,
    bash: {},
  };
}

function commandUnavailable(snapshot: Snapshot, command: string): Snapshot {
  const { agent } = snapshot;
  if (agent.unavailable.includes(command)) return snapshot;
  return { ...snapshot, agent: { ...agent, unavailable: [...agent.unavailable, command] } };
}

function stateWith(state: AgentState, changes: AgentState, removed: readonly string[] = []): AgentState {
  return Object.fromEntries(
    Object.entries({ ...state, ...changes }).filter(([key]) => !removed.includes(key)),
  );
}

function sessionReplaced(snapshot: Snapshot, fact: FactOf<'session_replaced'>): Snapshot {
  const same = fact.state.sessionId !== undefined && fact.state.sessionId === snapshot.state.sessionId;
  const { messages, dropped } = newestMessages(fact.messages);
  return {
    ...snapshot,
    state: fact.state,
    messages,
    olderMessages: fact.olderMessages + dropped,
    message: null,
    tools: {},
    statuses: fact.statuses ?? {},
    widgets: fact.widgets ?? {},
    files: [],
    usage: fact.messages.reduce(usageWith, noUsage()),
    // The same conversation read again has the title, queue and work that it had.
    ...(!same && {
      title: fact.title ?? null,
      queue: { steering: [], followUp: [] },
      compaction: null,
      retry: null,
      summarization: null,
    }),
  };
}

function runStarted(snapshot: Snapshot, at: number): Snapshot {
  const origin = originOfRun(snapshot);
  return { ...snapshot, run: { startedAt: at, turns: 0, ...(origin && { origin }) }, tools: {} };
}

function compactionEnded(snapshot: Snapshot, { result }: FactOf<'compaction_end'>, at: number): Snapshot {
  const next = snapshot.compaction ? { ...snapshot, compaction: null } : snapshot;
  if (typeof result?.summary !== 'string') return next;
  const { summary, tokensBefore } = result;
  return withMessage(next, {
    role: 'compactionSummary',
    summary,
    ...(typeof tokensBefore === 'number' && { tokensBefore }),
    timestamp: at,
  });
}

const retryOf = (fact: Omit<Retry, 'since'>, since: number): Retry => ({
  attempt: fact.attempt,
  maxAttempts: fact.maxAttempts,
  delayMs: fact.delayMs,
  ...(fact.errorMessage !== undefined && { errorMessage: fact.errorMessage }),
  since,
});
