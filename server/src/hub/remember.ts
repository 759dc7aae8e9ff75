// What a session's folder says about it, kept up as facts arrive. Guarantees: after any crash the next hub finds the agent's
// file of the conversation that was last shown, and never continues one that another hub's agent is writing to. Must not
// know: how a session works, connections.
import fs from 'node:fs';
import type { Fact } from '../protocol/facts.ts';
import type { Journal } from '../session/journal.ts';
import type { Clock, Log } from '../session/ports.ts';
import { type SessionMeta, writeMeta } from './folders.ts';
import { lives, markOf, type ProcessMark } from './orphans.ts';

/** The agent's file to continue; undefined when there is none, it is gone, or somebody else is writing to it. */
export function resumableFile(meta: SessionMeta | undefined, log: Log): string | undefined {
  const { sessionFile, running } = meta ?? {};
  if (!sessionFile) return undefined;
  if (!fs.existsSync(sessionFile)) {
    log.warn({ sessionFile }, 'the session file of the agent is gone; a new conversation begins');
    return undefined;
  }
  if (running && running.owner.pid !== process.pid && lives(running.owner)) {
    log.warn({ owner: running.owner.pid }, 'another hub runs this session; a new conversation begins');
    return undefined;
  }
  return sessionFile;
}

/**
 * Writes the session's file now and whenever a fact changes what it says. A failure to write is logged, not thrown. An agent that
 * outlived its hub stays in it until it has gone (`swept`), as this hub may be killed before, and the next one has to know.
 */
export function rememberSession(
  journal: Journal,
  folder: string,
  known: Omit<SessionMeta, 'updated'>,
  clock: Clock,
  log: Log,
  swept: Promise<unknown> = Promise.resolve(),
): void {
  const owner = markOf(process.pid);
  const running = known.running as SessionMeta['running'];
  const orphan = running && !lives(running.owner) && lives(running.agent) ? running : undefined;
  let meta = withoutEmpty({ ...known, running: orphan });
  const write = () => {
    try {
      writeMeta(folder, { ...meta, updated: clock.now() } as SessionMeta);
    } catch (error) {
      log.warn(
        { error, folder },
        'the file of a session could not be written; the next hub may not continue it',
      );
    }
  };
  write();
  if (orphan)
    void swept.then(() => {
      if (meta.running !== orphan || lives(orphan.agent)) return;
      meta = withoutEmpty({ ...meta, running: undefined });
      write();
    });
  journal.onAppend((fact) => {
    const change = told(fact, owner);
    if (!change) return;
    const next = withoutEmpty({ ...meta, ...change });
    if (JSON.stringify(next) === JSON.stringify(meta)) return;
    meta = next;
    write();
  });
}

type Kept = Pick<SessionMeta, 'sessionFile' | 'sessionName' | 'running'>;

/** What a fact says about the file; undefined as a value where there is none any more. */
function told(fact: Fact, owner: ProcessMark | undefined): Partial<Record<keyof Kept, unknown>> | undefined {
  switch (fact.type) {
    case 'agent_started': {
      const agent = fact.pid === undefined ? undefined : markOf(fact.pid);
      return { running: agent && owner && { agent, owner } };
    }
    case 'agent_exited':
      return { running: undefined };
    case 'session_info_changed':
      return { sessionName: fact.name };
    case 'session_replaced':
      return { sessionFile: fact.state.sessionFile, sessionName: fact.state.sessionName };
    case 'state_changed':
      return Object.fromEntries(
        (['sessionFile', 'sessionName'] as const)
          .filter((key) => key in fact.state || fact.removed?.includes(key))
          .map((key) => [key, fact.state[key]]),
      );
    default:
      return undefined;
  }
}

const withoutEmpty = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ''));
