// The demo agent's runs and its queue. Guarantees: one run at a time; a run is over at `agent_settled`, which every run gets unless
// a new session cuts it; steering goes before the next model call, follow-ups when the run would stop; an abort goes on with
// what is queued, as Atomic does (protocol reference 10 and 11). Must not know: what a scene shows, commands.
import type { AgentRecord, Message } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { pause } from './pause.ts';
import { type DemoSession, textOf } from './session.ts';
import { createStage, type Stage } from './stage.ts';

/** One step of a run; `attempt` counts from 1 and grows when the run is retried. */
export type Step = (on: { stage: Stage; attempt: number; signal: AbortSignal }) => Promise<void>;

/** Thrown by a step whose model call failed, after `stage.fail`. */
export interface ModelFailure {
  failed: string;
  retryable: boolean;
}

export interface RunnerWorld {
  send(record: AgentRecord): void;
  clock: Clock;
  session: DemoSession;
  /** What is played for a user's message. */
  steps(message: Message): { steps: Step[]; pace: number };
}

type Queue = 'steering' | 'followUp';
export type Mode = 'all' | 'one-at-a-time';
const attempts = { max: 3, delay: 2000 };

export type Runner = ReturnType<typeof createRunner>;

/** The machine that plays prompts one after the other. */
export function createRunner({ send, clock, session, steps }: RunnerWorld) {
  const queue: Record<Queue, Message[]> = { steering: [], followUp: [] };
  const settings = {
    paused: false,
    autoRetry: true,
    modes: { steering: 'one-at-a-time', followUp: 'one-at-a-time' } as Record<Queue, Mode>,
  };
  let active: { abort: AbortController; stopped: (() => void)[]; replaced: boolean } | undefined;
  let waiting: AbortController | undefined;
  let plan: Step[] = [];
  let pace = 0;
  let retrying = 0;

  const texts = () => ({
    steering: queue.steering.map(textOf),
    followUp: queue.followUp.map(textOf),
  });
  const told = () => send({ type: 'queue_update', ...texts() });
  const take = (from: Queue): Message[] => {
    if (settings.paused || queue[from].length === 0) return [];
    const taken = queue[from].splice(0, settings.modes[from] === 'all' ? Number.POSITIVE_INFINITY : 1);
    told();
    return taken;
  };
  /** The queue whose turn it is. */
  const waitingQueue = (): Queue | undefined => {
    if (settings.paused) return undefined;
    return queue.steering.length > 0 ? 'steering' : queue.followUp.length > 0 ? 'followUp' : undefined;
  };
  const prepare = (messages: Message[]) => {
    for (const message of messages) {
      const next = steps(message);
      plan.push(...next.steps);
      pace = next.pace;
    }
    return messages;
  };

  /** One `agent_start` … `agent_end`; the failure that ended it, if one did. */
  const lowRun = async (given: Message[], signal: AbortSignal): Promise<ModelFailure | undefined> => {
    send({ type: 'agent_start' });
    const stage = createStage({
      send,
      session,
      clock,
      signal,
      pace: () => pace,
      steering: () => prepare(take('steering')),
      succeeded() {
        if (retrying > 0) send({ type: 'auto_retry_end', success: true, attempt: retrying });
        retrying = 0;
      },
    });
    let failure: ModelFailure | undefined;
    try {
      for (let messages = () => given; ; ) {
        stage.turn(messages);
        while (plan.length > 0) {
          await plan[0]!({ stage, attempt: retrying + 1, signal });
          plan.shift();
        }
        stage.close();
        const next = waitingQueue();
        if (!next) break;
        messages = () => prepare(take(next));
      }
    } catch (error) {
      if (signal.aborted) stage.cut();
      else if (isFailure(error)) failure = error;
      else throw error;
    }
    send({ type: 'agent_end', messages: stage.messages });
    return failure;
  };

  /** The wait before a retry; false when it was cancelled. */
  const waited = async (failure: ModelFailure, signal: AbortSignal): Promise<boolean> => {
    retrying += 1;
    const delayMs = attempts.delay * 2 ** (retrying - 1);
    send({
      type: 'auto_retry_start',
      attempt: retrying,
      maxAttempts: attempts.max,
      delayMs,
      errorMessage: failure.failed,
    });
    waiting = new AbortController();
    try {
      await pause(clock, delayMs, AbortSignal.any([signal, waiting.signal]));
      return true;
    } catch {
      send({ type: 'auto_retry_end', success: false, attempt: retrying, finalError: 'Retry cancelled' });
      return false;
    } finally {
      waiting = undefined;
    }
  };

  const run = async (first: Message[]) => {
    let given = first;
    for (;;) {
      const own = { abort: new AbortController(), stopped: [] as (() => void)[], replaced: false };
      active = own;
      const { signal } = own.abort;
      plan = [];
      retrying = 0;
      prepare(given);
      let failure = await lowRun(given, signal);
      while (failure?.retryable && settings.autoRetry) {
        if (retrying === attempts.max) {
          send({ type: 'auto_retry_end', success: false, attempt: retrying, finalError: failure.failed });
          break;
        }
        if (!(await waited(failure, signal))) break;
        failure = await lowRun([], signal);
      }
      for (const stopped of own.stopped) stopped();
      if (own.replaced) break;
      const next = signal.aborted ? waitingQueue() : undefined;
      if (!next) break;
      given = take(next);
    }
    const silent = active?.replaced;
    active = undefined;
    if (!silent) send({ type: 'agent_settled' });
  };

  const stop = (replaced: boolean): Promise<void> => {
    const own = active;
    if (!own) return Promise.resolve();
    own.replaced ||= replaced;
    return new Promise((resolve) => {
      own.stopped.push(resolve);
      own.abort.abort(new Error('aborted'));
    });
  };

  return {
    settings,
    texts,
    get busy() {
      return active !== undefined;
    },
    /** Starts a run with this message and what is queued. Only while none is going on. */
    start(message: Message): void {
      const queued = [...take('steering'), ...take('followUp')];
      void run([message, ...queued]);
    },
    enqueue(on: Queue, message: Message): void {
      queue[on].push(message);
      told();
    },
    clear(): { steering: string[]; followUp: string[] } {
      const taken = texts();
      queue.steering = [];
      queue.followUp = [];
      told();
      return taken;
    },
    /** Aborts the run; `done` is called after its `agent_end`, before what follows. */
    abort(done: () => void): void {
      if (!active) done();
      else {
        active.stopped.push(done);
        active.abort.abort(new Error('aborted'));
      }
    },
    abortRetry: () => waiting?.abort(new Error('aborted')),
    /** Ends the run because the session is another one now: no `agent_settled`, and the queue is gone without a word. */
    async cut(): Promise<void> {
      await stop(true);
      queue.steering = [];
      queue.followUp = [];
    },
  };
}

const isFailure = (error: unknown): error is ModelFailure =>
  typeof error === 'object' && error !== null && 'retryable' in error;
