// The reference pages and the clients' constants as text, from the definitions. Guarantees: pure, the same definitions give the
// same bytes; every row, fact, error and setting is in them. Nothing at run time imports this. Must not know: where the text goes.
import * as z from 'zod';
import type { CommandRow, Params } from './command-row.ts';
import { commandTable } from './commands.ts';
import { errorWords, factWords, requestWords, settingWords, snapshotWords } from './docs-words.ts';
import {
  editorAttachParams,
  editorDetachParams,
  editorIntentParams,
  editorMethods,
  editorReadParams,
  settings,
} from './editor.ts';
import { errorCodes } from './errors.ts';
import { streamFacts } from './facts.ts';

interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

const schemaOf = (type: z.ZodType): Schema => z.toJSONSchema(type, { io: 'input' }) as Schema;

/** A schema as one would write it by hand: `"a" \| "b"`, `string[]`, `{name: string, size?: number}`. */
function typeText(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ');
  if (schema.type === 'array') {
    const item = typeText(schema.items ?? {});
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object' && schema.properties) {
    const fields = fieldsOf(schema).map(
      ([name, own, needed]) => `${name}${needed ? '' : '?'}: ${typeText(own)}`,
    );
    return `{${[...fields, ...(schema.additionalProperties ? ['…'] : [])].join(', ')}}`;
  }
  if (schema.type === 'object') {
    const values = schema.additionalProperties;
    return `{[name]: ${typeof values === 'object' ? typeText(values) : 'any'}}`;
  }
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' | ');
}

const fieldsOf = (schema: Schema): [name: string, schema: Schema, needed: boolean][] =>
  Object.entries(schema.properties ?? {}).map(([name, own]) => [
    name,
    own,
    schema.required?.includes(name) ?? false,
  ]);

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

/** The fields of a schema, those of objects inside it under dotted names. */
const fieldRows = (schema: Schema, prefix = ''): [string, Schema, boolean][] =>
  fieldsOf(schema).flatMap(([name, own, needed]) => [
    [`${prefix}${name}`, own, needed] as [string, Schema, boolean],
    ...fieldRows(own, `${prefix}${name}.`),
  ]);

const fieldTable = (type: z.ZodType, words: Record<string, string> = {}): string =>
  table(
    ['field', 'type', 'meaning'],
    fieldRows(schemaOf(type)).map(([name, schema, needed]) => [
      code(name),
      `${code(schema.properties ? 'object' : typeText(schema))}${needed ? ', required' : ''}${
        schema.default === undefined ? '' : `, default ${code(JSON.stringify(schema.default))}`
      }`,
      schema.description ?? words[name] ?? '',
    ]),
  );

/** Whether a command cannot do its work without parameters, so that it asks for them. */
export const needsParams = (row: Pick<CommandRow, 'params'>): boolean => !row.params.safeParse({}).success;

/** What a command does when it is called without arguments, in words. */
export function withoutArguments(row: CommandRow): string {
  const { ask, kind } = row;
  if (!ask) {
    if (needsParams(row)) return 'Is refused with an example.';
    return kind === 'read' ? 'Answers with the data.' : 'Does it at once.';
  }
  switch (ask.with) {
    case 'compose':
      return 'Opens the prompt file; saving it sends it.';
    case 'text':
      return `Asks for a text: “${ask.title}”${ask.next ? ', and then for what belongs to it' : ''}.`;
    case 'choose':
      return `Asks “${ask.title}”: ${ask.options.map(({ label }) => label).join(', ')}.`;
    case 'pick':
      return `Asks “${ask.title}”, from the list that ${code(ask.from)} gives; where that is empty it says: “${ask.empty}”${ask.next ? ' Then it asks for what belongs to it.' : ''}`;
  }
}

const kinds = {
  read: 'reads: the answer is the data',
  act: 'acts: answers with `{intent}` at once, the outcome is a fact',
  local: 'done by the editor’s own server',
};

function commandSection(row: CommandRow): string {
  const schema = schemaOf(row.params);
  const params = fieldsOf(schema).map(
    ([name, own, needed]) => `  - ${code(name)}: ${code(typeText(own))}${needed ? ', required' : ''}`,
  );
  const facts = [
    `- Kind: ${kinds[row.kind]}`,
    params.length > 0 ? `- Parameters:\n${params.join('\n')}` : '- Parameters: none',
    ...(row.bare ? ['- Takes its main parameter as a bare text too.'] : []),
    `- Without arguments: ${withoutArguments(row)}`,
    `- Answer: ${row.returns}`,
    ...(row.action
      ? [
          `- Code action: ${code(`source.${row.id}`)}${row.action === 'running' ? ', while a run is going on' : ''}`,
        ]
      : []),
    row.dialects
      ? `- RPC command ${code(row.name)}: ${Object.entries(row.dialects)
          .map(([dialect, mark]) => `${dialect} ${mark}`)
          .join(', ')}`
      : row.alias
        ? `- Short for ${code(row.alias.of)} with ${code(JSON.stringify(row.alias.params))}`
        : '- The bridge’s own command',
    `- Example: ${code(JSON.stringify({ command: row.id, arguments: exampleArguments(row.example) }))}`,
  ];
  return `### ${row.title}: ${code(row.id)}\n\n${row.doc}\n\n${facts.join('\n')}`;
}

const exampleArguments = (example: Params): Params[] => (Object.keys(example).length > 0 ? [example] : []);

const notice = 'Generated by `npm run generate` from the command table; edits are overwritten.';

/** docs/commands.md. */
export function commandsPage(rows: readonly CommandRow[] = commandTable): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  const index = table(
    ['command', 'what', 'kind'],
    rows.map((row) => [code(row.id), row.title, row.kind]),
  );
  const sections = groups.map((group) => {
    const own = rows.filter((row) => row.group === group).map(commandSection);
    return `## ${group}\n\n${own.join('\n\n')}`;
  });
  return `<!-- ${notice} -->

# Commands

Every command is an LSP command for \`workspace/executeCommand\`. Its arguments are none, one object with the
parameters, or the main parameter as a bare text. Errors are one sentence that names cause and cure.

Dialect marks: D1 is the older full protocol page of Atomic, D2 is atomic 0.9.15, D2+ what is documented after it, D3
is pi 1.6. \`Y\` documented there, \`y\` works there though undocumented, \`-\` absent: the command is then refused with
\`CommandUnavailable\`, or done another way where the text says so.

${index}

${sections.join('\n\n')}
`;
}

/** A list and no table: the words of the fields are too long for one line of a page. */
const factList = (): string =>
  Object.entries(factWords)
    .flatMap(([type, [meaning, fields]]) => [
      `- ${code(type)}${streamFacts.has(type) ? ' (stream)' : ''}: ${meaning}`,
      ...Object.entries(fields).map(([name, words]) => `  - ${code(name)}: ${words}`),
    ])
    .join('\n');

/** The tables of docs/protocol.md by the name of their markers. */
export const protocolTables = (): Record<string, string> => ({
  settings: fieldTable(settings, settingWords),
  attach: fieldTable(editorAttachParams, requestWords),
  detach: fieldTable(editorDetachParams, requestWords),
  intent: fieldTable(editorIntentParams, requestWords),
  read: fieldTable(editorReadParams, requestWords),
  methods: table(
    ['method', 'kind', 'from → to'],
    Object.entries(editorMethods).map(([name, method]) => [
      code(method),
      ['events', 'resync', 'tabs'].includes(name) ? 'notification' : 'request',
      ['attach', 'detach', 'intent', 'read'].includes(name) ? 'client → server' : 'server → client',
    ]),
  ),
  facts: factList(),
  snapshot: table(
    ['field', 'holds'],
    Object.entries(snapshotWords).map(([name, words]) => [code(name), words]),
  ),
  errors: table(
    ['name', 'code', 'when'],
    Object.entries(errorWords).map(([name, words]) => [
      code(name),
      String(errorCodes[name as keyof typeof errorCodes]),
      words,
    ]),
  ),
});

const quoted = (text: string): string => JSON.stringify(text.replaceAll('\n', ' '));
const constants = (rows: readonly CommandRow[]) =>
  rows.map((row) => ({
    id: row.id,
    name: row.name,
    title: row.title,
    doc: row.doc,
    group: row.group,
    kind: row.kind,
    needs: needsParams(row),
  }));

/** clients/neovim/lua/atomic/commands.lua. */
export const luaCommands = (rows: readonly CommandRow[] = commandTable): string =>
  [
    '-- Every command of the server. Generated by `npm run generate`; edits are overwritten.',
    '-- needs: whether the server asks for something when the command is given no parameters.',
    'return {',
    ...constants(rows).flatMap((row) => [
      '  {',
      ...Object.entries(row).map(
        ([key, value]) => `    ${key} = ${typeof value === 'string' ? quoted(value) : value},`,
      ),
      '  },',
    ]),
    '}',
    '',
  ].join('\n');

/** clients/emacs/atomic-lsp-commands.el. */
export const elispCommands = (rows: readonly CommandRow[] = commandTable): string =>
  [
    ';;; atomic-lsp-commands.el --- Commands of the atomic-lsp server  -*- lexical-binding: t; -*-',
    '',
    ';; SPDX-License-Identifier: MIT',
    '',
    ';;; Commentary:',
    '',
    ";; Generated by `npm run generate' from the command table; edits are overwritten.",
    '',
    ';;; Code:',
    '',
    '(defconst atomic-lsp-commands',
    `  '(${constants(rows)
      .map(({ id, name, title, doc, group, kind, needs }) =>
        [
          `(${quoted(id)}`,
          `     :name ${quoted(name)}`,
          `     :title ${quoted(title)}`,
          `     :doc ${quoted(doc)}`,
          `     :group ${quoted(group)}`,
          `     :kind ${kind}`,
          `     :needs ${needs ? 't' : 'nil'})`,
        ].join('\n'),
      )
      .join('\n    ')})`,
    '  "Every command of the server, by id.',
    "Each value is a property list; `:needs' says whether the server asks",
    'for something when the command is given no parameters.")',
    '',
    "(provide 'atomic-lsp-commands)",
    '',
    ';;; atomic-lsp-commands.el ends here',
    '',
  ].join('\n');
