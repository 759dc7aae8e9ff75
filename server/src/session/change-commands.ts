// Commands about files that the agent changed. Guarantees: carried out without an agent; a file that was put back is told like one
// that a tool wrote, so that editors look at it. Must not know: the disk.
import type { Params } from '../protocol/command-row.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Fact } from '../protocol/facts.ts';
import type { ResponseRecord } from '../protocol/records.ts';
import type { FileChanges } from './ports.ts';

export type ChangeCommands = (
  name: 'list_changes' | 'revert_file' | 'accept_changes',
  params: Params,
) => Promise<ResponseRecord>;

/** Rejects with what {@link FileChanges} rejects with. */
export function createChangeCommands(
  changes: FileChanges | undefined,
  append: (fact: Fact) => void,
): ChangeCommands {
  return async (name, params) => {
    if (!changes)
      throw new AtomicError('CommandUnavailable', 'Nobody keeps here what the agent changes in files.', {
        command: name,
      });
    if (name === 'list_changes') return did(await changes.list(params.path));
    if (name === 'accept_changes') return did(await changes.accept(params.path));
    const reverted = await changes.revert(params as { path: string });
    append({ type: 'file_touched', path: reverted.path, toolName: name });
    return did(reverted);
  };
}

const did = (data: object): ResponseRecord => ({ type: 'response', success: true, data });
