// Stored sessions: listing them, and not opening one that is not there. Guarantees: one form of list whichever agent it is;
// where the agent cannot list, its session files are read. Must not know: the form of those files.
import { AtomicError } from '../protocol/errors.ts';
import type { ResponseRecord } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { SessionFiles } from './ports.ts';

export interface Stored {
  /** The answer to `list_sessions`; `ask` asks the agent, unless it is known not to have the command. */
  sessions(ask: (() => Promise<ResponseRecord>) | undefined): Promise<ResponseRecord>;
  /** Throws `AgentRefused` when there is no such file: the agent would make an empty session there. */
  checked(path: string): Promise<void>;
}

export function createStored(
  files: SessionFiles | undefined,
  workspace: string,
  snapshot: () => Snapshot,
): Stored {
  const fromFiles = async (unknown: unknown): Promise<ResponseRecord> => {
    const { sessionFile } = snapshot().state;
    if (!files || !sessionFile) throw unknown;
    const sessions = await files.list(sessionFile.slice(0, sessionFile.lastIndexOf('/')));
    return { type: 'response', success: true, data: { sessions } };
  };

  return {
    async sessions(ask) {
      const none = new AtomicError(
        'CommandUnavailable',
        'This agent cannot list sessions, and keeps no session file here to look beside.',
      );
      if (!ask) return fromFiles(none);
      try {
        const response = await ask();
        return response.success ? { ...response, data: { sessions: listIn(response.data) } } : response;
      } catch (error) {
        if (error instanceof AtomicError && error.code === 'CommandUnavailable') return fromFiles(error);
        throw error;
      }
    },
    async checked(path) {
      if (!files || (await files.exists(workspace, path))) return;
      throw new AtomicError(
        'AgentRefused',
        `There is no session file "${path}"; atomic.switchSession without arguments lists those of this folder.`,
      );
    },
  };
}

/** The list in an answer whose shape is not published: an array, or the first array among its values. */
const listIn = (data: unknown): unknown[] =>
  Array.isArray(data) ? data : (Object.values((data ?? {}) as object).find(Array.isArray) ?? []);
