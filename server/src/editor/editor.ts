// Everything about one editor after `initialize`, put together. Guarantees: parts know each other only through here. Must not
// know: LSP's lifecycle (server.ts).
import path from 'node:path';
import type { InitializeParams, WorkspaceFoldersChangeEvent } from 'vscode-languageserver';
import type { Settings } from '../protocol/editor.ts';
import type { Clock, Log } from '../session/ports.ts';
import { createAsk } from './ask.ts';
import { createAtWork } from './at-work.ts';
import { sentenceOf } from './checked.ts';
import type { Client } from './client.ts';
import { createCode } from './code.ts';
import { type Commands, createCommands } from './commands.ts';
import { createDocuments, type Documents } from './documents.ts';
import { type Features, joinFeatures } from './features.ts';
import { createFiles, type Files } from './files.ts';
import { type Connect, createLine } from './line.ts';
import { createLocals } from './locals.ts';
import { createOutcomes } from './outcomes.ts';
import { promptName } from './own-files.ts';
import { createPrompting } from './prompting.ts';
import { createReload } from './reload.ts';
import { createRich, type Rich } from './rich.ts';
import { createSending } from './sending.ts';
import { createConfiguration } from './settings.ts';
import { createShow } from './show.ts';
import { createTabs } from './tabs.ts';
import type { Transport } from './transport.ts';
import { createWatches } from './watch.ts';
import { foldersAfter, workspaceFolder, workspaceFolders } from './workspace.ts';

export interface Editor {
  readonly execute: Commands['execute'];
  readonly documents: Documents;
  readonly saved: Files['saved'];
  readonly features: Features;
  /** `initialized`: follows the session in the background. */
  begin(): void;
  /** Requests of a rich client. */
  readonly rich: Pick<Rich, 'attach' | 'detach' | 'intent' | 'read'>;
  /** `workspace/didChangeWorkspaceFolders`. */
  changeFolders(event: WorkspaceFoldersChangeEvent): void;
  /** `workspace/didChangeConfiguration`. */
  configure(given: unknown): void;
  /** `window/workDoneProgress/cancel`: the person wants the run to stop. */
  cancelProgress(token: unknown): void;
  close(): void;
}

/** From a file in a session's folder to that session. */
export type SessionOf = (file: string) => { workspace: string; session: string } | undefined;

export interface EditorParts {
  params: InitializeParams;
  client: Client;
  transport: Transport;
  connect: Connect;
  /** Settings that the command line gives; an editor's own come on top. */
  settings?: Partial<Settings>;
  /** Where an editor that names no folder is taken to work. */
  folder: string;
  /** The session that a file belongs to, when it is one of ours. */
  sessionOf?: SessionOf;
  clock: Clock;
  log: Log;
  /** Whether a process lives. */
  isAlive(pid: number): boolean;
}

export function createEditor(parts: EditorParts): Editor {
  const { params, client, clock, log } = parts;
  const place = workspaceFolder(params) ?? parts.folder;
  // Some editors start a server of its own for the prompt file: it belongs to the session that the path names.
  const named = parts.sessionOf?.(path.join(place, promptName));
  const configuration = createConfiguration(params.initializationOptions, {
    ...(named && { session: named.session }),
    ...parts.settings,
  });
  const settings = configuration.now();

  const isOurs = (file: string) => parts.sessionOf?.(file) !== undefined;
  const documents = createDocuments();
  const show = createShow(client, log);
  const outcomes = createOutcomes();
  const rich = {
    events: () => configuration.now().client?.events === true,
    dialogs: () => configuration.now().client?.dialogs === true,
  };
  const line = createLine({
    connect: parts.connect,
    name: () => client.traits.name,
    settings,
    clock,
    log,
    events: {
      lost() {
        for (const tab of tabs.list) {
          watches.of(tab).progress.end();
          ask.withdraw(tab.id);
        }
        client.message('warning', 'The hub has ended; it is being started again.');
      },
      back: () => client.message('info', 'The hub is there again, and the session goes on.'),
      givenUp: (error) => client.message('error', sentenceOf(error)),
    },
  });
  let folders = workspaceFolders(params.workspaceFolders);
  const tabs = createTabs({
    line,
    first: {
      workspace: named?.workspace ?? place,
      ...(settings.session !== undefined && { session: settings.session }),
    },
    folders,
    settings,
    log,
    isOurs,
    change(tab, change) {
      const { facts, snapshot } = change;
      const watch = watches.of(tab);
      outcomes.take(change);
      watch.events.flush();
      watch.notices.take(facts);
      ask.update(tab.id, snapshot);
      files.sweep(ask.isOpen);
      watch.progress.update(snapshot);
      reload.take(facts, tab.workspace);
      watch.view.take(change);
      prompting.take(tab, change);
      richRequests.tabsChanged();
    },
    note: (sentence) => client.message('warning', sentence),
    changed() {
      for (const tab of tabs.list) watches.of(tab);
      richRequests.tabsChanged();
    },
    closed(tab) {
      watches.end(tab);
      ask.withdraw(tab.id);
      files.sweep(ask.isOpen);
    },
  });
  const { link, folder } = tabs;
  const watches = createWatches({
    client,
    transport: parts.transport,
    documents,
    show,
    isAlive: parts.isAlive,
    tabs,
    rich: rich.events,
    giveBack: (tab, text) =>
      void code.giveBack(tab, text).catch((error: unknown) => client.message('error', sentenceOf(error))),
    clock,
    log,
  });
  watches.of(tabs.current);
  const ask = createAsk({
    client,
    clock,
    log,
    rich: rich.dialogs,
    session: () => tabs.current.id,
    before(id) {
      const tab = tabs.get(id);
      return tab === tabs.current ? '' : `[${tabs.label(tab)}] `;
    },
    isUs: link.isUs,
    stillOpen: (id, dialog, how) => watches.of(tabs.get(id)).view.stillOpen(dialog, how),
    answer: (id, dialog, answer) => tabs.get(id).link.intent(link.newId(), 'answer', { dialog, ...answer }),
  });
  const reload = createReload({
    client,
    documents,
    clock,
    log,
    workspaces: () => tabs.list.map(({ workspace }) => workspace),
    rich: rich.events,
  });
  const prompting = createPrompting({
    client,
    documents,
    tabs,
    folders: () => folders,
    sessionOf: parts.sessionOf ?? (() => undefined),
    clock,
    log,
  });
  const sending = createSending({
    client,
    tabs,
    outcomes,
    prompting,
    sessionOf: parts.sessionOf ?? (() => undefined),
  });
  const files = createFiles({
    client,
    documents,
    show,
    clock,
    log,
    folder,
    ...sending,
    async reply(session, dialog, answer) {
      await commands.intent(tabs.get(session), link.newId(), 'answer', { dialog, ...answer });
    },
  });
  const code = createCode({
    params,
    client,
    documents,
    show,
    tabs,
    ask,
    prompting,
    folder,
    folders: () => folders,
    own: isOurs,
    taken: sending.taken,
    emptiedAtOpening: files.emptiedAtOpening,
    clock,
    log,
  });
  const commands = createCommands({
    tabs,
    ask,
    client,
    files,
    ...createLocals({
      client,
      tabs,
      files,
      documents,
      show,
      folder,
      folders: () => folders,
      known: async (workspace) => (await line.connected()).sessions({ workspace }),
      unsaved: reload.unsaved,
      wrote: reload.wrote,
      view: (tab) => watches.of(tab).view,
      rich: rich.events,
      code: code.locals,
      log,
    }),
    clock,
    log,
  });
  const richRequests = createRich({
    client,
    tabs,
    commands,
    events: (tab) => watches.of(tab).events,
    rich: rich.events,
  });
  const told = () => {
    for (const { message } of configuration.problems()) client.message('error', message);
  };
  const atWork = createAtWork(documents, tabs.touched);

  return {
    execute: commands.execute,
    documents,
    saved(uri, text) {
      atWork.in(uri);
      reload.saved(uri, text);
      files.saved(uri, text);
    },
    features: atWork.asked(joinFeatures([prompting.feature, code.feature, watches.feature], log)),
    rich: richRequests,
    begin() {
      told();
      // Nobody needs it yet, so nobody is told when it fails.
      link.ready().catch((error: unknown) => log.warn({ error }, 'no session in the background'));
    },
    changeFolders(event) {
      folders = foldersAfter(folders, event);
      tabs.folders(folders);
    },
    configure(given) {
      const next = configuration.take(given);
      told();
      line.configure(next);
      tabs.configure(next);
    },
    cancelProgress(token) {
      const tab = tabs.list.find((it) => watches.of(it).progress.owns(token));
      tab?.link
        .intent(link.newId(), 'abort', {})
        .catch((error: unknown) => client.message('error', sentenceOf(error)));
    },
    close() {
      for (const tab of tabs.list) {
        watches.end(tab);
        ask.withdraw(tab.id);
      }
      prompting.close();
      tabs.end();
      line.close();
    },
  };
}
