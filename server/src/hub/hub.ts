// The hub: sessions, and the connections to them. Guarantees: it stops by itself some time after the last peer left, but
// never during a run or with a question open; stopping ends every agent first. Must not know: sockets, processes, LSP.
import fs from 'node:fs';
import type { Duplex } from 'node:stream';
import { hubProtocol, type KnownSession, type SessionInfo, type StatusResult } from '../protocol/hub.ts';
import type { Clock, Log, StartAgent } from '../session/ports.ts';
import type { CreateSession } from '../session/session.ts';
import { allSessionFolders, type SessionMeta } from './folders.ts';
import { memoryOf } from './orphans.ts';
import { createPeer, type Peer } from './peer.ts';
import { createRegistry, type Held } from './registry.ts';
import { createWire, type Wire } from './wire.ts';

export interface HubOptions {
  createSession: CreateSession;
  startAgent: StartAgent;
  clock: Clock;
  log: Log;
  /** Where session folders lie: `$XDG_STATE_HOME/atomic-lsp`. */
  folder: string;
  /** The package's version. */
  version: string;
  /** Where the log lies, for people. */
  logFile?: string;
  /** Milliseconds after the last peer left; `false`: never. */
  idleExit?: number | false;
  /** Milliseconds after which an unwatched session at rest ends its agent. */
  agentIdle?: number;
}

export interface StopHow {
  /** Stops as soon as nothing works. */
  whenIdle?: boolean | undefined;
  /** Stops now, whatever works. */
  force?: boolean | undefined;
}

export interface Hub {
  /** Serves one connection. */
  accept(stream: Duplex): void;
  status(): StatusResult;
  /** Begins to stop, or says why not. */
  stop(how?: StopHow): { stopping: boolean; reason?: string };
  /** Resolves when the hub begins to stop: nobody new should be let in. */
  readonly stopping: Promise<void>;
  /** Resolves when all agents have ended and all connections are closed. */
  readonly closed: Promise<void>;
}

/** Ten minutes. */
const defaultIdleExit = 600_000;
/** Five minutes. */
const defaultAgentIdle = 300_000;
/** Milliseconds that a connection may take to say hello, and to take the last bytes when the hub stops. */
const patience = 10_000;
const farewell = 1000;

export function createHub(options: HubOptions): Hub {
  const { clock, log, version, idleExit = defaultIdleExit, agentIdle = defaultAgentIdle } = options;
  const registry = createRegistry({ ...options, agentIdle });
  const peers = new Map<Peer, Wire>();
  const startedAt = clock.now();
  const began = deferred();
  const ended = deferred();
  let stopping = false;
  let stopWhenIdle = false;
  let leaveWhenIdle = false;
  let origins = 0;
  let cancelIdle = () => {};

  const begin = async (why: string, asked = false) => {
    if (stopping) return;
    stopping = true;
    cancelIdle();
    log.info({ why }, 'the hub stops');
    // In the same turn as the answer to whoever asked, so that after it nobody is let in any more.
    began.resolve();
    await turn();
    await registry.stopAll();
    // The last facts are on their way: whoever reads gets them, whoever does not is not waited for.
    await turn();
    const closing = [...peers.entries()].map(
      ([peer, wire]) =>
        new Promise<void>((resolve) => {
          wire.onClose(resolve);
          peer.close(asked);
        }),
    );
    await Promise.race([
      Promise.all(closing),
      new Promise<void>((resolve) => void clock.after(farewell, resolve)),
    ]);
    for (const wire of peers.values()) wire.destroy();
    log.info({}, 'the hub has stopped');
    ended.resolve();
  };

  const idleLater = () => {
    cancelIdle();
    leaveWhenIdle = false;
    if (idleExit === false || peers.size > 0 || stopping) return;
    cancelIdle = clock.after(idleExit, () => {
      leaveWhenIdle = true;
      atRest();
    });
  };
  /** Stops now, if that was put off until nothing works. */
  const atRest = () => {
    if (registry.busy.length > 0) return;
    if (stopWhenIdle) void begin('asked to stop when idle', true);
    else if (leaveWhenIdle) void begin('nobody is here');
  };
  registry.onCalm(atRest);

  const stop = ({ whenIdle, force }: StopHow = {}, asked = false): { stopping: boolean; reason?: string } => {
    const busy = registry.busy;
    if (force || stopping || busy.length === 0) {
      void begin(force ? 'asked to stop now' : 'asked to stop', asked);
      return { stopping: true };
    }
    const work = busy.map(({ workspace, session }) =>
      session.dialogs > 0 ? `a question is open in ${workspace}` : `the agent is working in ${workspace}`,
    );
    if (whenIdle) {
      stopWhenIdle = true;
      return { stopping: true, reason: `It stops as soon as nothing works; now ${work.join(', ')}.` };
    }
    return {
      stopping: false,
      reason: `The hub goes on, because ${work.join(', ')}: wait with --when-idle, or end it with --force.`,
    };
  };

  const infoOf = ({ number, workspace, name, session }: Held): SessionInfo => {
    const { agent, state } = session.snapshot();
    const { journal } = session;
    const memory = agent.pid === undefined ? undefined : memoryOf(agent.pid);
    return {
      session: number,
      workspace,
      name,
      epoch: journal.epoch,
      seq: journal.last,
      editors: [...peers.keys()].flatMap((peer) => {
        const lag = peer.lag(number);
        return peer.origin && lag !== undefined ? [{ origin: peer.origin, lag }] : [];
      }),
      agent,
      busy: session.busy,
      dialogs: session.dialogs,
      ...(memory !== undefined && { agentMemory: memory }),
      ...(session.outdated.length > 0 && { outdated: session.outdated }),
      ...(state.sessionFile && { sessionFile: state.sessionFile }),
      ...(state.sessionName && { sessionName: state.sessionName }),
      journal: { facts: journal.last - journal.first + 1, bytes: journal.units },
    };
  };
  const status = (): StatusResult => ({
    pid: process.pid,
    version,
    protocol: hubProtocol,
    startedAt,
    memory: process.memoryUsage.rss(),
    log: options.logFile ?? '',
    editors: [...peers.keys()].flatMap(({ origin, pid, sessions }) =>
      origin ? [{ origin, sessions, ...(pid !== undefined && { pid }) }] : [],
    ),
    sessions: registry.list.map(infoOf),
  });

  const sessions = async (workspace: string | undefined): Promise<KnownSession[]> => {
    const open = registry.list.map((held) => {
      const { agent: _, editors, dialogs, busy, sessionName, name, workspace } = infoOf(held);
      return {
        workspace,
        name,
        running: true,
        busy,
        dialogs,
        editors: editors.map(({ origin }) => origin.name),
        ...(sessionName !== undefined && { sessionName }),
      };
    });
    const isOpen = (meta: SessionMeta) =>
      open.some((it) => it.workspace === meta.workspace && it.name === meta.session);
    const remembered = allSessionFolders(options.folder)
      .map(({ meta }) => meta)
      .filter((meta) => !isOpen(meta))
      .sort((a, b) => b.updated - a.updated)
      .map(({ workspace, session: name, sessionName, updated }) => ({
        workspace,
        name,
        running: false,
        busy: false,
        dialogs: 0,
        editors: [],
        updated,
        ...(sessionName !== undefined && { sessionName }),
      }));
    const real = workspace && (await fs.promises.realpath(workspace).catch(() => workspace));
    return [...open, ...remembered].filter((it) => real === undefined || it.workspace === real);
  };
  const host = {
    version,
    registry,
    originId: () => {
      origins += 1;
      return `p${origins}`;
    },
    nameFor(name: string, pid: number | undefined) {
      const taken = new Set(
        [...peers.keys()].flatMap((it) =>
          it.origin && it.pid !== undefined && pid !== undefined && it.pid !== pid ? [it.origin.name] : [],
        ),
      );
      let free = name;
      for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`;
      return free;
    },
    get stopping() {
      return stopping;
    },
    sessions,
    status,
    stop: (how: StopHow) => stop(how, true),
  };
  idleLater();

  return {
    accept(stream) {
      if (stopping) {
        stream.destroy();
        return;
      }
      const wire = createWire(stream, log);
      const peer = createPeer(wire, host, log);
      peers.set(peer, wire);
      cancelIdle();
      leaveWhenIdle = false;
      const cancelPatience = clock.after(patience, () => {
        if (!peer.origin) wire.destroy();
      });
      wire.onClose(() => {
        cancelPatience();
        peers.delete(peer);
        idleLater();
      });
    },
    status,
    stop,
    stopping: began.promise,
    closed: ended.promise,
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
