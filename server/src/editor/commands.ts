// `workspace/executeCommand` (LSP). Guarantees: every command of the table works here, with or without arguments; what does
// work is answered at once, before anything is asked of the editor; an answer is held back no longer than the editor
// bears. Must not know: how a command is carried out at the agent.
import { checkedParams, givenParams } from '../protocol/arguments.ts';
import { type Asked, type CommandRow, commandRow, itemsOf, type Params } from '../protocol/commands.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Ask } from './ask.ts';
import type { Client } from './client.ts';
import type { Files } from './files.ts';
import { promptName } from './own-files.ts';
import type { Tab, Tabs } from './tabs.ts';

export interface Commands {
  /** The answer to an executed command: `{intent}`, data, or `{asking}` when the person is asked first. */
  execute(id: string, args: readonly unknown[] | undefined): Promise<unknown>;
  /** Sends an intent of a rich client to a session, under its own id; resolves when the hub has accepted it. */
  intent(tab: Tab, id: string, command: string, params: Params): Promise<{ intent: string }>;
  /** The data of a reading command of a rich client, however long it takes. */
  read(tab: Tab, command: string, params: Params): Promise<unknown>;
}

/** What the server itself does for a row: work after its answer was given, or its data. */
export type Local =
  | {
      /** Given at once, before the work begins. */
      answer: object;
      /** What rejects is told to the person. */
      run(params: Params, tab: Tab): Promise<void>;
    }
  | { data(params: Params): Promise<object> };

export interface CommandParts {
  tabs: Pick<Tabs, 'current' | 'get'>;
  ask: Ask;
  client: Client;
  files: Pick<Files, 'compose' | 'answer'>;
  /** Shows the data of a reading command to the person. */
  result(tab: Tab, row: CommandRow, data: unknown): Promise<void>;
  /** By the name of the row. */
  locals: Record<string, Local>;
  /** By the name of the row: looks at what is about to be done; throws where this editor stands against it. */
  checks: Record<string, (params: Params, tab: Tab) => void>;
  clock: Clock;
  log: Log;
}

/** Milliseconds that the hub has to say at once that an intent is wrong; then the editor gets its answer anyway. */
const promptness = 80;

export function createCommands({
  tabs,
  ask,
  client,
  files,
  result,
  locals,
  checks,
  clock,
  log,
}: CommandParts): Commands {
  const tell = (error: unknown) => {
    log.info({ error }, 'a command failed');
    client.message('error', error instanceof Error ? error.message : String(error));
  };

  /** `session`: where it is the client's word that the session is this one. */
  const act = async (
    tab: Tab,
    row: CommandRow,
    params: Params,
    id = tab.link.newId(),
    session?: string,
  ): Promise<{ intent: string }> => {
    const { command, params: sent } = resolved(row, params);
    checks[command]?.(sent, tab);
    if (command === 'answer') {
      const { dialog, ...answer } = sent;
      const target = ask.route(dialog, answer, session);
      if (target === 'done') return { intent: id };
      const { session: asked, ...named } = target;
      await (asked === undefined ? tab : tabs.get(asked)).link.intent(id, command, { ...answer, ...named });
    } else await tab.link.intent(id, command, sent);
    return { intent: id };
  };
  /** As {@link act}, but answered after a moment, whatever the hub says later. */
  const actAtOnce = async (tab: Tab, row: CommandRow, params: Params): Promise<{ intent: string }> => {
    const id = tab.link.newId();
    let answered = false;
    const accepted = act(tab, row, params, id);
    accepted.catch((error: unknown) => answered && tell(error));
    const result = await within(clock, promptness, accepted);
    answered = true;
    return result ?? { intent: id };
  };
  const reading = async (tab: Tab, row: CommandRow, params: Params): Promise<unknown> => {
    const local = row.here ? locals[row.name] : undefined;
    return local && 'data' in local ? local.data(params) : tab.link.read(row.name, params);
  };
  const read = async (tab: Tab, row: CommandRow, params: Params): Promise<unknown> => {
    const limit = client.traits.patience;
    const data = await within(clock, limit, reading(tab, row, params));
    if (data === undefined)
      throw new AtomicError(
        'TimedOut',
        `${row.id} had no answer within ${limit / 1000} s, and the editor waits no longer: try again when the agent is ready.`,
      );
    return data;
  };
  /** The row and parameters that a raw command stands for, where the table knows it as a reading one. */
  const meant = (row: CommandRow, params: Params): [CommandRow, Params] => {
    if (row.name !== 'rpc') return [row, params];
    const { type, id: _, ...rest } = params.command as Params;
    const known = commandRow(type);
    return known?.rpc && known.kind === 'read' && known.params.safeParse(rest).success
      ? [known, checkedParams(known, rest)]
      : [row, params];
  };
  const shown = async (tab: Tab, row: CommandRow, params: Params): Promise<void> =>
    result(tab, row, await reading(tab, row, params));

  const askedOnce = async (tab: Tab, row: CommandRow, how: Asked): Promise<Params | undefined> => {
    switch (how.with) {
      case 'text': {
        const text = await ask.text(how.title, how.placeholder);
        const take = how.take ?? row.bare ?? ((value: string) => ({ [how.param]: value }));
        return text === undefined ? undefined : take(text);
      }
      case 'choose': {
        const index = await ask.choose(
          how.title,
          how.options.map(({ label }) => label),
        );
        return index === undefined ? undefined : how.options[index]?.params;
      }
      case 'pick': {
        const items = itemsOf(how, await reading(tab, rowOf(how.from), {}));
        if (items.length === 0) {
          client.message('warning', how.empty, true);
          return undefined;
        }
        const index = await ask.choose(how.title, items.map(how.label));
        const item = index === undefined ? undefined : items[index];
        return item === undefined ? undefined : how.take(item);
      }
    }
  };
  /** Asks the person for what a command needs; undefined when the person refuses. */
  const askedFor = async (tab: Tab, row: CommandRow, how: Asked): Promise<Params | undefined> => {
    const given = await askedOnce(tab, row, how);
    if (!given || !how.next) return given;
    const more = await askedFor(tab, row, how.next(given));
    return more && { ...given, ...more };
  };
  /** What is chosen is done in the session that was current when the question came. */
  const askThenRun = async (tab: Tab, row: CommandRow, how: Asked) => {
    const params = await askedFor(tab, row, how);
    if (!params) return;
    const checked = checkedParams(row, params);
    const [known, sent] = meant(row, checked);
    if (known.kind === 'read') return shown(tab, known, sent);
    if (row.kind !== 'local') return void (await act(tab, row, checked));
    const local = localOf(row);
    await ('data' in local ? local.data(checked) : local.run(checked, tab));
  };

  const localOf = (row: CommandRow): Local => locals[row.alias?.of ?? row.name]!;
  /** After the answer: some editors lose a dialog when an answer comes. */
  const later = (answer: object, work: () => Promise<void>): object => {
    setImmediate(() => void work().catch(tell));
    return answer;
  };
  return {
    async execute(id, args) {
      const row = rowOf(id);
      const tab = tabs.current;
      const given = givenParams(row, args);
      if (given === undefined && row.ask) {
        const how = row.ask;
        if (how.with === 'compose') return later({ opens: promptName }, files.compose);
        return later({ asking: how.title }, () => askThenRun(tab, row, how));
      }
      if (row.kind === 'local') {
        const params = checkedParams(row, given ?? {});
        const local = localOf(row);
        return 'data' in local ? local.data(params) : later(local.answer, () => local.run(params, tab));
      }
      // An answer without an answer is one that is to be written.
      const { dialog: named, ...answer } = given ?? {};
      const writes = row.name === 'answer' && isEmpty(answer);
      const asked = writes ? ask.toWrite(named) : undefined;
      if (asked) return later({ opens: 'answers' }, () => files.answer(asked));
      const [known, params] = meant(row, checkedParams(row, given ?? {}));
      if (known.kind !== 'read') return actAtOnce(tab, known, params);
      if (client.traits.givesAnswers) return read(tab, known, params);
      return later({ opens: 'results' }, () => shown(tab, known, params));
    },
    intent(tab, id, command, params) {
      const row = rowOf(command);
      if (row.kind !== 'act')
        throw new AtomicError(
          'BadArguments',
          row.kind === 'read'
            ? `${row.id} is no work for the agent: send it with atomic/read, or with workspace/executeCommand.`
            : `${row.id} is no work for the agent: send it with workspace/executeCommand, which answers it.`,
          { command: row.id },
        );
      return act(tab, row, checkedParams(row, params), id, tab.id);
    },
    async read(tab, command, params) {
      const row = rowOf(command);
      if (row.kind !== 'read')
        throw new AtomicError('BadArguments', `${row.id} does work: send it with atomic/intent.`, {
          command: row.id,
        });
      return reading(tab, row, checkedParams(row, params));
    },
  };
}

/** The command and parameters that a row stands for. Throws `EmptyPrompt`. */
function resolved(row: CommandRow, params: Params): { command: string; params: Params } {
  const { message, images } = params;
  if (row.ask?.with === 'compose' && typeof message === 'string' && message.trim() === '' && !images?.length)
    throw noText(row);
  return row.alias
    ? { command: row.alias.of, params: { ...params, ...row.alias.params } }
    : { command: row.name, params };
}

function rowOf(id: string): CommandRow {
  const row = commandRow(id);
  if (!row)
    throw new AtomicError(
      'UnknownCommand',
      `There is no command "${id}": atomic.rpc sends what is newer than this bridge.`,
      { command: id },
    );
  return row;
}

const noText = (row: CommandRow): AtomicError =>
  new AtomicError(
    'EmptyPrompt',
    `${row.id} needs text: give it as an argument, as one string or as ${JSON.stringify(row.example)}.`,
    { command: row.id },
  );

const isEmpty = (given: Params | undefined): boolean => Object.keys(given ?? {}).length === 0;

/** The value, or undefined when it takes longer. */
function within<T>(clock: Clock, milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(milliseconds, () => resolve(undefined));
    promise.then(resolve, reject).finally(cancel);
  });
}
