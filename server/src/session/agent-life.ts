// The agent of one session through its lives. Guarantees: it is started on the first need and once only; what reaches the
// session from it belongs to the life that is going on; an agent that keeps dying is not started for ever, and rests in between. Must not know:
// what is said to the agent.
import { AtomicError } from '../protocol/errors.ts';
import type { Agent, AgentEvents, AgentExit, AgentSpec, Clock, StartAgent } from './ports.ts';

/** Milliseconds before an agent that ended by itself is started again, by how often it has ended lately. */
export const restartAfter = [0, 2_000];
/** So many unexpected ends within so many milliseconds, and the next start waits for a person. */
export const crashLoop = { ends: 3, within: 60_000 };

export interface AgentLife {
  /** The agent that runs now. */
  readonly current: Agent | undefined;
  /**
   * The agent, started if need be, with its state read. Rejects with `AgentNotFound`, `AgentStartFailed`, `AgentGone`.
   */
  ready(): Promise<Agent>;
  /** Ends the agent and starts it again; forgives earlier crashes. */
  restart(): Promise<void>;
  /** Ends the agent; the next need starts it again. */
  stop(): Promise<void>;
}

export function createAgentLife(parts: {
  startAgent: StartAgent;
  clock: Clock;
  spec: () => AgentSpec;
  /** When an agent that ended by itself is started again. */
  restart: () => 'onPrompt' | 'atOnce';
  /** It is not started again by itself any more; the sentence says why. */
  gaveUp: (sentence: string) => void;
  events: AgentEvents;
  /** Called with every new agent; what it does belongs to getting ready. */
  greeted: (agent: Agent, resumed: string | undefined) => Promise<void>;
}): AgentLife {
  const { startAgent, clock, events } = parts;
  let current: Agent | undefined;
  let getting: Promise<Agent> | undefined;
  /** Until its process runs or could not be started; that it says something may take for ever. */
  let starting: Promise<unknown> | undefined;
  let crashes: number[] = [];
  let lastWords = '';
  let stopping: Promise<void> | undefined;
  let cancelRestart = () => {};

  const crashed = (exit: AgentExit) => {
    if (exit.expected) return;
    lastWords = exit.message;
    crashes = [...crashes, clock.now()].slice(-crashLoop.ends);
    if (parts.restart() === 'onPrompt') return;
    if (looping()) return parts.gaveUp(leftAlone());
    const lately = crashes.filter((at) => clock.now() - at < crashLoop.within).length;
    cancelRestart();
    // What goes wrong is told by the end of the new agent, or by the next need.
    cancelRestart = clock.after(restartAfter[lately - 1]!, () => void life.ready().catch(() => {}));
  };
  const looping = () => crashes.length >= crashLoop.ends && clock.now() - crashes[0]! < crashLoop.within;

  const leftAlone = () =>
    `The agent ended ${crashLoop.ends} times within a minute and is left alone now; mend its cause, then use atomic.restartAgent. Its last words: ${lastWords}`;

  const started = async (): Promise<Agent> => {
    if (looping()) throw new AtomicError('AgentStartFailed', leftAlone());
    const spec = parts.spec();
    let gone: AgentExit | undefined;
    let agent: Agent | undefined;
    const living =
      <T extends unknown[]>(tell: (...args: T) => void) =>
      (...args: T) => {
        if (!gone) tell(...args);
      };
    const begun = startAgent(spec, {
      fact: living(events.fact),
      dialog: living(events.dialog),
      dialogWithdrawn: living(events.dialogWithdrawn),
      exit: living((exit) => {
        gone = exit;
        if (current === agent) {
          current = undefined;
          getting = undefined;
        }
        events.exit(exit);
        crashed(exit);
      }),
    });
    starting = begun;
    agent = await begun;
    if (gone) throw new AtomicError('AgentStartFailed', lastWords);
    current = agent;
    await parts.greeted(agent, spec.resume);
    const end = gone as AgentExit | undefined;
    // Whoever needs it still does, and nothing was sent to this one.
    if (end?.expected) return life.ready();
    if (end) throw new AtomicError('AgentStartFailed', end.message);
    return agent;
  };

  const life: AgentLife = {
    get current() {
      return current;
    },
    async ready() {
      await stopping;
      if (!getting) {
        const attempt = started();
        getting = attempt;
        // A failed start is not kept: the next need tries again.
        attempt.catch(() => {
          if (getting === attempt) getting = undefined;
        });
      }
      return getting;
    },
    async restart() {
      crashes = [];
      await life.stop();
      await life.ready();
    },
    async stop() {
      cancelRestart();
      if (stopping) return stopping;
      // One that is just starting is waited for, as it would live on otherwise.
      if (getting && !current) await starting?.catch(() => {});
      const agent = current;
      if (!agent) return;
      stopping = agent.stop().finally(() => {
        stopping = undefined;
      });
      return stopping;
    },
  };
  return life;
}
