// Stopping what the agent does (protocol reference, sections 10 and 11). Guarantees: the right command for a run, a retry, a
// compaction or a shell command; queued texts go back to the one who stopped, none is dropped; a second stop while the
// first has no effect is stronger and offers a restart. Must not know: lanes of other commands.
import type { Origin } from '../protocol/facts.ts';
import type { ResponseRecord } from '../protocol/records.ts';
import type { Core } from './conduct.ts';
import type { Agent } from './ports.ts';

/** A stop for one session. It never starts an agent. */
export function stopEverything(core: Core): (origin: Origin | undefined) => Promise<ResponseRecord> {
  let stopping = 0;

  const quietly = (agent: Agent, type: string): Promise<ResponseRecord> =>
    agent.call({ type }).catch((error) => ({
      type: 'response',
      success: false,
      error: error instanceof Error ? error.message : String(error),
    }));

  const stopAgent = async (agent: Agent, texts: string[]): Promise<ResponseRecord> => {
    const { run, compaction, retry, queue, bash } = core.snapshot();
    const queued = queue.steering.length + queue.followUp.length > 0;
    // Both are written before either is answered: the queue must be empty when the run stops.
    const cleared = queued || run ? quietly(agent, 'clear_queue') : undefined;
    const compactionStopped = compaction ? quietly(agent, 'abort_compaction') : undefined;
    const onlyShell = !run && !retry && !compaction && Object.keys(bash).length > 0;
    const stopped = quietly(agent, onlyShell ? 'abort_bash' : 'abort');
    const taken = await cleared;
    if (taken?.success) {
      const { steering = [], followUp = [] } = (taken.data ?? {}) as {
        steering?: string[];
        followUp?: string[];
      };
      texts.push(...steering, ...followUp);
    }
    await compactionStopped;
    return stopped;
  };

  return async (origin) => {
    const returned = (texts: string[]) => {
      if (texts.length > 0) core.append({ type: 'queue_returned', texts, ...(origin && { origin }) });
    };
    // Before anything is heard of the agent, which may say nothing any more.
    returned(core.lanes.giveUp());
    const texts: string[] = [];
    const agent = core.life.current;
    core.dialogs.withdraw(
      () => true,
      (dialog) => agent?.answer(dialog, { cancelled: true }),
    );
    const again = stopping > 0;
    stopping += 1;
    try {
      if (!agent) return { type: 'response', success: true };
      if (again) {
        for (const type of ['abort_retry', 'abort_bash', 'abort_compaction']) void quietly(agent, type);
        core.append({
          type: 'notice',
          level: 'warning',
          message:
            'The agent has not stopped yet; if it stays like this, restart it with atomic.restartAgent.',
        });
      }
      return await stopAgent(agent, texts);
    } finally {
      stopping -= 1;
      returned(texts);
    }
  };
}
