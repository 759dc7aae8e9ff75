// What a benchmark tells. Guarantees: pure functions; a figure is a value, the limit that was measured beside it, and the aim. Must not
// know: how anything is measured.

export interface Figure {
  /** Stays the same from run to run: `a.first.hub.p50`. */
  id: string;
  what: string;
  value: number;
  unit: 'µs' | 'ms' | 's' | 'MB' | 'bytes' | 'facts/s' | 'bytes/character' | 'times' | 'MB/s' | 'bytes/fact';
  /** The physical limit, or what it is compared with, in the same unit. */
  limit?: { what: string; value: number };
  aim?: Aim;
}

/** What the figure should be: its ratio to the limit, its distance from the limit, or the value itself. */
export interface Aim {
  of: 'ratio' | 'distance' | 'value';
  atMost?: number;
  atLeast?: number;
}

/** How much is measured: `full` for figures, `smoke` to see that it runs. */
export type Size = 'full' | 'smoke';

export interface Benchmark {
  /** The letter. */
  id: string;
  title: string;
  run(size: Size): Promise<Figure[]>;
}

/** The figure divided by its limit; undefined without a limit. */
export const ratioOf = ({ value, limit }: Figure): number | undefined =>
  limit && limit.value !== 0 ? value / limit.value : undefined;

/** Whether the aim is reached; undefined without an aim. */
export function reached(figure: Figure): boolean | undefined {
  const { aim, value, limit } = figure;
  if (!aim) return undefined;
  const measured = {
    ratio: ratioOf(figure) ?? Number.NaN,
    distance: value - (limit?.value ?? 0),
    value,
  }[aim.of];
  return measured <= (aim.atMost ?? Infinity) && measured >= (aim.atLeast ?? -Infinity);
}

/** The value below which `share` (0…1) of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Figures of one quantity for several subjects, each with the same limit. */
export const figuresOf = (
  common: Pick<Figure, 'unit'> & { id: string; what: string; limit?: Figure['limit'] },
  subjects: { id: string; what: string; value: number; aim?: Aim }[],
): Figure[] =>
  subjects.map(({ id, what, value, aim }) => ({
    id: `${common.id}.${id}`,
    what: `${common.what}, ${what}`,
    value,
    unit: common.unit,
    ...(common.limit && { limit: common.limit }),
    ...(aim && { aim }),
  }));
