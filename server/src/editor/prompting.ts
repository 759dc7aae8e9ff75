// The prompt as a language, put together: what is shown of a prompt while it is written, and what it becomes when it is sent.
// Guarantees: the person's text is sent whatever goes wrong; the prompt's own documents are nothing that a prompt refers to. Must
// not know: LSP's lifecycle, how a prompt travels.
import path from 'node:path';
import { describedCommand, describedPart } from '../prompt/describe.ts';
import { expanded } from '../prompt/expand.ts';
import { commandIn } from '../prompt/mentions.ts';
import type { OpenDocument, Place } from '../prompt/places.ts';
import { type Plan, planOf } from '../prompt/plan.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Documents, pathOf } from './documents.ts';
import type { Feature } from './features.ts';
import type { Change } from './mirror.ts';
import { offsetAt, rangeBetween } from './positions.ts';
import { createPromptCommands, type PromptCommands } from './prompt-commands.ts';
import { createPromptDiagnostics } from './prompt-diagnostics.ts';
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
/** Milliseconds that the agent may take to say its commands: for showing, and for sending. */
const promptness = 2000;
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
    if (file === undefined || path.basename(file) !== 'prompt.md') return undefined;
    const followed = tabs.list.find(({ link }) => link.folder === path.dirname(file));
    const owner = followed ? undefined : parts.sessionOf(file);
    return followed ?? (owner && (tabs.find(owner) ?? tabs.current));
  };
  const isPrompt = (uri: string): boolean => tabOf(uri) !== undefined;
  const placeOf = (tab: Tab): Place => ({
    folders: [tab.workspace, ...parts.folders().filter((folder) => folder !== tab.workspace)],
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

  const feature: Feature = {
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
  };

  return {
    feature,
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
      if (others || fresh || facts.some(({ type }) => type === 'model_changed' || type === 'state_changed'))
        diagnostics.again();
    },
    close: diagnostics.close,
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
