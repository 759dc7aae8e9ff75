// What fuzzing shares: how much of it, and values that nobody expects. Guarantees: bounded by default; `ATOMIC_FUZZ=100` does a
// hundred times as much, `ATOMIC_FUZZ_SEED` begins with the seed that a failure named. Must not know: what is fuzzed.
import fc from 'fast-check';
import { commandTable } from '../../server/src/protocol/commands.ts';

export const scale = Number(process.env.ATOMIC_FUZZ || 1);
const seed = process.env.ATOMIC_FUZZ_SEED;

export const runs = (count: number) => ({
  numRuns: Math.ceil(count * scale),
  ...(seed !== undefined && { seed: Number(seed) }),
});
/** Milliseconds that a test may take. */
export const limit = 120_000 * Math.max(1, scale);

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await turn();
}

export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\ud800',
    '\udfff\ud800',
    '\u0000',
    '\r',
    'a\r\nb\n',
    '\u2028\u2029\u0085',
    '\u001b[2J\u001b]0;x\u0007',
    '\u001b',
    '◈',
    '```\n# heading',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    '../../etc/passwd',
    '$(touch pwned)',
    'x'.repeat(3_000),
  ),
);
export const number: fc.Arbitrary<number> = fc.oneof(
  fc.nat(20),
  fc.constantFrom(-1, -0, 0.5, 1e9, 2 ** 31, 2 ** 53, -(2 ** 53), 1e300),
);
/** JSON of any kind. */
export const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.constantFrom(null, true, false),
    fc.constantFrom({ toString: 1 }, { length: -1 }, { type: 'text', text: 7 }, [[[]]], {}),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('type', 'id', 'text', 'uri', 'content')), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value;

/** The same value with something in it changed, taken away, or added. */
export function changed(original: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(original, fc.array(fc.nat(1_000), { maxLength: 4 }), fc.nat(3), value)
    .map(([given, way, how, other]) => {
      const copy = structuredClone(given);
      let at = copy as Record<string, unknown> | undefined;
      for (const [depth, step] of way.entries()) {
        if (typeof at !== 'object' || at === null) break;
        const keys = Object.keys(at);
        if (keys.length === 0) break;
        const key = keys[step % keys.length]!;
        if (depth === way.length - 1) {
          if (how === 0) delete at[key];
          else if (how === 1) at[key] = other;
          else if (how === 2) at[key] = [at[key], at[key]];
          else if (Array.isArray(at)) at.push(other);
          else at.more = other;
        } else at = at[key] as typeof at;
      }
      return copy;
    });
}

export const commandId: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...commandTable.map(({ id }) => id)),
  text,
);
/** Bytes cut anywhere, also within a character. */
export function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, n) => bytes.subarray(from, places[n] ?? bytes.length));
}
export const cuts = fc.array(fc.nat(1_000_000), { maxLength: 40 });
