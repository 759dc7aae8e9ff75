// The lanes of calls to one agent (protocol reference, section 8). Guarantees: on the serial lane a call is sent only
// after the previous one was answered, in the order of arrival; the free lane never waits; a limit on an answer does not
// run while a slow call may be holding the agent's own lane. Must not know: what is called.
import { AtomicError } from '../protocol/errors.ts';
import type { Clock } from './ports.ts';

export interface Waiting {
  /** What a person would want back when this is given up before it was sent. */
  text?: string;
  /** Done on its turn before it is sent (the agent is started); it can still be given up meanwhile. */
  first?: () => Promise<unknown>;
}

export interface Lanes {
  /** Runs on the serial lane; rejects with the given error when it was given up before its turn. */
  serial<T>(run: () => Promise<T>, waiting?: Waiting): Promise<T>;
  /** Runs at once. With `limit` (milliseconds) it rejects with `TimedOut` when no answer came in time. */
  free<T>(run: () => Promise<T>, limit?: { milliseconds: number; what: string }): Promise<T>;
  /** Holds the serial lane back until the returned function is called. */
  hold(): () => void;
  /** Gives up everything on the serial lane that was not sent; returns the texts. */
  giveUp(): string[];
  readonly serialBusy: boolean;
}

export function createLanes(clock: Clock): Lanes {
  const queue: { start: () => Promise<void>; text?: string; givenUp: () => void }[] = [];
  const holds = new Set<symbol>();
  let running = false;
  /** What has its turn and is not sent yet. */
  let preparing: (typeof queue)[number] | undefined;

  const advance = () => {
    if (running || holds.size > 0) return;
    const next = queue.shift();
    if (!next) return;
    running = true;
    void next.start().finally(() => {
      running = false;
      advance();
    });
  };

  return {
    serial: (run, { text, first } = {}) =>
      new Promise((resolve, reject) => {
        let over = false;
        const inTurn = async () => {
          if (first) {
            preparing = entry;
            await first().finally(() => {
              preparing = undefined;
            });
          }
          if (!over) resolve(await run());
        };
        const entry = {
          ...(text !== undefined && { text }),
          start: () => inTurn().catch(reject),
          givenUp() {
            over = true;
            reject(new AtomicError('AgentRefused', 'Taken back before it was sent, because of a stop.'));
          },
        };
        queue.push(entry);
        advance();
      }),
    free: (run, limit) =>
      limit === undefined
        ? run()
        : new Promise((resolve, reject) => {
            let cancel = () => {};
            const arm = () => {
              cancel = clock.after(limit.milliseconds, () => {
                if (running) arm();
                else
                  reject(
                    new AtomicError(
                      'TimedOut',
                      `The agent has not answered ${limit.what} within ${limit.milliseconds / 1000} s; it may be busy or stuck: try again, or restart it with atomic.restartAgent.`,
                    ),
                  );
              });
            };
            arm();
            run()
              .then(resolve, reject)
              .finally(() => cancel());
          }),
    hold() {
      const key = Symbol('hold');
      holds.add(key);
      return () => {
        holds.delete(key);
        advance();
      };
    },
    giveUp() {
      const given = [...(preparing ? [preparing] : []), ...queue.splice(0)];
      preparing = undefined;
      for (const entry of given) entry.givenUp();
      return given.flatMap((entry) => (entry.text === undefined ? [] : [entry.text]));
    },
    get serialBusy() {
      return running;
    },
  };
}
