// The shape of one row of the command table, and the words that rows are written with. Guarantees: a row says everything
// about a command that anyone needs (registration, validation, dispatch, asking, docs, the clients' constants). Must not
// know: which rows there are (commands.ts), nor how any is carried out.
import * as z from 'zod';
import type { AgentState } from './records.ts';

/** Marks of the protocol reference: Y documented there, y works though undocumented, "-" absent. */
export type Mark = 'Y' | 'y' | '-';
export interface Dialects {
  D1: Mark;
  D2: Mark;
  'D2+': Mark;
  D3: Mark;
}

/**
 * How a command is carried out.
 * - `read`: the agent is asked and the editor gets the data.
 * - `act`: an intent; the editor gets `{intent}` at once and the outcome is a fact.
 * - `local`: done by the editor's own server (opens a document, shows a list).
 */
export type Kind = 'read' | 'act' | 'local';

/** `serial`: one after the other, each after the previous answer. `free`: at once, past everything. */
export type Lane = 'serial' | 'free';

/** What a command that was called without what it needs asks for. */
export type Ask = { with: 'compose' } | Asked;

export type Asked = (
  | {
      with: 'text';
      title: string;
      param: string;
      placeholder?: string;
      /** Parameters from the text, where they are not those of `bare`, or else `param`. */
      take?: (text: string) => Params;
    }
  | { with: 'choose'; title: string; options: { label: string; params: Params }[] }
  | {
      with: 'pick';
      title: string;
      /** The reading command that has the list. */
      from: string;
      /** The list's place in its data, or the list made of it. */
      list: string | ((data: Params) => unknown[]);
      label: (item: Params) => string;
      take: (item: Params) => Params;
      /** Said when the list is empty. */
      empty: string;
    }
) & {
  /** What is asked next; the command gets what both gave. */
  next?: (given: Params) => Asked;
};

// biome-ignore lint/suspicious/noExplicitAny: parameters are validated by each row's own schema
export type Params = Record<string, any>;

export interface CommandRow {
  /** Atomic's own name, `set_model`; the bridge's own commands are written the same way. */
  name: string;
  /** The LSP command, `atomic.setModel`. */
  id: string;
  group: string;
  title: string;
  /** One or two sentences for the reference. */
  doc: string;
  params: z.ZodObject;
  /** Parameters from a bare string argument. */
  bare?: (text: string) => Params;
  kind: Kind;
  /** Of kind `read`: the editor's own server has the data, and nobody else. */
  here?: true;
  /** Whether the agent has an RPC command of this name; the others are the bridge's own. */
  rpc: boolean;
  lane: Lane;
  /** Whether 30 seconds without an answer are an error. */
  timed: boolean;
  dialects?: Dialects;
  ask?: Ask;
  /** What to read again when it succeeded: nothing, the state, or everything because the session is another one. */
  after: 'nothing' | 'state' | 'replaced';
  /** What its outcome holds besides the agent's data: from the state that was read again after it. */
  became?: (state: AgentState) => Params;
  /** Another name for a row, with some parameters already given. */
  alias?: { of: string; params: Params };
  /** Offered as a code action of the kind `source.<id>`: always, or while a run is going on. */
  action?: 'always' | 'running';
  /** What a person is told when it was done, from the data of the outcome and what was asked for: where that is seen nowhere else. */
  told?: (data: Params, params: Params) => string | undefined;
  /** The text that is handed back for editing, from the same data. */
  back?: (data: Params) => string | undefined;
  /** What the answer holds, in words. */
  returns: string;
  example: Params;
}

type RowInput = Omit<
  CommandRow,
  'id' | 'params' | 'rpc' | 'lane' | 'timed' | 'after' | 'dialects' | 'example'
> &
  Partial<Pick<CommandRow, 'lane' | 'timed' | 'after' | 'example'>> & {
    params?: z.ZodRawShape;
    dialects?: string;
  };

/** `set_model` → `atomic.setModel`. */
const commandId = (name: string): string =>
  `atomic.${name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}`;

/** Completes a row. `dialects` is four marks in the order D1 D2 D2+ D3; absent for the bridge's own commands. */
export function row({ params, dialects, ...input }: RowInput): CommandRow {
  const marks = dialects?.split(' ') as Mark[] | undefined;
  return {
    lane: input.kind === 'act' ? 'serial' : 'free',
    timed: input.kind === 'read',
    after: 'nothing',
    example: {},
    ...input,
    id: commandId(input.name),
    params: z.strictObject(params ?? {}),
    rpc: marks !== undefined,
    ...(marks && { dialects: { D1: marks[0]!, D2: marks[1]!, 'D2+': marks[2]!, D3: marks[3]! } }),
  };
}

const position = z.strictObject({ line: z.int().min(0), character: z.int().min(0) });
/** LSP: `Range`. */
export const range = z.strictObject({ start: position, end: position });

/** A parameter that is text and not blank. */
export const text = z.string().refine((value) => value.trim() !== '', 'must not be empty');
const image = z.strictObject({
  type: z.literal('image').default('image'),
  data: z.string(),
  mimeType: z.string(),
});
export const images = z.array(image).optional();
export const levels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** "on", "true", "yes", "1" → true; the opposite words → false; anything else is left for the schema to refuse. */
export const switchWord = (word: string): boolean | string =>
  /^(on|true|yes|1|enable|enabled)$/i.test(word)
    ? true
    : /^(off|false|no|0|disable|disabled)$/i.test(word)
      ? false
      : word;

/** What there is to choose from. */
export function itemsOf({ list }: Extract<Asked, { with: 'pick' }>, data: unknown): Params[] {
  const given = (data ?? {}) as Params;
  const found = typeof list === 'string' ? given[list] : list(given);
  return Array.isArray(found) ? found : [];
}

/** Text on one line, for a list. */
export const short = (given: unknown, length = 100): string => {
  const line = String(given ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  // Not within a character.
  return line.length > length ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
};

/** The two answers to "on or off?". */
export const onOff = (title: string): Ask => ({
  with: 'choose',
  title,
  options: [
    { label: 'On', params: { enabled: true } },
    { label: 'Off', params: { enabled: false } },
  ],
});
