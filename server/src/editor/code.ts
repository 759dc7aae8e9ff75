// What can be done from a place in a document, put together: the commands, and the code actions that offer them; with them what
// else is put into the prompt file. Guarantees: no agent is started or waited for to offer something. Must not know: LSP's
// lifecycle, how a prompt travels.
import type { InitializeParams } from 'vscode-languageserver';
import { createActions } from './actions.ts';
import type { Ask } from './ask.ts';
import type { Local } from './commands.ts';
import { pathOf } from './documents.ts';
import { createDraft, type DraftParts } from './draft.ts';
import type { Feature } from './features.ts';
import { createFromCode } from './from-code.ts';
import { promptName } from './own-files.ts';
import type { Prompting } from './prompting.ts';
import type { Tab, Tabs } from './tabs.ts';

export interface Code {
  feature: Feature;
  locals: Record<'ask' | 'add_to_prompt' | 'history', Local>;
  /** Puts a text into the session's prompt file, for the person to go on with. */
  giveBack(tab: Tab, text: string): Promise<void>;
}

export interface CodeParts extends DraftParts {
  params: InitializeParams;
  tabs: Pick<Tabs, 'current'>;
  ask: Pick<Ask, 'asking'>;
  prompting: Pick<Prompting, 'commands' | 'sent'>;
  /** The folders that the editor has open now. */
  folders(): readonly string[];
  /** Whether a file lies in a session's folder. */
  own(file: string): boolean;
}

/** Milliseconds that the editor waits for what the agent said already. */
const promptness = 50;

export function createCode(parts: CodeParts): Code {
  const { params, documents, tabs, prompting } = parts;
  const commands = async (tab: Tab) => {
    if (tab.link.mirror?.snapshot.agent.status !== 'running') return [];
    return (await prompting.commands(tab).list(promptness)) ?? [];
  };
  const draft = createDraft(parts);
  const { ask, add } = createFromCode({
    documents,
    draft,
    folders: ({ workspace }) => [workspace, ...parts.folders().filter((folder) => folder !== workspace)],
    commands,
    send: async (tab, message) =>
      tab.link.intent(tab.link.newId(), 'prompt', await prompting.sent(tab, message)),
  });
  return {
    feature: createActions({
      literals: params.capabilities.textDocument?.codeAction?.codeActionLiteralSupport !== undefined,
      snapshot: () => tabs.current.link.mirror?.snapshot,
      commands: () => commands(tabs.current),
      question: parts.ask.asking,
      own(uri) {
        const file = pathOf(uri);
        return file !== undefined && parts.own(file);
      },
    }),
    giveBack: (tab, text) => draft.add(tab.id, text, { shown: false, whole: true }),
    locals: {
      ask: { answer: {}, run: ask },
      add_to_prompt: { answer: {}, run: add },
      history: {
        answer: { opens: promptName },
        run: ({ text }, tab) => draft.add(tab.id, text, { shown: true, whole: true }),
      },
    },
  };
}
