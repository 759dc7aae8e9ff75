// The demo agent's commands that read or set something. Guarantees: answers have the shape of the newest dialect with its own error
// texts; a name that is not here is an unknown command. Must not know: lines, lanes.
import type { Clock } from '../../session/ports.ts';
import type { Compactor } from './compaction.ts';
import { catalog, levelsOf, models } from './models.ts';
import type { Mode, Runner } from './runner.ts';
import { commandList } from './scenes.ts';
import { type DemoSession, textOf } from './session.ts';
import type { Ui } from './ui.ts';
import type { Command, Wire } from './wire.ts';

export interface CommandWorld {
  wire: Wire;
  session: DemoSession;
  runner: Runner;
  ui: Ui;
  clock: Clock;
  compactor: Compactor;
  /** Aborted when the agent ends. */
  life: AbortSignal;
}

/** Returns the answer's data; throws an `Error` whose message is the refusal. */
export type Handler = (command: Command) => unknown;

const none = undefined;
const text = (value: unknown, name: string): string => {
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`"${name}" must be a text`);
  return value;
};
const unsaved = 'The demo agent saves no sessions: install Atomic to open and export them';

/** Handlers of the ordinary lane, by command name (protocol reference 3). */
export function createHandlers(world: CommandWorld): Record<string, Handler> {
  const { wire, session, runner, ui, compactor, life } = world;
  const { settings } = runner;
  let autoCompaction = true;
  let login: AbortController | undefined;

  const setLevel = (to: string) => {
    if (session.setLevel(to)) wire.send({ type: 'thinking_level_changed', level: session.level });
  };
  const setModel = (to: (typeof models)[number], source: 'set' | 'cycle') => {
    const previousModel = session.model;
    session.setModel(to);
    setLevel(to.reasoning ? (session.level === 'off' ? 'medium' : session.level) : 'off');
    wire.send({ type: 'model_changed', model: to, previousModel, source });
  };
  const setMode = (queue: 'steering' | 'followUp') => (command: Command) => {
    settings.modes[queue] = command.mode as Mode;
    return none;
  };

  return {
    get_state: () => {
      const queued = runner.texts();
      return {
        model: session.model,
        thinkingLevel: session.level,
        isStreaming: runner.busy,
        isCompacting: compactor.busy,
        steeringMode: settings.modes.steering,
        followUpMode: settings.modes.followUp,
        sessionId: session.id,
        ...(session.name !== undefined && { sessionName: session.name }),
        autoCompactionEnabled: autoCompaction,
        messageCount: session.messages().length,
        pendingMessageCount: queued.steering.length + queued.followUp.length,
        queuedMessagesPaused: settings.paused,
        resourceOverlaps: [],
      };
    },
    get_messages: () => ({ messages: session.messages() }),
    get_session_stats: () => session.stats(),
    get_last_assistant_text: () => {
      const last = session.messages().findLast((message) => message.role === 'assistant');
      const said = last && textOf(last);
      return said ? { text: said } : {};
    },
    get_commands: () => ({ commands: commandList() }),
    get_command_completions: ({ commandName, argumentPrefix }) => {
      if (commandName !== 'demo-long') return { completions: null };
      const counts = ['10', '100', '1000', '10000'].filter((count) =>
        count.startsWith(String(argumentPrefix ?? '')),
      );
      return { completions: counts.map((count) => ({ value: count, label: `${count} words` })) };
    },
    get_shortcuts: () => ({ shortcuts: [] }),
    invoke_shortcut: ({ key }) => {
      throw new Error(`Shortcut not found: ${key}`);
    },
    reload: () => none,

    get_available_models: catalog,
    refresh_models: () => ({ aborted: false, errors: [], ...catalog() }),
    set_model: ({ provider, modelId }) => {
      const model = models.find((known) => known.provider === provider && known.id === modelId);
      if (!model) throw new Error(`Model not found: ${provider}/${modelId}`);
      setModel(model, 'set');
      return model;
    },
    cycle_model: ({ direction }) => {
      const step = direction === 'backward' ? -1 : 1;
      setModel(models.at((models.indexOf(session.model) + step) % models.length)!, 'cycle');
      return { model: session.model, thinkingLevel: session.level, isScoped: false };
    },
    set_thinking_level: ({ level }) => {
      setLevel(String(level));
      return none;
    },
    cycle_thinking_level: () => {
      const known = levelsOf(session.model);
      if (known.length < 2) return null;
      setLevel(known[(known.indexOf(session.level) + 1) % known.length]!);
      return { level: session.level };
    },
    get_available_thinking_levels: () => ({ levels: levelsOf(session.model) }),
    set_steering_mode: setMode('steering'),
    set_follow_up_mode: setMode('followUp'),
    set_auto_compaction: ({ enabled }) => {
      autoCompaction = enabled === true;
      return none;
    },
    set_auto_retry: ({ enabled }) => {
      settings.autoRetry = enabled === true;
      return none;
    },
    compact: async () => {
      await runner.cut();
      return compactor.compact();
    },

    login_provider: async ({ provider, loginId }) => {
      if (provider !== 'demo') throw new Error(`Unknown provider: ${provider}`);
      login = new AbortController();
      const prompt = { message: 'Demo: any text logs you in, it is kept nowhere', allowEmpty: true };
      const { value } = await ui.ask(
        { method: 'oauth_prompt', provider, loginId, prompt },
        AbortSignal.any([login.signal, life]),
      );
      login = undefined;
      return value === undefined
        ? { provider, cancelled: true }
        : { provider, cancelled: false, ...catalog() };
    },
    cancel_login_provider: () => {
      login?.abort();
      return none;
    },
    save_provider_credential: () => catalog(),
    logout_provider: ({ provider }) => ({
      provider,
      authStatus: { configured: provider === 'demo', source: 'demo' },
      ...catalog(),
    }),

    new_session: async () => {
      await runner.cut();
      session.fresh();
      return { cancelled: false };
    },
    clone: async () => {
      if (session.messages().length === 0)
        throw new Error(
          'This session has not been saved yet. Wait for the first assistant response before cloning or forking it.',
        );
      await runner.cut();
      session.clone();
      return { cancelled: false };
    },
    fork: async ({ entryId }) => {
      const known = session.branch().some(({ id, message }) => id === entryId && message?.role === 'user');
      if (!known) throw new Error('Invalid entry ID for forking');
      await runner.cut();
      return { text: session.fork(String(entryId)), cancelled: false };
    },
    switch_session: () => {
      throw new Error(unsaved);
    },
    import_session: () => {
      throw new Error(unsaved);
    },
    export_html: () => {
      throw new Error('Cannot export in-memory session to HTML');
    },
    list_sessions: () => ({ sessions: [] }),
    list_workflow_runs: () => ({ runs: [] }),
    set_session_name: ({ name }) => {
      if (typeof name !== 'string' || name.trim() === '') throw new Error('Session name cannot be empty');
      session.rename(name.trim());
      wire.send({ type: 'session_info_changed', name: name.trim() });
      return none;
    },
    get_fork_messages: () => ({
      messages: session
        .branch()
        .flatMap(({ id, message }) =>
          message?.role === 'user' ? [{ entryId: id, text: textOf(message) }] : [],
        ),
    }),
    get_entries: ({ since }) => {
      const at = since === undefined ? -1 : session.entries.findIndex(({ id }) => id === since);
      if (since !== undefined && at < 0) throw new Error(`Entry not found: ${since}`);
      return { entries: session.entries.slice(at + 1), leafId: session.leaf };
    },
    get_tree: () => ({ tree: session.tree(), leafId: session.leaf }),
    navigate_tree: ({ targetId }) => {
      if (runner.busy) throw new Error('Wait for the current response to finish before navigating the tree');
      if (!session.move(text(targetId, 'targetId'))) throw new Error(`Entry not found: ${targetId}`);
      return { cancelled: false };
    },
    set_label: ({ entryId, label }) => {
      if (!session.label(text(entryId, 'entryId'), typeof label === 'string' ? label : undefined))
        throw new Error(`Entry not found: ${entryId}`);
      return none;
    },
  };
}
