// Everything about one editor after `initialize`, put together. Guarantees: parts know each other only through here. Must not
// know: LSP's lifecycle (server.ts).
import path from 'node:path';
import type { InitializeParams } from 'vscode-languageserver';
import type { FileChange } from '../protocol/changes.ts';
import { editorAttachParams, editorIntentParams, type Settings } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import { createAsk } from './ask.ts';
import { showChanges } from './changes.ts';
import type { Client } from './client.ts';
import { type Commands, createCommands } from './commands.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createEvents } from './events.ts';
import { type Features, joinFeatures } from './features.ts';
import { createFiles, type Files } from './files.ts';
import { type Connect, createLink } from './link.ts';
import { createNotices } from './notices.ts';
import { createOutcomes } from './outcomes.ts';
import { createProgress } from './progress.ts';
import { createReload } from './reload.ts';
import { defaultSettings, settingsFrom } from './settings.ts';
import { createShow } from './show.ts';
import type { Transport } from './transport.ts';
import { createView } from './view.ts';
import { workspaceFolder } from './workspace.ts';

export interface Editor {
  readonly execute: Commands['execute'];
  readonly documents: Documents;
  readonly saved: Files['saved'];
  readonly features: Features;
  /** `initialized`: follows the session in the background. */
  begin(): void;
  /** `atomic/attach` and `atomic/intent`. */
  attach(params: unknown): Promise<unknown>;
  intent(params: unknown): Promise<unknown>;
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
  const first = settingsFrom(params.initializationOptions, { ...defaultSettings, ...parts.settings }, true);
  let settings: Settings = { ...first.settings, ...(parts.settings?.hub === false && { hub: false }) };
  let problems = first.problems;

  const place = workspaceFolder(params) ?? parts.folder;
  // Some editors start a server of its own for the prompt file: it belongs to the session that the path names.
  const named = parts.sessionOf?.(path.join(place, 'prompt.md'));
  if (named && settings.session === undefined) settings = { ...settings, session: named.session };

  const documents = createDocuments();
  const outcomes = createOutcomes();
  const progress = createProgress(client, clock);
  const link = createLink({
    connect: parts.connect,
    name: () => client.traits.name,
    workspace: named?.workspace ?? place,
    settings,
    clock,
    log,
    events: {
      change(change) {
        const { facts, snapshot } = change;
        outcomes.take(change);
        events.flush();
        notices.take(facts);
        ask.update(snapshot);
        files.sweep(ask.isOpen);
        progress.update(snapshot);
        reload.take(facts);
        view.take(change);
      },
      lost() {
        progress.end();
        ask.withdraw();
        client.message('warning', 'The hub has ended; it is being started again.');
      },
      back: () => client.message('info', 'The hub is there again, and the session goes on.'),
      givenUp: (error) => client.message('error', sentenceOf(error)),
    },
  });
  const rich = {
    events: () => settings.client?.events === true,
    dialogs: () => settings.client?.dialogs === true,
  };
  const events = createEvents(client, parts.transport, clock);
  const loggingIn = () =>
    link.mirror?.snapshot.intents.some(
      ({ intent, command, outcome }) =>
        command === 'login_provider' && outcome === 'pending' && link.sent(intent),
    ) === true;
  const notices = createNotices({ client, sent: link.sent, isUs: link.isUs, rich: rich.events, loggingIn });
  const ask = createAsk({
    client,
    clock,
    log,
    rich: rich.dialogs,
    session: () => link.mirror?.session ?? '',
    isUs: link.isUs,
    answer: (dialog, answer) => link.intent(link.newId(), 'answer', { dialog, ...answer }),
  });
  const show = createShow(client, log);
  const folder = async () => {
    await link.ready();
    return link.folder!;
  };
  const view = createView({
    client,
    documents,
    show,
    clock,
    log,
    pid: process.pid,
    isAlive: parts.isAlive,
    ready: () => link.ready(),
    folder,
  });
  const reload = createReload({
    client,
    documents,
    clock,
    log,
    workspace: named?.workspace ?? place,
    rich: rich.events,
  });
  const files = createFiles({
    client,
    documents,
    show,
    clock,
    log,
    folder,
    async prompt(message) {
      const id = link.newId();
      const outcome = outcomes.of(id);
      await link.intent(id, 'prompt', { message });
      return (await outcome) === 'done';
    },
    async reply(dialog, value) {
      await commands.execute('atomic.answer', [{ dialog, value }]);
    },
  });
  const commands = createCommands({
    link,
    ask,
    client,
    files,
    locals: {
      compose: { answer: { opens: 'prompt.md' }, run: files.compose },
      open: { answer: { opens: 'views' }, run: view.open },
      older_turns: { answer: { opens: 'views' }, run: view.older },
      changes: {
        answer: { opens: 'changes.diff' },
        run: () =>
          showChanges({
            folder,
            list: () => link.read('list_changes', {}) as Promise<{ files: FileChange[] }>,
            show,
            tell: (sentence) => client.message('info', sentence, true),
          }),
      },
    },
    checks: {
      revert_file({ path: file }) {
        if (reload.unsaved(file))
          throw new AtomicError(
            'RevertRefused',
            `${file} was left as it is, because you have unsaved changes in it: save or undo them, then try again.`,
            { path: file },
          );
      },
    },
    clock,
    log,
  });
  const told = () => {
    for (const problem of problems) client.message('error', problem.message);
    problems = [];
  };

  return {
    execute: commands.execute,
    documents,
    saved(uri, text) {
      reload.saved(uri, text);
      files.saved(uri, text);
    },
    features: joinFeatures([], log),
    begin() {
      told();
      // Nobody needs it yet, so nobody is told when it fails.
      link.ready().catch((error: unknown) => log.warn({ error }, 'no session in the background'));
    },
    async attach(given) {
      const { session, workspace, cursor } = checked('atomic/attach', editorAttachParams, given ?? {});
      if (!rich.events())
        throw new AtomicError(
          'BadArguments',
          'atomic/attach is for clients that opted in: give initializationOptions.client = {"name": …, "events": true}.',
        );
      // Nothing may come between this and the answer.
      events.end();
      const mirror = await link.follow({
        ...(session !== undefined && { session }),
        ...(workspace !== undefined && { workspace }),
      });
      return events.attach(mirror, cursor);
    },
    async intent(given) {
      const { id, command, session, params: sent } = checked('atomic/intent', editorIntentParams, given);
      if (session !== undefined && session !== (await link.ready()).session)
        throw new AtomicError(
          'NoSuchSession',
          `This server does not follow a session "${session}" now: join it with atomic/attach first.`,
          { session },
        );
      return commands.intent(id, command, sent ?? {});
    },
    configure(given) {
      const next = settingsFrom(given, settings, false);
      // Opting in is part of initialize; --no-hub is the person's word.
      settings = { ...next.settings, client: settings.client, hub: settings.hub && next.settings.hub };
      problems = next.problems;
      told();
      link.configure(settings);
    },
    cancelProgress(token) {
      if (!progress.owns(token)) return;
      link
        .intent(link.newId(), 'abort', {})
        .catch((error: unknown) => client.message('error', sentenceOf(error)));
    },
    close() {
      events.end();
      progress.end();
      ask.withdraw();
      view.close();
      link.close();
    },
  };
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function checked<T>(
  method: string,
  schema: {
    safeParse(
      given: unknown,
    ):
      | { success: true; data: T }
      | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
  },
  given: unknown,
): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new AtomicError(
    'BadArguments',
    `${method} cannot be used so: ${path.length ? `"${path.join('.')}": ` : ''}${message}.`,
  );
}
