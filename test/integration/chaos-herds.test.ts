// Many starters at once on the socket of a killed hub, with kills in between: exactly one hub each time. A few herds here;
// `node test/chaos/run.mjs --herds 200` plays as many as are wanted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHerds, type Herds } from '../chaos/herds.ts';
import { seedsOf } from '../chaos/seeds.ts';

// Living processes are found by /proc.
describe.runIf(process.platform === 'linux')('a herd of 16', () => {
  let herds: Herds;
  beforeAll(async () => {
    herds = await createHerds();
  });
  afterAll(() => herds.close());

  it.each(seedsOf('herds', 3))('comes to exactly one hub, seed %i', { timeout: 180_000 }, async (seed) => {
    const report = await herds.run(seed);
    expect(report).toMatchObject({ problems: [] });
    if (process.env.ATOMIC_CHAOS) console.log(JSON.stringify({ seed, ...report }));
  });
});
