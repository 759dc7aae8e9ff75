// How each command is carried out at the agent. Guarantees: state-changing calls go through the serial lane, what must
// never wait goes past it; a prompt is never refused because a run is going on; a command that the agent does not know is
// remembered as unavailable. Must not know: intents' ids and outcomes (intents.ts), how the agent is run.
import type { Params } from '../protocol/command-row.ts';
import { type CommandRow, commandRow } from '../protocol/commands.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Fact, Origin } from '../protocol/facts.ts';
import type { AgentCommand, Call, ResponseRecord } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { AgentLife } from './agent-life.ts';
import type { ChangeCommands } from './change-commands.ts';
import type { Dialogs } from './dialogs.ts';
import type { Lanes } from './lanes.ts';
import type { Agent, PromptHistory } from './ports.ts';
import { listedHistory } from './prompt-history.ts';
import type { Refresh } from './refresh.ts';
import { stopEverything } from './stop.ts';
import type { Stored } from './stored.ts';
import { slashWord, typedCommand } from './typed.ts';

/** The rooms of a session, as its commands need them. */
export interface Core {
  append(fact: Fact): void;
  snapshot(): Snapshot;
  whileBusy(): 'steer' | 'followUp';
  life: AgentLife;
  lanes: Lanes;
  dialogs: Dialogs;
  refresh: Refresh;
  stored: Stored;
  /** Before our agent writes to its session file. */
  look(agent: Agent): Promise<void>;
  changes: ChangeCommands;
  history: PromptHistory | undefined;
}

export interface Request {
  /** The intent's id; shell output is told apart by it. */
  id: string;
  row: CommandRow;
  params: Params;
  origin?: Origin;
}

/** Milliseconds that a reading command may take (protocol reference, section 8.4). */
const readLimit = 30_000;

const modes: Record<string, 'steer' | 'followUp'> = { steer: 'steer', follow_up: 'followUp' };
const done: ResponseRecord = { type: 'response', success: true };

/** Carries commands out; `stop` may be used while everything else waits. */
export function createConduct(core: Core) {
  const { append, snapshot, life, lanes, dialogs, refresh } = core;
  const stop = stopEverything(core);
  /** The agent's own commands; undefined: to be read again. */
  let agentCommands: Promise<AgentCommand[]> | undefined;

  const send = async (agent: Agent, call: Call): Promise<ResponseRecord> => {
    const response = await agent.call(call);
    if (response.success || !/^unknown command/i.test(response.error ?? '')) return response;
    if (!snapshot().agent.unavailable.includes(call.type))
      append({ type: 'command_unavailable', command: call.type });
    throw unavailable(call.type);
  };
  const unavailable = (name: string) =>
    new AtomicError(
      'CommandUnavailable',
      `The agent that runs here (${snapshot().agent.identity?.command ?? 'none'}) has no command "${name}"; a newer agent may have it.`,
      { command: name },
    );

  const followed = async (agent: Agent, row: CommandRow, response: ResponseRecord, before: Snapshot) => {
    if (!response.success) return response;
    const cancelled = (response.data as { cancelled?: unknown } | undefined)?.cancelled === true;
    if (row.after === 'state') await refresh.state(agent);
    if (row.became)
      return { ...response, data: { ...(response.data as object | null), ...row.became(snapshot().state) } };
    if (row.after === 'replaced' && !cancelled) {
      const old = new Set(before.dialogs.map((dialog) => dialog.id));
      dialogs.withdraw((dialog) => old.has(dialog.id));
      await refresh.everything(agent, row.name, before);
      agentCommands = undefined;
    }
    if (row.name === 'reload') agentCommands = undefined;
    return response;
  };

  const serial = (row: CommandRow, call: Call, text?: string): Promise<ResponseRecord> => {
    let agent: Agent;
    return lanes.serial(
      async () => {
        const before = snapshot();
        return followed(agent, row, await send(agent, call), before);
      },
      {
        async first() {
          agent = await life.ready();
          if (text !== undefined) await core.look(agent);
        },
        ...(text !== undefined && { text }),
      },
    );
  };

  const free = async (row: CommandRow, call: Call): Promise<ResponseRecord> => {
    const run = async () => {
      const agent = await life.ready();
      return followed(agent, row, await send(agent, call), snapshot());
    };
    return lanes.free(run, row.timed ? { milliseconds: readLimit, what: row.name } : undefined);
  };

  const knownCommands = (): Promise<AgentCommand[]> => {
    agentCommands ??= life
      .ready()
      .then((agent) => agent.call({ type: 'get_commands' }))
      .then((response) => {
        const { commands } = (response.data ?? {}) as { commands?: AgentCommand[] };
        if (!response.success) agentCommands = undefined;
        return commands ?? [];
      })
      .catch((error) => {
        agentCommands = undefined;
        throw error;
      });
    return agentCommands;
  };

  const prompt = async (request: Request): Promise<ResponseRecord> => {
    const { row, params } = request;
    const message = String(params.message);
    const streamingBehavior = modes[row.name] ?? params.streamingBehavior ?? core.whileBusy();
    const call = {
      type: 'prompt',
      message,
      ...(params.images && { images: params.images }),
      streamingBehavior,
    };
    const word = slashWord(message);
    if (word === undefined) return hinted(await serial(row, call, message));
    const own = (await knownCommands()).find((command) => command.name === word);
    if (!own) {
      const typed = typedCommand(message);
      if (typed) return conduct({ ...request, row: commandRow(typed.command)!, params: typed.params });
      return hinted(await serial(row, call, message));
    }
    // An extension command is answered when its handler is done, which may ask; nothing may wait for it.
    const response =
      own.source === 'extension'
        ? await lanes.free(async () => send(await life.ready(), call))
        : await serial(row, call, message);
    if (life.current) await refresh.state(life.current, `/${word}`);
    return hinted(response);
  };

  /** A refusal for want of a usable model says what to do about it. */
  const hinted = (response: ResponseRecord): ResponseRecord =>
    !response.success && /\bmodel\b|api key|provider/i.test(response.error ?? '')
      ? { ...response, error: `${sentence(response.error!)} Choose a model with atomic.setModel.` }
      : response;

  const answer = ({ params, origin }: Request): ResponseRecord => {
    const { dialog, ...given } = params;
    dialogs.answer(dialog, given, origin, (open, fitting) => life.current?.answer(open, fitting) ?? false);
    return done;
  };

  const raw = async ({ id, params }: Request): Promise<ResponseRecord> => {
    const call = params.command as Call;
    const row = commandRow(call.type);
    if (row?.rpc && row.kind === 'act') {
      const { type, id: _, ...rest } = call;
      return conduct({ id, row, params: rest });
    }
    return row ? free(row, call) : lanes.free(async () => send(await life.ready(), call));
  };

  async function conduct(request: Request): Promise<ResponseRecord> {
    const { id, row, params } = request;
    const missing = row.rpc && snapshot().agent.unavailable.includes(row.name);
    if (row.name === 'list_sessions')
      return core.stored.sessions(missing ? undefined : () => free(row, { type: row.name }));
    if (missing) throw unavailable(row.name);
    if (row.name === 'switch_session') await core.stored.checked(params.sessionPath);
    if (row.name === 'import_session') await core.stored.checked(params.inputPath);
    switch (row.name) {
      case 'prompt':
      case 'steer':
      case 'follow_up':
        return prompt(request);
      case 'abort':
        return stop(request.origin);
      case 'answer':
        return answer(request);
      case 'list_changes':
      case 'revert_file':
      case 'accept_changes':
        return core.changes(row.name, params);
      case 'list_history':
        return listedHistory(core.history, snapshot(), params.limit);
      case 'rpc':
        return raw(request);
      case 'restart_agent':
        dialogs.withdraw(() => true);
        agentCommands = undefined;
        await life.restart();
        return done;
      case 'bash':
      case 'user_bash':
        return free(row, { ...params, type: row.name, id });
      default: {
        const call = { ...params, type: row.name };
        return row.lane === 'serial' ? serial(row, call) : free(row, call);
      }
    }
  }

  return {
    conduct,
    /** The agent's commands are to be read again (it is another process). */
    forget: () => {
      agentCommands = undefined;
    },
  };
}

const sentence = (text: string): string => (/[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);
