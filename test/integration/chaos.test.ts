// Histories of people at work while agents, hubs, servers and editors are killed, stopped and stalled, sockets vanish and the disk of
// the logs is full: nothing is lost, nothing is done twice, all see the same, nothing is left. A few here;
// `node test/chaos/run.mjs --seeds 500` plays as many as are wanted, and `--save` keeps those that fail.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { durableAgent, realPi } from '../chaos/agents.ts';
import { played } from '../chaos/play.ts';
import { seedsOf } from '../chaos/seeds.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

const timeout = 420_000;
// Living processes are found by /proc.
const linux = process.platform === 'linux';

async function judged(seed: number, agent: Parameters<typeof played>[1]): Promise<void> {
  const { fates, ...found } = await played(seed, agent);
  if (process.env.ATOMIC_CHAOS) console.log(`seed ${seed}`, JSON.stringify(fates));
  expect(found).toEqual({ problems: [] });
}

const histories = seedsOf('histories', 6);
describe.runIf(linux && histories.length > 0)('a history', () => {
  it.each(histories)('loses nothing, seed %i', { timeout }, async (seed) => {
    await judged(seed, durableAgent);
  });
});

const seeds = seedsOf('pi', 1);
describe.runIf(linux && seeds.length > 0)('a history with pi', () => {
  let model: ModelServer;
  let agent: Awaited<ReturnType<typeof realPi>>;
  beforeAll(async () => {
    model = await startModelServer(({ prompt }) =>
      Array.from({ length: Number(/say (\d+)/.exec(prompt)?.[1] ?? 1) + 1 }, (_, at) => `word${at} `),
    );
    agent = await realPi(model);
  }, 600_000);
  afterAll(() => model?.close());

  it.each(seeds)('loses nothing, seed %i', { timeout }, async (seed) => {
    await judged(seed, agent);
  });
});
