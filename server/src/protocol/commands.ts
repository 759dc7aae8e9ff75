// The command table: one list from which registration, validation, dispatch, the reference page and the constants of the
// Lua and Emacs clients derive. Guarantees: names and ids are unique. Must not know: how a command is carried out.
import type { CommandRow } from './command-row.ts';
import { bridgeRows } from './commands-bridge.ts';
import { changesRows } from './commands-changes.ts';
import { loginRows } from './commands-login.ts';
import { modelRows } from './commands-model.ts';
import { promptingRows } from './commands-prompting.ts';
import { sessionRows } from './commands-session.ts';
import { stateRows } from './commands-state.ts';

export { type Asked, type CommandRow, type Dialects, itemsOf, type Params } from './command-row.ts';

export const commandTable: readonly CommandRow[] = [
  ...promptingRows,
  ...modelRows,
  ...loginRows,
  ...sessionRows,
  ...stateRows,
  ...changesRows,
  ...bridgeRows,
];

const byName = new Map(commandTable.map((row) => [row.name, row]));
const byId = new Map(commandTable.map((row) => [row.id, row]));

/** The row of an Atomic name (`set_model`) or of an LSP command id (`atomic.setModel`); undefined when there is none. */
export const commandRow = (nameOrId: string): CommandRow | undefined =>
  byName.get(nameOrId) ?? byId.get(nameOrId);
