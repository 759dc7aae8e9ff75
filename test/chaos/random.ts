// Numbers that look random and are the same for the same seed. Guarantees: pure, so that a failure can be played again by its seed.
// Must not know: what is drawn for.

export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number, 0 ≤ x < end. */
  below(end: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32, a public-domain generator with 32 bits of state. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)]!,
  };
}
