// The connection to the hub and the one session that this editor follows. Guarantees: connected on the first need; when the
// connection is lost it comes back by itself and continues where it stood; what was being sent is sent again under the same
// id to the same hub, and never to another. Must not know: LSP, how the hub is reached.
import { randomUUID } from 'node:crypto';
import type { HubClient } from '../hub/client.ts';
import type { Settings } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Cursor, FactsBatch } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { emptySnapshot } from '../session/fold.ts';
import type { Clock, Log } from '../session/ports.ts';
import { type Change, createMirror, type Mirror } from './mirror.ts';

/** Reaches a hub, or makes a private one. `name` is what a person calls the editor. */
export type Connect = (settings: Settings, name: string) => Promise<HubClient>;

export interface LinkEvents {
  /** Facts came, or everything is new. */
  change(change: Change): void;
  /** The hub is gone; it is being started again. */
  lost(): void;
  back(): void;
  /** It could not be reached again; the next need tries once more. */
  givenUp(error: unknown): void;
}

export interface Link {
  /** Undefined before the first attach. */
  readonly mirror: Mirror | undefined;
  readonly connected: boolean;
  /** The session's folder of files; undefined before the first attach. */
  readonly folder: string | undefined;
  /** Attaches if need be. Rejects with what {@link Connect} and the hub reject with. */
  ready(): Promise<Mirror>;
  /** Sends an intent; resolves when the hub has accepted it. */
  intent(id: string, command: string, params: object): Promise<void>;
  read(command: string, params: object): Promise<unknown>;
  /** A new intent's id. */
  newId(): string;
  /** Whether this editor sent the intent. */
  sent(id: string): boolean;
  /** Whether an origin is this editor. */
  isUs(origin: { id: string } | undefined): boolean;
  /** Follows a session of a workspace; what is not given stays. */
  follow(target: { session?: string; workspace?: string }): Promise<Mirror>;
  /** Takes other settings; attaches again where the hub has to know. */
  configure(settings: Settings): void;
  close(): void;
}

/** Milliseconds before each attempt to come back. */
export const comebacks = [0, 250, 500, 1000, 2000, 4000, 8000];
/** How often one intent or read is sent when connections break under it. */
const attempts = 3;

export function createLink(parts: {
  connect: Connect;
  name: () => string;
  workspace: string;
  settings: Settings;
  clock: Clock;
  log: Log;
  events: LinkEvents;
}): Link {
  const { clock, log, events } = parts;
  const sent = new Set<string>();
  let { settings, workspace } = parts;
  let session = settings.session;
  let folder: string | undefined;
  let mirror: Mirror | undefined;
  let client: HubClient | undefined;
  let followed: { hub: HubClient; number: string } | undefined;
  let attached = false;
  /** Grows when what is wanted of the hub is another: an attach that was on its way then is not the last. */
  let wanted = 0;
  let attaching: Promise<Mirror> | undefined;
  let cancelComeback: (() => void) | undefined;
  let missing = false;
  let closed = false;

  const taken = (batch: FactsBatch) => {
    if (!attached || !mirror || batch.session !== mirror.session || mirror.take(batch)) return;
    // Never seen in practice; a copy with a hole would be worse than a new one.
    log.error({ expected: mirror.seq + 1, from: batch.from }, 'facts are missing; attaching anew');
    attached = false;
    void ready().catch((error: unknown) => log.error({ error }, 'attaching anew failed'));
  };
  const gone = (which: HubClient) => {
    if (client !== which) return;
    client = undefined;
    const was = attached;
    attached = false;
    if (closed || !was) return;
    log.warn({}, 'the hub is gone');
    missing = true;
    events.lost();
    comeBack(0);
  };
  const comeBack = (attempt: number) => {
    cancelComeback?.();
    cancelComeback = clock.after(comebacks[attempt]!, () => {
      cancelComeback = undefined;
      if (closed || attached) return;
      ready().catch((error: unknown) => {
        if (closed || attached) return;
        if (attempt + 1 < comebacks.length) comeBack(attempt + 1);
        else events.givenUp(error);
      });
    });
  };

  const again = () => {
    wanted += 1;
    attached = false;
  };

  const connected = async (): Promise<HubClient> => {
    if (client) return client;
    const fresh = await parts.connect(settings, parts.name());
    if (closed) {
      fresh.close();
      throw unreachable();
    }
    client = fresh;
    fresh.onFacts(taken);
    fresh.onResync((resync) => {
      if (attached && mirror && resync.session === mirror.session) mirror.reset(resync);
    });
    fresh.onClose(() => gone(fresh));
    return fresh;
  };
  const attach = async (): Promise<Mirror> => {
    const hub = await connected();
    const before = mirror;
    const want = wanted;
    const { agent, start, whileBusy } = settings;
    const result = await hub.attach({
      workspace,
      whileBusy,
      ...(session !== undefined && { session }),
      ...(before && { cursor: { epoch: before.epoch, seq: before.seq } }),
      ...(agent && { agent }),
      ...(start && { start }),
    });
    if (closed || client !== hub) throw unreachable();
    const { session: number, epoch, seq } = result;
    const leave = (left: string) =>
      hub.detach(left).catch((error: unknown) => log.debug({ error }, 'a session could not be left'));
    if (followed?.hub === hub && followed.number !== number) void leave(followed.number);
    followed = { hub, number };
    if (want !== wanted) return attach();
    attached = true;
    folder = result.folder;
    const snapshot: Snapshot = result.snapshot ?? before?.snapshot ?? emptySnapshot();
    if (!mirror) {
      mirror = createMirror({ session: number, epoch, seq, snapshot });
      mirror.onChange(events.change);
      events.change({ facts: [], snapshot, fresh: true });
    } else if (result.snapshot) mirror.reset({ session: number, epoch, seq, snapshot });
    else {
      mirror.rename(number);
      events.change({ facts: [], snapshot, fresh: true });
    }
    return mirror;
  };
  function ready(): Promise<Mirror> {
    if (closed) return Promise.reject(unreachable());
    if (attached && mirror) return Promise.resolve(mirror);
    attaching ??= (async () => {
      try {
        const result = await attach();
        cancelComeback?.();
        cancelComeback = undefined;
        if (missing) events.back();
        missing = false;
        return result;
      } finally {
        attaching = undefined;
      }
    })();
    return attaching;
  }
  const persistently = async <T>(run: (hub: HubClient, number: string) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      const { session: number } = await ready();
      const hub = client;
      if (!hub) continue;
      try {
        return await run(hub, number);
      } catch (error) {
        if (!isUnreachable(error) || closed || attempt === attempts) throw error;
        // A hub that is stopping answers so, too, and its connection is of no more use.
        hub.close();
        gone(hub);
      }
    }
  };

  return {
    get mirror() {
      return mirror;
    },
    get connected() {
      return attached;
    },
    get folder() {
      return folder;
    },
    ready,
    async intent(id, command, params) {
      sent.add(id);
      let epoch: string | undefined;
      await persistently(async (hub, number) => {
        const now = mirror?.epoch;
        // Another hub does not know the id: it could do the same a second time.
        if (epoch !== undefined && epoch !== now) throw unknownOutcome(command);
        try {
          await hub.intent({
            session: number,
            id,
            command,
            params: { ...params } as Record<string, unknown>,
          });
        } catch (error) {
          if (!(error instanceof AtomicError && error.data?.accepted === false)) epoch = now;
          throw error;
        }
      });
    },
    read: (command, params) =>
      persistently((hub, number) =>
        hub.read({ session: number, command, params: { ...params } as Record<string, unknown> }),
      ),
    newId: randomUUID,
    sent: (id) => sent.has(id),
    isUs: (origin) => origin !== undefined && origin.id === client?.origin.id,
    follow({ session: asked, workspace: place = workspace }) {
      // The hub's number of the session that is followed means that session, too.
      const name = asked === undefined || asked === mirror?.session ? session : asked;
      if (name !== session || place !== workspace) {
        session = name;
        workspace = place;
        again();
      }
      return ready();
    },
    configure(next) {
      const told = (it: Settings) => JSON.stringify([it.agent, it.start, it.whileBusy]);
      const other = next.session !== settings.session;
      const changed = other || told(next) !== told(settings);
      settings = next;
      if (other) session = next.session;
      if (!changed || !(attached || attaching)) return;
      again();
      ready().catch((error: unknown) => log.warn({ error }, 'the new settings could not be told'));
    },
    close() {
      closed = true;
      cancelComeback?.();
      client?.close();
    },
  };
}

export const cursorOf = ({ epoch, seq }: Mirror): Cursor => ({ epoch, seq });

const isUnreachable = (error: unknown): boolean =>
  error instanceof AtomicError && error.code === 'HubUnreachable';

const unknownOutcome = (command: string): AtomicError =>
  new AtomicError(
    'OutcomeUnknown',
    `The hub ended while "${command}" was on its way, so whether it was done is not known: look at the conversation before you send it again.`,
  );

const unreachable = (): AtomicError =>
  new AtomicError('HubUnreachable', 'The connection to the hub was lost while it was needed: try again.');
