// What the hub keeps of the agent's changes in files, on a real disk: calls as an agent tells them, with the test as the agent.
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach } from 'vitest';
import { type Changes, createChanges } from '../../../server/src/hub/changes.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { createJournal, type Journal } from '../../../server/src/session/journal.ts';
import { testFolders } from './support.ts';

/** To be called once in a test file: each test has a workspace, a session folder and a hub of its own. */
export function fileWork() {
  const folders = testFolders();
  let workspace: string;
  let folder: string;
  let changes: Changes;
  let journal: Journal;
  let count = 0;

  /** A hub begins, with what an earlier one left. */
  const begin = (limits?: { file: number; total: number }) => {
    journal = createJournal('e');
    changes = createChanges({
      folder,
      workspace,
      home: workspace,
      log: silentLog,
      ...(limits && { limits }),
    });
    changes.follow(journal);
  };
  beforeEach(() => {
    workspace = folders.make('ä workspace');
    folder = folders.make('session');
    begin();
  });

  const at = (name: string) => path.join(workspace, name);
  const put = (name: string, content: string | Buffer) => fs.writeFileSync(at(name), content);
  const started = (toolName: string, args: Record<string, unknown>): string => {
    count += 1;
    const toolCallId = `call ${count}`;
    journal.append({ type: 'tool_execution_start', toolCallId, toolName, args });
    return toolCallId;
  };
  const ended = (
    toolCallId: string,
    toolName: string,
    { isError = false, details }: { isError?: boolean; details?: object } = {},
  ) =>
    journal.append({
      type: 'tool_execution_end',
      toolCallId,
      toolName,
      isError,
      result: { content: [], ...(details && { details }) },
    });
  return {
    begin,
    at,
    put,
    started,
    ended,
    read: (name: string) => fs.readFileSync(at(name), 'utf8'),
    originals: () => path.join(folder, 'originals'),
    append: (fact: Parameters<Journal['append']>[0]) => journal.append(fact),
    /** A call that writes; the path as the agent spells it. */
    wrote(name: string, content: string | Buffer, spelled = name) {
      const id = started('write', { path: spelled, content: String(content) });
      put(name, content);
      ended(id, 'write');
    },
    bash(work: () => void) {
      const id = started('bash', { command: 'work' });
      work();
      ended(id, 'bash');
    },
    listed: async (name?: string) => (await changes.list(name)).files,
    revert: (what: Parameters<Changes['revert']>[0]) => changes.revert(what),
    accept: (name?: string) => changes.accept(name),
  };
}

export const numbered = (length: number) => Array.from({ length }, (_, line) => `${line}\n`);
