// One connection to the hub. Guarantees: nothing is done for a peer before its hello; every request is checked and gets
// exactly one answer, errors in the one form; a lost connection ends its views and its waiting, never a run or an intent.
// Must not know: how sessions work, sockets.
import { type CancellationToken, ResponseError } from 'vscode-jsonrpc/node';
import type * as z from 'zod';
import { AtomicError, errorShape } from '../protocol/errors.ts';
import type { Origin } from '../protocol/facts.ts';
import * as hub from '../protocol/hub.ts';
import type { Log } from '../session/ports.ts';
import { createPump } from './pump.ts';
import type { Registry } from './registry.ts';
import type { Wire } from './wire.ts';

/** What a peer needs of its hub. */
export interface PeerHost {
  readonly version: string;
  readonly registry: Registry;
  /** A new origin's id. */
  originId(): string;
  /** The name that a person can tell this peer by: two programs of one name get numbers. */
  nameFor(name: string, pid: number | undefined): string;
  readonly stopping: boolean;
  sessions(workspace: string | undefined): Promise<hub.KnownSession[]>;
  status(): hub.StatusResult;
  stop(how: z.infer<typeof hub.stopParams>): { stopping: boolean; reason?: string };
}

export interface Peer {
  /** Undefined before its hello. */
  readonly origin: Origin | undefined;
  readonly pid: number | undefined;
  /** Numbers of the sessions that it watches. */
  readonly sessions: string[];
  /** Facts of a session that it was not sent yet; undefined where it does not watch. */
  lag(session: string): number | undefined;
  /** `asked`: somebody asked the hub to stop, which is said first. */
  close(asked: boolean): void;
}

/** Serves a connection until it is closed. */
export function createPeer(wire: Wire, host: PeerHost, log: Log): Peer {
  const { registry } = host;
  const pump = createPump(wire);
  const gone = new AbortController();
  const unwatch = new Map<string, () => void>();
  let hello: (hub.HelloParams & { origin: Origin }) | undefined;

  const known = () => {
    if (!hello)
      throw new AtomicError('NotReady', 'The first request to the hub must be hello: send it first.');
    return hello;
  };
  /** For what cannot be begun any more when the hub is stopping. */
  const atWork = () => {
    if (host.stopping)
      throw new AtomicError('HubUnreachable', 'The hub is stopping: connect to the next one.', {
        accepted: false,
      });
    return known();
  };
  /** A request with its parameters checked and its errors in the one form. */
  const answer = <S extends z.ZodType>(
    method: string,
    schema: S,
    handle: (params: z.output<S>, signal: AbortSignal) => unknown,
  ) => {
    wire.connection.onRequest(method, async (...given: unknown[]) => {
      const token = given.at(-1) as CancellationToken;
      const cancelled = new AbortController();
      const end = token.onCancellationRequested(() => cancelled.abort());
      try {
        const params = checked(method, schema, given.length > 1 ? given[0] : {});
        return await handle(params, AbortSignal.any([gone.signal, cancelled.signal]));
      } catch (error) {
        const { code, message, data } = errorShape(error);
        if (data.name === 'Internal' && !wire.closed) log.error({ error, method }, 'a request failed');
        return new ResponseError(code, message, data);
      } finally {
        end.dispose();
      }
    });
  };

  wire.connection.onRequest(hub.hubMethods.hello, (...given: unknown[]) => {
    try {
      refuseOtherProtocol(given[0], host.version);
      const params = checked('hello', hub.helloParams, given[0]);
      if (hello) throw new AtomicError('BadArguments', 'This connection has said hello: send it once.');
      hello = { ...params, origin: { id: host.originId(), name: host.nameFor(params.name, params.pid) } };
      log.info({ peer: hello.origin.id, name: params.name, version: params.version }, 'a peer has joined');
      const result: hub.HelloResult = {
        protocol: hub.hubProtocol,
        version: host.version,
        pid: process.pid,
        origin: hello.origin,
      };
      return result;
    } catch (error) {
      const { code, message, data } = errorShape(error);
      return new ResponseError(code, message, data);
    }
  });

  answer(hub.hubMethods.attach, hub.attachParams, async (params) => {
    const { env, origin } = atWork();
    const held = await registry.open(params, env);
    const { number, workspace, folder, session, channel } = held;
    if (gone.signal.aborted) return null;
    session.presence(origin.id, true);
    if (!unwatch.has(number)) {
      const end = registry.watched(held);
      unwatch.set(number, () => {
        session.presence(origin.id, false);
        end();
      });
    }
    const note = noteFor(params, session.outdated);
    const { journal } = channel;
    const { cursor } = params;
    const continued =
      cursor?.epoch === journal.epoch && cursor.seq <= journal.last && cursor.seq + 1 >= journal.first;
    const seq = continued ? cursor.seq : journal.last;
    pump.watch(channel, seq);
    const result: hub.AttachResult = {
      session: number,
      workspace,
      epoch: journal.epoch,
      seq,
      folder,
      ...(note !== undefined && { note }),
      ...(!continued && { snapshot: session.snapshot() }),
    };
    return result;
  });
  answer(hub.hubMethods.detach, hub.sessionParams, ({ session }) => {
    known();
    pump.unwatch(session);
    unwatch.get(session)?.();
    unwatch.delete(session);
    return null;
  });
  answer(hub.hubMethods.intent, hub.intentParams, ({ session, id, command, params }) => {
    const { origin } = atWork();
    return registry.get(session).session.intent({ id, command, params, origin });
  });
  answer(hub.hubMethods.read, hub.readParams, ({ session, command, params }, signal) => {
    atWork();
    return registry.get(session).session.read(command, params, signal);
  });
  answer(hub.hubMethods.sessions, hub.sessionsParams, async ({ workspace }) => {
    known();
    return { sessions: await host.sessions(workspace) };
  });
  answer(hub.hubMethods.status, hub.statusParams, () => {
    known();
    return host.status();
  });
  answer(hub.hubMethods.stop, hub.stopParams, (how) => {
    known();
    return host.stop(how);
  });

  wire.onClose(() => {
    gone.abort();
    pump.end();
    for (const end of unwatch.values()) end();
    unwatch.clear();
    if (hello) log.info({ peer: hello.origin.id, name: hello.name }, 'a peer has left');
  });
  wire.connection.listen();

  return {
    get origin() {
      return hello?.origin;
    },
    get pid() {
      return hello?.pid;
    },
    get sessions() {
      return [...unwatch.keys()];
    },
    lag: (session) => pump.lag(session),
    close(asked) {
      if (asked && hello) void wire.connection.sendNotification(hub.hubMethods.stopped).catch(() => {});
      wire.close();
    },
  };
}

/** Said to whoever attaches with settings that the running agent does not have. */
function noteFor({ agent, start }: hub.AttachParams, outdated: readonly string[]): string | undefined {
  const differs = [
    ...(agent && outdated.includes('agent') ? ['"agent"'] : []),
    ...(start && outdated.includes('start') ? ['"start"'] : []),
  ];
  if (differs.length === 0) return undefined;
  return `This session’s agent runs with another ${differs.join(' and another ')} than yours: restart it with atomic.restartAgent to use yours for everybody here, or take a session of your own with atomic.newTab.`;
}

function checked<S extends z.ZodType>(method: string, schema: S, params: unknown): z.output<S> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  const where = path.length ? `"${path.join('.')}": ` : '';
  throw new AtomicError('BadArguments', `The hub cannot use a request "${method}": ${where}${message}.`);
}

/** Of a hello in another protocol only the number can be trusted. */
function refuseOtherProtocol(params: unknown, version: string): void {
  const { protocol, version: theirs } = (params ?? {}) as Record<string, unknown>;
  if (typeof protocol !== 'number' || protocol === hub.hubProtocol) return;
  throw new AtomicError(
    'VersionSkew',
    `The running hub is atomic-lsp ${version} with protocol ${hub.hubProtocol}, and this is atomic-lsp ${String(theirs)} with protocol ${protocol}: end the hub with "atomic-lsp stop --when-idle" and start again.`,
    { hub: version, protocol: hub.hubProtocol },
  );
}
