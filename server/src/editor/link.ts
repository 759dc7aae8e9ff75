// One session that this editor follows. Guarantees: attached on the first need; when the connection is lost it continues where
// it stood; what was being sent is sent again under the same id to the same hub, and never to another. Must not know: LSP,
// how the hub is reached, which sessions there are besides.
import { randomUUID } from 'node:crypto';
import type { HubClient } from '../hub/client.ts';
import type { Settings } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { FactsBatch } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { emptySnapshot } from '../session/fold.ts';
import type { Log } from '../session/ports.ts';
import { type Line, unreachable } from './line.ts';
import { type Change, createMirror, type Mirror } from './mirror.ts';

/** A session as the hub knows it: a folder, and the session's name in it; without a name the one that editors share. */
export interface Target {
  readonly workspace: string;
  readonly session?: string;
}

export interface Link {
  /** By which the editor's side names the session, whatever the hub calls it now. */
  readonly id: string;
  readonly target: Target;
  /** Undefined before the first attach. */
  readonly mirror: Mirror | undefined;
  readonly connected: boolean;
  /** The session's folder of files; undefined before the first attach. */
  readonly folder: string | undefined;
  /** Attaches if need be. Rejects with what the hub and the way to it reject with. */
  ready(): Promise<Mirror>;
  /** Sends an intent; resolves when the hub has accepted it. */
  intent(id: string, command: string, params: object): Promise<void>;
  read(command: string, params: object): Promise<unknown>;
  /** A new intent's id. */
  newId(): string;
  /** Whether this editor sent the intent. */
  sent(id: string): boolean;
  /** The parameters of an intent of this editor, which are kept until they are asked for. */
  given(id: string): object | undefined;
  /** Whether an origin is this editor. */
  isUs(origin: { id: string } | undefined): boolean;
  /** Takes other settings; attaches again where the hub has to know. */
  configure(settings: Settings): void;
  /** Leaves the session. */
  close(): void;
}

/** How often one intent or read is sent when connections break under it. */
const attempts = 3;

export function createLink(parts: {
  id: string;
  line: Line;
  target: Target;
  settings: Settings;
  log: Log;
  change(change: Change): void;
  /** The hub has a sentence for the person. */
  note(sentence: string): void;
}): Link {
  const { id, line, target, log } = parts;
  const sent = new Map<string, object | undefined>();
  let { settings } = parts;
  let folder: string | undefined;
  let mirror: Mirror | undefined;
  let followed: { hub: HubClient; number: string } | undefined;
  let attached = false;
  /** Grows when what is wanted of the hub is another: an attach that was on its way then is not the last. */
  let wanted = 0;
  let attaching: Promise<Mirror> | undefined;
  let closed = false;
  let noted: string | undefined;

  const taken = (batch: FactsBatch) => {
    if (!attached || !mirror || batch.session !== followed?.number || mirror.take(batch)) return;
    // Never seen in practice; a copy with a hole would be worse than a new one.
    log.error({ expected: mirror.seq + 1, from: batch.from }, 'facts are missing; attaching anew');
    attached = false;
    void ready().catch((error: unknown) => log.error({ error }, 'attaching anew failed'));
  };
  const leave = line.join({
    get attached() {
      return attached;
    },
    facts: taken,
    resync(resync) {
      if (attached && mirror && resync.session === followed?.number) mirror.reset(resync);
    },
    lost() {
      const was = attached;
      attached = false;
      return was;
    },
    again: () => ready(),
  });
  const left = (hub: HubClient, number: string) =>
    hub.detach(number).catch((error: unknown) => log.debug({ error }, 'a session could not be left'));

  const attach = async (): Promise<Mirror> => {
    const hub = await line.connected();
    const before = mirror;
    const want = wanted;
    const { agent, agentRefused, start, whileBusy, restart } = settings;
    const result = await hub.attach({
      workspace: target.workspace,
      whileBusy,
      restart,
      ...(target.session !== undefined && { session: target.session }),
      ...(before && { cursor: { epoch: before.epoch, seq: before.seq } }),
      ...(agent && { agent }),
      ...(agentRefused !== undefined && { agentRefused }),
      ...(start && { start }),
    });
    const { session: number, epoch, seq } = result;
    if (closed && line.client === hub) void left(hub, number);
    if (closed || line.client !== hub) throw unreachable();
    if (followed?.hub === hub && followed.number !== number) void left(hub, followed.number);
    followed = { hub, number };
    if (want !== wanted) return attach();
    attached = true;
    folder = result.folder;
    if (result.note !== undefined && result.note !== noted) parts.note(result.note);
    noted = result.note;
    const snapshot: Snapshot = result.snapshot ?? before?.snapshot ?? emptySnapshot();
    if (!mirror) {
      mirror = createMirror({ session: id, epoch, seq, snapshot });
      mirror.onChange(parts.change);
      parts.change({ facts: [], snapshot, fresh: true });
    } else if (result.snapshot) mirror.reset({ session: id, epoch, seq, snapshot });
    else parts.change({ facts: [], snapshot, fresh: true });
    return mirror;
  };
  function ready(): Promise<Mirror> {
    if (closed) return Promise.reject(unreachable());
    if (attached && mirror) return Promise.resolve(mirror);
    attaching ??= (async () => {
      try {
        const result = await attach();
        line.reached();
        return result;
      } finally {
        attaching = undefined;
      }
    })();
    return attaching;
  }
  const persistently = async <T>(run: (hub: HubClient, number: string) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      await ready();
      const { hub, number } = followed!;
      try {
        return await run(hub, number);
      } catch (error) {
        if (!isUnreachable(error) || closed || attempt === attempts) throw error;
        // A hub that is stopping answers so, too, and its connection is of no more use.
        hub.close();
        line.gone(hub);
      }
    }
  };

  return {
    id,
    target,
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
    async intent(intent, command, params) {
      sent.set(intent, params);
      let epoch: string | undefined;
      await persistently(async (hub, number) => {
        const now = mirror?.epoch;
        // Another hub does not know the id: it could do the same a second time.
        if (epoch !== undefined && epoch !== now) throw unknownOutcome(command);
        try {
          await hub.intent({
            session: number,
            id: intent,
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
    sent: (intent) => sent.has(intent),
    given(intent) {
      const params = sent.get(intent);
      // A prompt may be large.
      if (params) sent.set(intent, undefined);
      return params;
    },
    isUs: (origin) => origin !== undefined && origin.id === line.client?.origin.id,
    configure(next) {
      const told = (it: Settings) =>
        JSON.stringify([it.agent, it.agentRefused, it.start, it.whileBusy, it.restart]);
      const changed = told(next) !== told(settings);
      settings = next;
      if (!changed || !(attached || attaching)) return;
      wanted += 1;
      attached = false;
      ready().catch((error: unknown) => log.warn({ error }, 'the new settings could not be told'));
    },
    close() {
      if (closed) return;
      closed = true;
      leave();
      if (attached && mirror && followed && line.client === followed.hub)
        void left(followed.hub, followed.number);
      attached = false;
    },
  };
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof AtomicError && error.code === 'HubUnreachable';

const unknownOutcome = (command: string): AtomicError =>
  new AtomicError(
    'OutcomeUnknown',
    `The hub ended while "${command}" was on its way, so whether it was done is not known: look at the conversation before you send it again.`,
  );
