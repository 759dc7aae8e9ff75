// What the server itself does for commands: opening files, changing between sessions, and looking at what is about to be done.
// Guarantees: every row of kind `local`, and every reading one that only this server can answer, has its entry. Must not know:
// how commands are dispatched.
import type { FileChange } from '../protocol/changes.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Log } from '../session/ports.ts';
import { type AnswerParts, showAnswer } from './answer-alone.ts';
import { showChanges } from './changes.ts';
import type { Client } from './client.ts';
import type { CommandParts, Local } from './commands.ts';
import type { Files } from './files.ts';
import { promptName } from './own-files.ts';
import type { Reload } from './reload.ts';
import { showResult } from './results.ts';
import type { Show } from './show.ts';
import { type TabCommandParts, tabCommands } from './tab-commands.ts';
import type { Tab } from './tabs.ts';
import type { View } from './view.ts';

export interface LocalsParts extends Pick<TabCommandParts, 'tabs' | 'folders' | 'known'> {
  client: Client;
  files: Pick<Files, 'compose'>;
  documents: AnswerParts['documents'];
  show: Show;
  /** The folder of a session; attaches if need be. */
  folder(session: string): Promise<string>;
  unsaved: Reload['unsaved'];
  wrote: Reload['wrote'];
  /** The live chat of a session. */
  view(tab: Tab): View;
  /** The client is told of its sessions by atomic/tabs. */
  rich(): boolean;
  /** What is done from a place in a document. */
  code: Record<string, Local>;
  log: Log;
}

export function createLocals(parts: LocalsParts): Pick<CommandParts, 'locals' | 'checks' | 'result'> {
  const { client, tabs, files, show, folder, folders, known, unsaved, wrote, view, rich, code, log } = parts;
  const tell = (sentence: string) => client.message('info', sentence, true);
  return {
    result: (tab, row, data) => showResult(row, data, { folder: () => folder(tab.id), show, wrote }),
    locals: {
      compose: { answer: { opens: promptName }, run: files.compose },
      open: { answer: { opens: 'views' }, run: (_, tab) => view(tab).open() },
      older_turns: { answer: { opens: 'views' }, run: (_, tab) => view(tab).older() },
      open_answer: {
        answer: { opens: 'answer.md' },
        run: (params, tab) => showAnswer(params, tab, parts),
      },
      changes: {
        answer: { opens: 'changes.diff' },
        run: (_, tab) =>
          showChanges({
            folder: () => folder(tab.id),
            list: () => tab.link.read('list_changes', {}) as Promise<{ files: FileChange[] }>,
            show,
            wrote,
            tell,
          }),
      },
      ...code,
      ...tabCommands({ tabs, folders, known, tell: (sentence) => void (rich() || tell(sentence)), log }),
    },
    checks: {
      revert_file({ path: file }, { workspace }) {
        if (unsaved(file, workspace))
          throw new AtomicError(
            'RevertRefused',
            `${file} was left as it is, because you have unsaved changes in it: save or undo them, then try again.`,
            { path: file },
          );
      },
    },
  };
}
