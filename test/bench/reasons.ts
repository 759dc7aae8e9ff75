// Why an aim is not reached, as profiling showed: shown beneath the table of a figure that misses its aim, and only then.

export const reasons: readonly { of: RegExp; why: string }[] = [];
