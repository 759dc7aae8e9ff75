// The connection to the hub, which all sessions of this editor share. Guarantees: made on the first need; when it is lost it
// comes back by itself, and every session with it; whoever needs it meanwhile tries at once. Must not know: LSP, how the
// hub is reached, what is said over it.
import type { HubClient } from '../hub/client.ts';
import type { Settings } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { FactsBatch, Resync } from '../protocol/hub.ts';
import type { Clock, Log } from '../session/ports.ts';

/** Reaches a hub, or makes a private one. `name` is what a person calls the editor. */
export type Connect = (settings: Settings, name: string) => Promise<HubClient>;

export interface LineEvents {
  /** The hub is gone; it is being started again. */
  lost(): void;
  back(): void;
  /** It could not be reached again; the next need tries once more. */
  givenUp(error: unknown): void;
}

/** A session that uses the connection. */
export interface Member {
  readonly attached: boolean;
  facts(batch: FactsBatch): void;
  resync(resync: Resync): void;
  /** The connection is lost; true where the session was attached. */
  lost(): boolean;
  /** Attaches again. */
  again(): Promise<unknown>;
}

export interface Line {
  /** The connection that there is. */
  readonly client: HubClient | undefined;
  /** The connection, made if need be. Rejects with what {@link Connect} rejects with. */
  connected(): Promise<HubClient>;
  /** Takes part in it until the returned function is called. */
  join(member: Member): () => void;
  /** A session is attached. */
  reached(): void;
  /** This connection is of no more use. */
  gone(which: HubClient): void;
  configure(settings: Settings): void;
  close(): void;
}

/** Milliseconds before each attempt to come back. */
export const comebacks = [0, 250, 500, 1000, 2000, 4000, 8000];

export function createLine(parts: {
  connect: Connect;
  name: () => string;
  settings: Settings;
  clock: Clock;
  log: Log;
  events: LineEvents;
}): Line {
  const { clock, log, events } = parts;
  const members = new Set<Member>();
  /** Sessions that were attached when the connection was lost. */
  const missing = new Set<Member>();
  let { settings } = parts;
  let client: HubClient | undefined;
  let connecting: Promise<HubClient> | undefined;
  let cancelComeback: (() => void) | undefined;
  let away = false;
  let closed = false;

  const gone = (which: HubClient) => {
    if (client !== which) return;
    client = undefined;
    for (const member of members) if (member.lost()) missing.add(member);
    if (closed || missing.size === 0) return;
    log.warn({}, 'the hub is gone');
    away = true;
    events.lost();
    comeBack(0);
  };
  const comeBack = (attempt: number) => {
    cancelComeback?.();
    cancelComeback = clock.after(comebacks[attempt]!, () => {
      cancelComeback = undefined;
      const wanted = [...missing].filter((member) => members.has(member) && !member.attached);
      if (closed || wanted.length === 0) return;
      Promise.all(wanted.map((member) => member.again())).catch((error: unknown) => {
        if (closed || cancelComeback || wanted.every(({ attached }) => attached)) return;
        if (attempt + 1 < comebacks.length) comeBack(attempt + 1);
        else events.givenUp(error);
      });
    });
  };
  const connect = async (): Promise<HubClient> => {
    const fresh = await parts.connect(settings, parts.name());
    if (closed) {
      fresh.close();
      throw unreachable();
    }
    client = fresh;
    fresh.onFacts((batch) => {
      for (const member of members) member.facts(batch);
    });
    fresh.onResync((resync) => {
      for (const member of members) member.resync(resync);
    });
    fresh.onClose(() => gone(fresh));
    return fresh;
  };

  return {
    get client() {
      return client;
    },
    async connected() {
      if (closed) throw unreachable();
      if (client) return client;
      connecting ??= connect().finally(() => {
        connecting = undefined;
      });
      return connecting;
    },
    join(member) {
      members.add(member);
      return () => {
        members.delete(member);
        missing.delete(member);
      };
    },
    reached() {
      for (const member of missing) if (member.attached) missing.delete(member);
      if (missing.size === 0) {
        cancelComeback?.();
        cancelComeback = undefined;
      }
      if (away) events.back();
      away = false;
    },
    gone,
    configure(next) {
      settings = next;
    },
    close() {
      closed = true;
      cancelComeback?.();
      client?.close();
    },
  };
}

export const unreachable = (): AtomicError =>
  new AtomicError('HubUnreachable', 'The connection to the hub was lost while it was needed: try again.');
