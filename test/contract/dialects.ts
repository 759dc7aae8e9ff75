// The page that says how each command was checked in each dialect. Guarantees: made from the command table, the recordings that
// are played and the scenarios that are run; no cell is claimed by hand. Must not know: how they are run.
import { type CommandRow, commandTable, type Dialects } from '../../server/src/protocol/commands.ts';
import { traceFiles } from '../support/replay.ts';
import { recordedCommands, undrivable } from './recording.ts';
import { scenarios } from './scenarios.ts';

export const dialectNames = ['D1', 'D2', 'D2+', 'D3'] as const;

/** Which agent's recordings show which dialect. The oldest pi has the cumulative messages of D1 and a part of its commands. */
const recordedIn: Partial<Record<keyof Dialects, string>> = {
  D1: 'pi-0.58.3',
  D2: 'atomic-0.9.15',
  D3: 'pi-1.6.0',
};

/** Commands that a scenario sends to the real pi. */
const real = new Set(scenarios().flatMap(({ uses }) => uses));

/** Those that are sent to the real pi 0.58 too. */
const realOlder = new Set(scenarios().flatMap(({ uses, notOlder }) => (notOlder ? [] : uses)));

const replayed = (dialect: keyof Dialects): Set<string> => {
  const agent = recordedIn[dialect];
  if (!agent) return new Set();
  return new Set(
    traceFiles(agent)
      .filter((trace) => !(trace in undrivable))
      .flatMap(recordedCommands),
  );
};

/** How the commands were checked in a dialect, as a function of the row. */
function checked(dialect: keyof Dialects): (row: CommandRow) => string {
  const inRecordings = replayed(dialect);
  return ({ name, dialects }) => {
    const mark = dialects?.[dialect];
    if (mark === undefined) return '';
    if (mark === '-') return 'absent';
    return [
      ...((dialect === 'D3' && real.has(name)) || (dialect === 'D1' && realOlder.has(name)) ? ['real'] : []),
      ...(inRecordings.has(name) ? ['replay'] : []),
      'scripted',
    ].join(', ');
  };
}

/** docs/dialects.md. */
export function dialectsPage(): string {
  const checks = dialectNames.map(checked);
  const cells = [
    ['Command', ...dialectNames],
    ...commandTable
      .filter((row) => row.dialects !== undefined)
      .map((row) => [`\`${row.name}\``, ...checks.map((check) => check(row))]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  const lines = cells.map((line) => `| ${line.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  const skipped = Object.entries(undrivable).map(([trace, why]) => `- \`${trace}\`: ${why}.`);
  const notOlder = scenarios().flatMap(({ name, notOlder: why }) => (why ? [`- ${name}: ${why}.`] : []));
  return `# Dialects

Generated from the command table, the recordings and the scenarios of \`test/contract\`: \`npx vitest run test/contract/dialects.test.ts -u\` writes it,
and the same test without \`-u\` fails when it is stale.

D1 is the older full protocol page of Atomic, D2 is atomic 0.9.15, D2+ what is documented after it, D3 is upstream pi 1.6.0.

- \`real\`: a scenario sends it to a real agent (D1: pi 0.58.3, whose messages are cumulative too; D3: pi 1.6.0), and the final snapshots of both
  and of the scripted D1 are equal.
- \`replay\`: it is in a recording of an agent of this dialect (D1: pi 0.58.3) that is played through the core.
- \`scripted\`: the scripted agent receives exactly the call, and its answer comes back.
- \`absent\`: the dialect has no such command; that the refusal is said once and remembered is checked with the scripted agent.

${lines.join('\n')}

Recordings that no correct client can cause:

${skipped.join('\n')}

Not compared with pi 0.58.3:

${notOlder.join('\n')}

What a dialect cannot know, and where final snapshots therefore may differ:

${differences.map(([what, why]) => `- ${what}: ${why}.`).join('\n')}
`;
}

/** What the comparison of snapshots leaves out, and why. */
export const differences: readonly (readonly [what: string, why: string])[] = [
  ['ids and times', 'each agent makes its own'],
  ['usage numbers', 'each model counts its own tokens'],
  ['the `system` message', 'D3 alone has it in the conversation'],
  ['provider, model and API of a message', 'they name the test’s model'],
  ['state besides name, thinking level and whether it changed', 'dialects differ in its fields'],
  ['text blocks that are empty, signatures of thinking', 'providers add them as they like'],
  ['the words of an error', 'providers word it'],
];
