// When is a run really over? Guarantees: exactly one `agent_settled` for every run, whatever the dialect (protocol reference,
// section 9): the agent's own where it sends one, ours where it does not; never while a retry, a compaction or a queued
// message goes on; on the agent's death before anything else is told. Must not know: lines, processes.
import type { AgentFact, RunOutcome } from '../protocol/facts.ts';
import type { AgentState, Message, ResponseRecord } from '../protocol/records.ts';
import type { Clock } from '../session/ports.ts';

/** Whether this agent sends `agent_settled`: known for certain, likely by its dialect, or not known yet. */
export type Native = 'yes' | 'likely' | 'unknown' | 'no';

export interface Settler {
  /** Sees every canonical fact of the agent but `agent_settled`, after it was told. */
  saw(fact: AgentFact): void;
  /** The agent's own `agent_settled`. */
  native(aborted: boolean | undefined): void;
  /** A session replacement succeeded: it cuts a run without a word. */
  replaced(): void;
  /** The dialect was recognised. */
  expect(native: 'likely' | 'no'): void;
  /** The agent is gone; a run that was open is settled with this error. */
  died(message: string): void;
  readonly running: boolean;
  /** Resolves when no run is open. */
  idle(): Promise<void>;
}

/** Milliseconds: quiet after `agent_end` without a native event; patience where one is expected; checks that found it busy. */
const patience = { quiet: 250, native: 5_000, recheck: 1_000 };
/** So often the agent may say that it is idle with a queue, before the queue is taken for left behind. */
const idleWithQueue = 5;

/** `getState` reads the agent's state; `emit` tells a fact. */
export function createSettler(
  clock: Clock,
  emit: (fact: AgentFact) => void,
  getState: () => Promise<ResponseRecord>,
): Settler {
  let kind: Native = 'unknown';
  let open = false;
  /** `agent_end` came and nothing began since. */
  let ended = false;
  /** By the clock: until then a retry may be waited for. */
  let retryUntil = 0;
  let compacting = false;
  /** Raised by whatever makes an earlier check worthless. */
  let generation = 0;
  let queueSeen = 0;
  let outcome: RunOutcome | undefined;
  let cancelTimer = () => {};
  let waiters: (() => void)[] = [];

  const settle = (result: RunOutcome, aborted?: boolean) => {
    if (!open) return;
    open = false;
    ended = false;
    retryUntil = 0;
    compacting = false;
    outcome = undefined;
    generation += 1;
    cancelTimer();
    emit({ type: 'agent_settled', outcome: result, ...(aborted !== undefined && { aborted }) });
    const told = waiters;
    waiters = [];
    for (const tell of told) tell();
  };

  const finalOutcome = (): RunOutcome => outcome ?? { stopReason: 'stop' };

  const rearm = (milliseconds?: number) => {
    generation += 1;
    cancelTimer();
    if (!open || !ended) return;
    const usual = kind === 'yes' || kind === 'likely' || compacting ? patience.native : patience.quiet;
    const mine = generation;
    cancelTimer = clock.after(Math.max(milliseconds ?? usual, retryUntil - clock.now()), () => {
      if (mine === generation) check(mine);
    });
  };

  const check = (mine: number) => {
    getState().then(
      (response) => {
        if (mine !== generation || !open) return;
        const state = (response.data ?? {}) as AgentState;
        const pending = state.pendingMessageCount ?? 0;
        if (response.success && (state.isStreaming || state.isCompacting)) {
          rearm(patience.recheck);
          return;
        }
        // An aborted run may leave its queue for the next prompt; any other queue is about to be taken.
        if (
          response.success &&
          pending > 0 &&
          outcome?.stopReason !== 'aborted' &&
          queueSeen < idleWithQueue
        ) {
          queueSeen += 1;
          rearm(patience.recheck);
          return;
        }
        // It would have come by now: what was likely is not so.
        if (kind === 'likely') kind = 'no';
        const result = finalOutcome();
        settle(result, result.stopReason === 'aborted');
      },
      // The agent is gone: its end settles the run.
      () => {},
    );
  };

  return {
    saw(fact) {
      switch (fact.type) {
        case 'agent_start':
          open = true;
          ended = false;
          retryUntil = 0;
          queueSeen = 0;
          rearm();
          break;
        case 'agent_end':
          ended = true;
          rearm();
          break;
        case 'message_end':
          if (fact.message.role === 'assistant') outcome = outcomeOf(fact.message);
          rearm();
          break;
        case 'auto_retry_start':
          retryUntil = clock.now() + fact.delayMs + patience.native;
          rearm();
          break;
        case 'auto_retry_end':
          retryUntil = 0;
          rearm();
          break;
        case 'compaction_start':
          compacting = true;
          rearm();
          break;
        case 'compaction_end':
          compacting = false;
          // A promise to go on is kept or not: it only earns patience.
          rearm(fact.willRetry ? patience.native : undefined);
          break;
        case 'queue_update':
        case 'turn_start':
        case 'message_start':
          rearm();
          break;
      }
    },
    native(aborted) {
      kind = 'yes';
      // One that comes before the run's end belongs to a prompt that was lost (protocol reference 8.3).
      if (!open || !ended) return;
      const result = finalOutcome();
      settle(result, aborted ?? result.stopReason === 'aborted');
    },
    replaced() {
      const result: RunOutcome = ended ? finalOutcome() : { stopReason: 'aborted' };
      settle(result, result.stopReason === 'aborted');
    },
    expect(native) {
      if (kind === 'unknown') kind = native;
    },
    died(message) {
      settle({ stopReason: 'error', errorMessage: message });
    },
    get running() {
      return open;
    },
    idle: () => (open ? new Promise((resolve) => waiters.push(resolve)) : Promise.resolve()),
  };
}

const outcomeOf = (message: Message): RunOutcome => ({
  stopReason: message.stopReason ?? 'stop',
  ...(typeof message.errorMessage === 'string' && { errorMessage: message.errorMessage }),
});
