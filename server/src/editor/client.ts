// What we say to the editor. Guarantees: every request has a timer or somebody who waits on purpose; none is sent while an
// answer to the editor is held back; messages are one line and none crowds out another. Must not know: sessions.
import { CancellationTokenSource, type MessageConnection } from 'vscode-jsonrpc/node';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import { oneLine as cleanLine } from '../session/transcript-text.ts';
import type { Traits } from './client-table.ts';

export type Level = 'error' | 'warning' | 'info';

export interface RequestHow {
  /** Milliseconds; absent: the caller waits on purpose. */
  limit?: number;
  /** Sends `$/cancelRequest`; the answer is still waited for. */
  signal?: AbortSignal;
}

export interface Client {
  readonly traits: Traits;
  request(method: string, params: object, how: RequestHow): Promise<unknown>;
  notify(method: string, params: object): void;
  /** `window/showMessage`, in its turn; what is urgent (an error, a question) at once. */
  message(level: Level, text: string, urgent?: boolean): void;
  /**
   * Says again the last message since then (milliseconds of the clock) that still holds, which a question does not; with `any`,
   * the last of all. False when there was none.
   */
  again(since: number, any?: boolean): boolean;
  /** The question that waits for commands, or none any more: where messages take each other's place it is said after each. */
  pin(text: string | undefined): void;
  /** `window/logMessage`. */
  record(text: string): void;
  /** Holds back requests to the editor until the returned function is called: an answer to it is due. */
  hold(): () => void;
  /** Runs when no answer is held back. */
  whenFree(run: () => void): void;
  end(): void;
}

interface Said {
  level: Level;
  text: string;
  /** Milliseconds of the clock. */
  at: number;
}

const types = { error: 1, warning: 2, info: 3 } as const;
/** Milliseconds between messages that are not errors. */
const gap = 2000;
/** Messages that may wait; more go to the log only. */
const waitingLimit = 10;
const longest = 400;

export function createClient(parts: {
  connection: MessageConnection;
  clock: Clock;
  log: Log;
  traits: () => Traits;
  /** The folder of log files, named in every error. */
  logs?: string;
}): Client {
  const { connection, clock, log, logs } = parts;
  const waitingForFree: (() => void)[] = [];
  const messages: { level: Level; text: string }[] = [];
  let held = 0;
  let quietUntil = 0;
  let said: Said = { level: 'info', text: '', at: -Infinity };
  /** What a person may want to read later: not a question, and not what answers a command at once. */
  let lasting = said;
  let pinned: string | undefined;
  let cancelNext: (() => void) | undefined;
  let ended = false;

  const notify = (method: string, params: object) => {
    if (ended) return;
    const sent = async () => connection.sendNotification(method, params);
    sent().catch((error: unknown) => log.debug({ error, method }, 'a notification was not sent'));
  };
  const say = (level: Level, text: string, urgent: boolean) => {
    // One cause can be seen in two places; it is told once.
    if (text === said.text && clock.now() < quietUntil) return;
    said = { level, text, at: clock.now() };
    if (level !== 'info' || !urgent) lasting = said;
    show(said);
  };
  const show = ({ level, text }: Said) => {
    quietUntil = clock.now() + gap;
    const type = Math.min(types[level], parts.traits().leastShown);
    const where = level === 'error' && logs !== undefined ? ` (log: ${logs})` : '';
    notify('window/showMessage', { type, message: oneLine(text) + where });
  };
  const next = () => {
    cancelNext = undefined;
    const message = messages.shift();
    if (message) say(message.level, message.text, false);
    else if (hidden()) say('info', pinned!, true);
    plan();
  };
  const hidden = () => pinned !== undefined && said.text !== pinned && parts.traits().hidesMessages;
  const plan = () => {
    if (ended || cancelNext || (messages.length === 0 && !hidden())) return;
    cancelNext = clock.after(Math.max(0, quietUntil - clock.now()), next);
  };
  const whenFree = (run: () => void) => {
    if (held === 0) run();
    else waitingForFree.push(run);
  };

  return {
    get traits() {
      return parts.traits();
    },
    request: (method, params, { limit, signal }) =>
      new Promise((resolve, reject) => {
        whenFree(() => {
          if (ended || signal?.aborted) return reject(gone(method));
          const source = new CancellationTokenSource();
          const cancelTimer =
            limit === undefined
              ? () => {}
              : clock.after(limit, () => {
                  source.cancel();
                  reject(
                    new AtomicError(
                      'TimedOut',
                      `The editor did not answer ${method} within ${limit / 1000} s: go on without it.`,
                    ),
                  );
                });
          const abort = () => source.cancel();
          signal?.addEventListener('abort', abort, { once: true });
          // Throws at once where the connection is gone.
          const answer = async () => connection.sendRequest(method, params, source.token);
          answer()
            .then(resolve, reject)
            .finally(() => {
              cancelTimer();
              signal?.removeEventListener('abort', abort);
            });
        });
      }),
    notify,
    message(level, text, urgent = level === 'error') {
      if (urgent || (messages.length === 0 && clock.now() >= quietUntil)) return say(level, text, urgent);
      if (messages.length >= waitingLimit) notify('window/logMessage', { type: types[level], message: text });
      else messages.push({ level, text });
      plan();
    },
    again(since, any = false) {
      const last = any ? said : lasting;
      if (last.at < since) return false;
      show(last);
      plan();
      return true;
    },
    pin(text) {
      pinned = text;
      plan();
    },
    record: (text) => notify('window/logMessage', { type: 3, message: oneLine(text) }),
    hold() {
      held += 1;
      let released = false;
      return () => {
        if (released) return;
        released = true;
        held -= 1;
        if (held > 0) return;
        for (const run of waitingForFree.splice(0)) run();
      };
    },
    whenFree,
    end() {
      ended = true;
      cancelNext?.();
      for (const run of waitingForFree.splice(0)) run();
    },
  };
}

const gone = (method: string): AtomicError =>
  new AtomicError('TimedOut', `${method} was not sent, because nobody waits for its answer any more.`);

/** Text as one line of bearable length, without what would command a terminal. */
export const oneLine = (text: string, limit = longest): string => cleanLine(text, limit);
