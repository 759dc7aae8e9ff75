// The prompt as a language, put together: what is shown of a prompt while it is written, and what it becomes when it is sent.
// Guarantees: the person's text is sent whatever goes wrong; the prompt's own documents are nothing that a prompt refers to. Must
// not know: LSP's lifecycle, how a prompt travels.
import path from 'node:path';
import { commandOffers, namedOffers, type Offers } from '../prompt/complete.ts';
import { describedCommand, describedPart } from '../prompt/describe.ts';
import { expanded } from '../prompt/expand.ts';
import { createFileList, type FileList, type FileListing } from '../prompt/file-list.ts';
import { commandIn, type Writing, writingAt } from '../prompt/mentions.ts';
import type { OpenDocument, Place } from '../prompt/places.ts';
import { type Plan, planOf } from '../prompt/plan.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Documents, pathOf } from './documents.ts';
import type { Feature } from './features.ts';
import type { Change } from './mirror.ts';
import { isPromptFile, promptName } from './own-files.ts';
import { offsetAt, rangeBetween } from './positions.ts';
import { argumentOffers } from './prompt-arguments.ts';
import { createPromptCommands, type PromptCommands } from './prompt-commands.ts';
import { completionList } from './prompt-completion.ts';
import { createPromptDiagnostics } from './prompt-diagnostics.ts';
import { promptFolds, promptLinks, promptSymbols } from './prompt-outline.ts';
import type { Tab, Tabs } from './tabs.ts';

/** What a prompt is sent with: parameters of `prompt`. */
export interface Sent {
  message: string;
  images?: { type: 'image'; data: string; mimeType: string }[];
  /** What the person wrote, where the message has more. */
  written?: string;
}

export interface Prompting {
  readonly feature: Feature;
  /** The agent's own commands. */
  commands(tab: Tab): PromptCommands;
  /** What a prompt to a session becomes. Never rejects. */
  sent(tab: Tab, text: string): Promise<Sent>;
  /** Facts of a session came, or everything about it is new. */
  take(tab: Tab, change: Change): void;
  close(): void;
}

export interface PromptingParts {
  client: Client;
  documents: Documents;
  tabs: Pick<Tabs, 'current' | 'list' | 'find'>;
  /** The folders that the editor has open now. */
  folders(): readonly string[];
  /** The session that a file belongs to, when it is one of ours. */
  sessionOf(file: string): { workspace: string; session: string } | undefined;
  clock: Clock;
  log: Log;
}

/** The language of prompt documents that are no files. */
const promptLanguage = 'atomic-prompt';
/** Milliseconds that the agent may take to say its commands: it may have to be started. */
const promptness = 5000;
/** Milliseconds that the first look at a folder's files may take. */
const listing = 400;
const patience = 30_000;

export function createPrompting(parts: PromptingParts): Prompting {
  const { client, documents, tabs, clock, log } = parts;
  const byTab = new WeakMap<Tab, PromptCommands>();
  const commandsOf = (tab: Tab): PromptCommands => {
    const known = byTab.get(tab);
    if (known) return known;
    const made = createPromptCommands({ read: () => tab.link.read('get_commands', {}), clock, log });
    byTab.set(tab, made);
    return made;
  };

  /** The session that a document is a prompt to; undefined when it is none. */
  const tabOf = (uri: string): Tab | undefined => {
    if (documents.get(uri)?.languageId === promptLanguage) return tabs.current;
    const file = pathOf(uri);
    if (file === undefined || !isPromptFile(file)) return undefined;
    const followed = tabs.list.find(({ link }) => link.folder === path.dirname(file));
    const owner = followed ? undefined : parts.sessionOf(file);
    return followed ?? (owner && (tabs.find(owner) ?? tabs.current));
  };
  const isPrompt = (uri: string): boolean => tabOf(uri) !== undefined;
  /** A folder of a session: an editor that starts a server for the prompt file alone has it open. */
  const isOurs = (folder: string) => parts.sessionOf(path.join(folder, promptName)) !== undefined;
  const placeOf = (tab: Tab): Place => ({
    folders: [
      tab.workspace,
      ...parts.folders().filter((folder) => folder !== tab.workspace && !isOurs(folder)),
    ],
    documents: () =>
      documents
        .all()
        .toReversed()
        .flatMap(({ uri, languageId, text }): OpenDocument[] => {
          const file = pathOf(uri);
          if (file === undefined)
            return languageId === promptLanguage ? [] : [{ name: nameOf(uri), languageId, text }];
          const ours = isPrompt(uri) || parts.sessionOf(file) !== undefined;
          return ours ? [] : [{ file, name: path.basename(file), languageId, text }];
        }),
  });
  const blindModel = ({ link }: Tab): string | undefined => {
    const model = link.mirror?.snapshot.state.model;
    return model?.input && !model.input.includes('image') ? (model.name ?? model.id) : undefined;
  };
  const plan = async (tab: Tab, text: string, limit: number): Promise<Plan> =>
    planOf(text, {
      place: placeOf(tab),
      commands: commandIn(text) ? await commandsOf(tab).list(limit) : [],
      blindModel: blindModel(tab),
    });

  const diagnostics = createPromptDiagnostics({
    client,
    documents,
    isPrompt,
    plan: (uri, text) => plan(tabOf(uri) ?? tabs.current, text, promptness),
    clock,
    log,
  });

  // Who opens the prompt file is about to need the agent, and some editors ask only once for completions.
  const noOpening = documents.onOpen(({ uri }) => {
    const tab = pathOf(uri) === undefined ? undefined : tabOf(uri);
    if (tab) void commandsOf(tab).list(0);
  });
  const lists = new Map<string, FileList>();
  const filesOf = (folder: string): Promise<FileListing> => {
    const list = lists.get(folder) ?? createFileList({ folder, clock, log });
    lists.set(folder, list);
    return list.list(listing);
  };
  const offersFor = async (tab: Tab, writing: Writing): Promise<Offers> => {
    const { link } = tab;
    switch (writing.kind) {
      case 'command':
        return commandOffers(writing.typed, await commandsOf(tab).list(promptness));
      case 'argument':
        return argumentOffers(writing.command, writing.typed, {
          commands: await commandsOf(tab).list(promptness),
          read: link.read,
          lacks: (command) => link.mirror?.snapshot.agent.unavailable.includes(command) === true,
          log,
        });
      default: {
        const place = placeOf(tab);
        const open = place.documents().flatMap(({ file }) => file ?? []);
        const touched = (link.mirror?.snapshot.files ?? []).map((file) => path.resolve(tab.workspace, file));
        return namedOffers(writing, { place, files: filesOf, liked: [...open, ...touched] });
      }
    }
  };

  const promptText = (uri: string): string => (isPrompt(uri) ? (documents.text(uri) ?? '') : '');

  const feature: Feature = {
    'textDocument/documentSymbol': ({ textDocument: { uri } }) => promptSymbols(promptText(uri)),
    'textDocument/foldingRange': ({ textDocument: { uri } }) => promptFolds(promptText(uri)),
    'textDocument/documentLink': ({ textDocument: { uri } }) =>
      promptLinks(promptText(uri), placeOf(tabOf(uri) ?? tabs.current)),
    async 'textDocument/hover'({ textDocument: { uri }, position }) {
      const text = documents.text(uri);
      const tab = tabOf(uri);
      if (text === undefined || !tab) return null;
      const at = offsetAt(text, position);
      const holds = ({ start, end }: { start: number; end: number }) => start <= at && at <= end;
      const { command, parts: mentions } = await plan(tab, text, promptness);
      const part = mentions.find(({ mention }) => holds(mention));
      const place = part?.mention ?? (command && holds(command) ? command : undefined);
      if (!place) return null;
      const value = part ? describedPart(part) : describedCommand(command!, await commandsOf(tab).list(0));
      if (value === '') return null;
      return { contents: { kind: 'markdown', value }, range: rangeBetween(text, place.start, place.end) };
    },
    async 'textDocument/completion'({ textDocument: { uri }, position }, signal) {
      const text = documents.text(uri);
      const tab = tabOf(uri);
      const writing = text === undefined || !tab ? undefined : writingAt(text, offsetAt(text, position));
      if (text === undefined || !tab || !writing) return null;
      const offers = await offersFor(tab, writing);
      // The editor waits for another answer by now.
      return signal.aborted ? null : completionList(text, writing, offers);
    },
  };

  return {
    feature,
    commands: commandsOf,
    async sent(tab, text) {
      try {
        const { message, images, problems } = await expanded(text, await plan(tab, text, patience));
        for (const problem of problems) client.message('warning', problem);
        return {
          message,
          ...(images.length > 0 && { images }),
          ...(message !== text && { written: text }),
        };
      } catch (error) {
        log.error({ error: String(error) }, 'what a prompt refers to was not sent with it');
        return { message: text };
      }
    },
    take(tab, { facts, fresh }) {
      const others = byTab.get(tab)?.take(facts) === true;
      // What the agent wrote may be new.
      if (facts.some(({ type }) => type === 'file_touched' || type === 'agent_settled'))
        for (const list of lists.values()) list.stale();
      if (others || fresh || facts.some(({ type }) => type === 'model_changed' || type === 'state_changed'))
        diagnostics.again();
    },
    close() {
      noOpening();
      diagnostics.close();
      for (const list of lists.values()) list.close();
    },
  };
}

/** What a document without a file is called: the end of its address. */
const nameOf = (uri: string): string => {
  const end = uri.slice(Math.max(uri.lastIndexOf('/'), uri.lastIndexOf(':')) + 1);
  try {
    return decodeURIComponent(end);
  } catch {
    return end;
  }
};
