// When a prompt is over, and how. Guarantees: pure; a prompt that starts a run ends with it, one that starts none (an extension's
// command, a paused queue) ends too, and never because of a guess about time. Must not know: sockets, what is shown.
import type { Fact, RunOutcome } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { exitCodes } from './terminal.ts';

/** The exit code and, unless all is well, the sentence that goes with it. */
export interface Ending {
  code: number;
  sentence?: string;
}

/** `ask`: whether a run is going on must be asked of the agent, as no fact tells that none follows. */
export type Verdict = 'go on' | 'ask' | Ending;

export interface Waiting {
  see(fact: Fact): Verdict;
  /** After a gap: the snapshot stands for all facts that were missed. */
  resync(snapshot: Snapshot): Verdict;
  /** What the agent said, when all facts that were there at that time have been seen. */
  asked(streaming: boolean): Verdict;
}

/** Waits for the prompt `intent` in a session that looked like `snapshot` when it was sent. */
export function createWaiting(intent: string, snapshot: Snapshot): Waiting {
  let running = snapshot.run !== null;
  let accepted = false;
  let settled = false;
  let queued = false;
  let last: RunOutcome | undefined;
  /** Questions that are open: whoever asks is not done. */
  let open = new Set(snapshot.dialogs.map((dialog) => dialog.id));

  const now = (): Verdict => (!settled || running ? 'go on' : last ? endingOf(last) : 'ask');

  const settle = (outcome: string, error: string | undefined, data?: unknown): Verdict => {
    if (outcome === 'done') {
      settled = true;
      queued = (data as { disposition?: unknown } | undefined)?.disposition === 'queued';
      return now();
    }
    // A prompt fails without a refusal only where there is no agent to take it.
    const code = outcome === 'failed' ? exitCodes.noAgent : exitCodes.failed;
    return { code, sentence: error ?? 'The prompt was not taken.' };
  };

  return {
    see(fact) {
      switch (fact.type) {
        case 'intent_accepted':
          if (fact.intent === intent) accepted = true;
          return 'go on';
        case 'intent_settled':
          return fact.intent === intent ? settle(fact.outcome, fact.error, fact.data) : 'go on';
        case 'dialog_opened':
          open.add(fact.dialog.id);
          return 'go on';
        case 'dialog_settled':
          return open.delete(fact.id) && open.size === 0 ? now() : 'go on';
        case 'agent_start':
          running = true;
          return 'go on';
        case 'agent_settled':
          running = false;
          if (accepted) last = outcomeOf(fact.outcome, fact.aborted);
          return now();
        case 'agent_exited':
          running = false;
          return settled
            ? last
              ? endingOf(last)
              : { code: exitCodes.failed, sentence: fact.message }
            : 'go on';
        default:
          return 'go on';
      }
    },
    resync(snapshot) {
      const own = snapshot.intents.find((it) => it.intent === intent);
      accepted ||= own !== undefined;
      running = snapshot.run !== null;
      open = new Set(snapshot.dialogs.map((dialog) => dialog.id));
      if (accepted && !running && snapshot.lastRun) last = snapshot.lastRun;
      if (own && own.outcome !== 'pending' && !settled) return settle(own.outcome, own.error);
      return now();
    },
    asked(streaming) {
      if (running || streaming || open.size > 0) return 'go on';
      if (last) return endingOf(last);
      return queued
        ? { code: exitCodes.done, sentence: "The prompt waits in the agent's queue." }
        : { code: exitCodes.done };
    },
  };
}

const outcomeOf = (outcome: RunOutcome, aborted: boolean | undefined): RunOutcome =>
  aborted ? { ...outcome, stopReason: 'aborted' } : outcome;

/** The exit code of a run's outcome. */
function endingOf({ stopReason, errorMessage }: RunOutcome): Ending {
  if (stopReason === 'aborted') return { code: exitCodes.interrupted, sentence: 'The run was stopped.' };
  if (stopReason === 'error')
    return {
      code: exitCodes.failed,
      sentence: `The run failed: ${errorMessage ?? 'the agent did not say why'}`,
    };
  if (stopReason === 'length')
    return { code: exitCodes.done, sentence: "The answer was cut off at the model's limit of length." };
  return { code: exitCodes.done };
}
