// From what an editor gave as arguments to checked parameters. Guarantees: lenient in form (nothing, one object, one bare
// string, several strings, one array), strict in content; a refusal is one sentence that names the command, the wrong
// key and an example. Must not know: what the command does.
import type { CommandRow, Params } from './commands.ts';
import { AtomicError } from './errors.ts';

/**
 * The parameters that a command was given, not yet checked; undefined when none were given, so that the command can ask.
 * LSP: `ExecuteCommandParams.arguments`; the forms are the ones real editors can send.
 */
export function givenParams(row: CommandRow, args: readonly unknown[] | undefined): Params | undefined {
  const list = (args ?? []).filter((value) => value !== undefined && value !== null);
  if (list.length === 0) return undefined;
  if (list.length === 1 && Array.isArray(list[0])) return givenParams(row, list[0]);
  const [first] = list;
  if (list.length === 1 && typeof first === 'object') return first as Params;
  if (list.every((value) => ['string', 'number', 'boolean'].includes(typeof value))) {
    if (row.bare) return row.bare(list.join(' '));
    throw badArguments(row, `takes no text, but got ${JSON.stringify(list.join(' '))}`);
  }
  throw badArguments(row, 'takes one object or one text');
}

/** Checked parameters with defaults filled in. Throws `BadArguments` with a sentence for a person. */
export function checkedParams(row: CommandRow, params: Params): Params {
  const result = row.params.safeParse(params);
  if (result.success) return result.data;
  const { issues } = result.error;
  // A wrong key is often the cause of a missing one.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(row.params.shape);
    const keys = issue.keys.map((key) => `"${key}"`).join(', ');
    throw badArguments(
      row,
      `does not know ${keys}; it takes ${known.length ? known.map((key) => `"${key}"`).join(', ') : 'no parameters'}`,
    );
  }
  const missing = issue.code === 'invalid_type' && valueAt(params, issue.path) === undefined;
  throw badArguments(row, missing ? `needs "${path}"` : `cannot use "${path}": ${phrase(issue.message)}`);
}

function badArguments(row: CommandRow, problem: string): AtomicError {
  const example = Object.keys(row.example).length ? ` Example: ${JSON.stringify(row.example)}` : '';
  return new AtomicError('BadArguments', `${row.id} ${problem}.${example}`, { command: row.id });
}

const phrase = (message: string): string => `${message.charAt(0).toLowerCase()}${message.slice(1)}`;

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
