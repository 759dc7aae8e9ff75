// The sessions of one hub. Guarantees: one session for each workspace folder and name, however many attach at once; its
// agent's file is remembered on disk, so that the next hub continues it; a session that nobody watches and that is at rest
// ends its agent, but only when nothing is lost by that. Must not know: connections, JSON-RPC.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { AtomicError } from '../protocol/errors.ts';
import type { Fact } from '../protocol/facts.ts';
import { type AttachParams, defaultSession } from '../protocol/hub.ts';
import type { AgentSpec, Clock, Log, StartAgent } from '../session/ports.ts';
import type { CreateSession, Session } from '../session/session.ts';
import { createChanges } from './changes.ts';
import { type Chat, startChat } from './chat.ts';
import { allSessionFolders, makeFolder, readMeta, removeUnfinished, sessionFolder } from './folders.ts';
import { createHistory } from './history.ts';
import { sweepOrphans } from './orphans.ts';
import { type Channel, createChannel } from './pump.ts';
import { rememberSession, resumableFile } from './remember.ts';

/** A session and what the hub keeps about it. */
export interface Held {
  /** By which connections name it. */
  readonly number: string;
  readonly workspace: string;
  readonly name: string;
  readonly folder: string;
  readonly session: Session;
  readonly channel: Channel;
}

export interface Registry {
  /** The session that an attach asks for, made if need be. Throws `BadArguments`, `FileFailed`. */
  open(params: AttachParams, env: Record<string, string>): Promise<Held>;
  /** Throws `NoSuchSession`. */
  get(number: string): Held;
  readonly list: readonly Held[];
  /** Those that work or ask something. */
  readonly busy: readonly Held[];
  /** A peer begins to watch; returns a function for its end. */
  watched(held: Held): () => void;
  /** Called when some session may have come to rest. */
  onCalm(listener: () => void): void;
  stopAll(): Promise<void>;
}

export interface RegistryOptions {
  createSession: CreateSession;
  startAgent: StartAgent;
  clock: Clock;
  log: Log;
  /** `$XDG_STATE_HOME/atomic-lsp`. */
  folder: string;
  /** Milliseconds after which an unwatched session at rest ends its agent. */
  agentIdle: number;
}

const calming: ReadonlySet<Fact['type']> = new Set([
  'agent_settled',
  'agent_exited',
  'intent_settled',
  'dialog_settled',
]);

const working = ({ session }: Held): boolean => session.busy || session.dialogs > 0;

export function createRegistry(options: RegistryOptions): Registry {
  const { clock, log } = options;
  const held = new Map<string, Held>();
  const byKey = new Map<string, Promise<Held>>();
  const ending = new Map<string, Promise<void>>();
  const watchers = new Map<Held, number>();
  const chats = new Map<Held, Chat>();
  const calmListeners: (() => void)[] = [];
  let count = 0;

  /** Agents of dead hubs; each holds up only what it may still write to. */
  const sweeps = allSessionFolders(options.folder).flatMap(({ folder, meta: { running, sessionFile } }) =>
    running ? [{ folder, sessionFile, swept: sweepOrphans([running], clock, log) }] : [],
  );

  const create = async (
    workspace: string,
    name: string,
    params: AttachParams,
    env: Record<string, string>,
  ) => {
    const folder = sessionFolder(options.folder, workspace, name);
    makeFolder(folder);
    removeUnfinished(folder);
    const meta = readMeta(folder);
    const changes = createChanges({ folder, workspace, home: params.agent?.env?.HOME ?? env.HOME, log });
    const history = createHistory({ folder, log });
    const swept = Promise.all(
      sweeps.flatMap((it) =>
        it.folder === folder || (it.sessionFile && it.sessionFile === meta?.sessionFile) ? [it.swept] : [],
      ),
    );
    const session = options.createSession({
      startAgent: async (spec, events) => {
        await swept;
        return options.startAgent(spec, events);
      },
      clock,
      log,
      changes,
      history,
      spec: specOf(workspace, params, env, resumableFile(meta, log)),
      epoch: `${clock.now().toString(36)}-${randomBytes(6).toString('hex')}`,
      ...(params.whileBusy && { whileBusy: params.whileBusy }),
      ...(params.restart && { restart: params.restart }),
    });
    changes.follow(session.journal);
    history.follow(session.journal);
    rememberSession(session.journal, folder, { ...meta, workspace, session: name }, clock, log, swept);
    count += 1;
    const number = String(count);
    const entry = { number, workspace, name, folder, session, channel: createChannel(number, session) };
    chats.set(entry, startChat({ session, folder, clock, log }));
    session.journal.onAppend((fact) => {
      // Told after the session itself has seen the fact.
      if (calming.has(fact.type)) setImmediate(() => calmListeners.forEach((listener) => void listener()));
    });
    held.set(number, entry);
    log.info({ session: number, workspace, name }, 'session opened');
    return entry;
  };

  const end = (entry: Held): Promise<void> => {
    const key = keyOf(entry.workspace, entry.name);
    byKey.delete(key);
    held.delete(entry.number);
    watchers.delete(entry);
    log.info({ session: entry.number, workspace: entry.workspace, name: entry.name }, 'session ends');
    const ended = entry.session
      .stop()
      .catch((error: unknown) => log.error({ error, session: entry.number }, 'a session did not end cleanly'))
      .then(() => chats.get(entry)?.close())
      .finally(() => {
        chats.delete(entry);
        ending.delete(key);
      });
    ending.set(key, ended);
    return ended;
  };

  /** Ends an unwatched session later, unless it works, or would lose what is not on disk. */
  const restLater = (entry: Held) =>
    clock.after(options.agentIdle, () => {
      if (!held.has(entry.number) || (watchers.get(entry) ?? 0) > 0) return;
      const { agent, state } = entry.session.snapshot();
      const kept = agent.status !== 'running' || (state.sessionFile && fs.existsSync(state.sessionFile));
      if (working(entry) || !kept) restLater(entry);
      else void end(entry);
    });

  return {
    async open(params, env) {
      const workspace = await realFolder(params.workspace);
      const name = params.session ?? defaultSession;
      const key = keyOf(workspace, name);
      const known = byKey.get(key);
      if (known) {
        const entry = await known;
        entry.session.update({
          env,
          refused: params.agentRefused,
          ...(params.agent && { choice: params.agent }),
          ...(params.start && { start: params.start }),
          ...(params.whileBusy && { whileBusy: params.whileBusy }),
          ...(params.restart && { restart: params.restart }),
        });
        return entry;
      }
      const made = (ending.get(key) ?? Promise.resolve()).then(() => create(workspace, name, params, env));
      byKey.set(key, made);
      made.catch(() => byKey.delete(key));
      return made;
    },
    get(number) {
      const entry = held.get(number);
      if (!entry)
        throw new AtomicError('NoSuchSession', `The hub has no session "${number}" now: attach to it again.`);
      return entry;
    },
    get list() {
      return [...held.values()];
    },
    get busy() {
      return [...held.values()].filter(working);
    },
    watched(entry) {
      watchers.set(entry, (watchers.get(entry) ?? 0) + 1);
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        const left = (watchers.get(entry) ?? 1) - 1;
        watchers.set(entry, left);
        if (left === 0) restLater(entry);
      };
    },
    onCalm: (listener) => void calmListeners.push(listener),
    async stopAll() {
      await Promise.allSettled(byKey.values());
      for (const entry of held.values()) void end(entry);
      await Promise.all(ending.values());
    },
  };
}

const keyOf = (workspace: string, name: string): string => JSON.stringify([workspace, name]);

function specOf(
  workspace: string,
  { agent, agentRefused, start }: AttachParams,
  env: Record<string, string>,
  resume: string | undefined,
): AgentSpec {
  return {
    workspace,
    env,
    ...(agent && { choice: agent }),
    ...(agentRefused !== undefined && { refused: agentRefused }),
    ...(start && { start }),
    ...(resume && { resume }),
  };
}

/** The workspace's real path, so that a link and its target are one workspace. */
async function realFolder(workspace: string): Promise<string> {
  const refuse = (why: string) =>
    new AtomicError('BadArguments', `The workspace folder ${workspace} ${why}: open a folder that is there.`);
  if (!path.isAbsolute(workspace)) throw refuse('is not an absolute path');
  try {
    const real = await fs.promises.realpath(workspace);
    if ((await fs.promises.stat(real)).isDirectory()) return real;
  } catch (error) {
    throw refuse(`cannot be opened (${(error as NodeJS.ErrnoException).code})`);
  }
  throw refuse('is not a folder');
}
