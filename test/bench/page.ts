// The page of figures. Guarantees: everything on it comes from one file of results, but for the reasons of what is not reached.
// Must not know: how anything is measured.
import { type Figure, ratioOf, reached } from './figures.ts';
import { reasons } from './reasons.ts';

/** What a run of the benchmarks keeps. */
export interface Results {
  commit: string;
  /** When the commit was made. */
  committed: string;
  machine: string;
  node: string;
  benchmarks: Record<
    string,
    { title: string; date: string; load: number; seconds: number; figures: Figure[] }
  >;
}

const shownNumber = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
};

const shownValue = ({ value, unit }: Figure): string => `${shownNumber(value)} ${unit}`;

function shownRatio(figure: Figure): string {
  const ratio = ratioOf(figure);
  if (ratio === undefined) return '';
  if (figure.aim?.of === 'distance') {
    const distance = figure.value - figure.limit!.value;
    return `${distance < 0 ? '−' : '+'}${shownNumber(Math.abs(distance))} ${figure.unit}`;
  }
  return `${shownNumber(ratio)} ×`;
}

function shownAim({ aim, unit }: Figure): string {
  if (!aim) return '';
  const { of, atMost, atLeast } = aim;
  const suffix = of === 'ratio' ? ' ×' : ` ${unit}`;
  const sign = of === 'distance' ? '+' : '';
  return [
    ...(atLeast === undefined ? [] : [`≥ ${sign}${atLeast}${suffix}`]),
    ...(atMost === undefined ? [] : [`≤ ${sign}${atMost}${suffix}`]),
  ].join(', ');
}

const shownLimit = ({ limit, unit }: Figure): string =>
  limit ? `${shownNumber(limit.value)} ${unit} (${limit.what})` : '';

const verdict = (figure: Figure): string =>
  ({ true: 'yes', false: '**no**', undefined: '' })[`${reached(figure)}`]!;

/** A figure on one line. */
export const shownFigure = (figure: Figure): string =>
  [
    `${figure.what}: ${shownValue(figure)}`,
    ...(figure.limit ? [`${shownRatio(figure)} of ${shownLimit(figure)}`] : []),
    ...(figure.aim ? [`aim ${shownAim(figure)}: ${reached(figure) ? 'reached' : 'NOT REACHED'}`] : []),
  ].join('; ');

function section(id: string, { title, load, figures }: Results['benchmarks'][string]): string {
  const rows = figures.map(
    (figure) =>
      `| ${figure.what} | ${shownValue(figure)} | ${shownLimit(figure)} | ${shownRatio(figure)} | ${shownAim(figure)} | ${verdict(figure)} |`,
  );
  const missed = figures
    .filter((figure) => reached(figure) === false)
    .map((figure) => reasons.find(({ of }) => of.test(figure.id))?.why)
    .filter((why) => why !== undefined);
  return `## ${title}

\`npm run bench -- ${id}\`, load of the machine before it ${load.toFixed(1)}

| figure | value | limit | ratio | aim | reached |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
${[...new Set(missed)].map((why) => `\n${why}\n`).join('')}`;
}

/** docs/performance.md. */
export function performancePage({ commit, committed, machine, node, benchmarks }: Results): string {
  return `# How fast it is

Each figure stands beside a limit that was measured in the same run on the same machine: the ratio says something about
atomic-lsp, the value alone mostly about the machine. This page is written by \`npm run bench\`, from
\`test/bench/results/${commit}.json\` (commit of ${committed.slice(0, 10)}; ${machine}; Node ${node}); \`npm run bench -- a c\` measures only those parts again.
Agents, editors and the model are all on the one machine.

${Object.entries(benchmarks)
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([id, part]) => section(id, part))
  .join('\n')}`;
}
