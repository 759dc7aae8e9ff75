// When an agent is started, and when not: on the first need, again after its end, at once by setting, and not for ever.
import { expect, it } from 'vitest';
import { crashLoop, createAgentLife, restartAfter } from '../../../server/src/session/agent-life.ts';
import type { AgentEvents, AgentExit } from '../../../server/src/session/ports.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const crash: AgentExit = { code: 3, signal: null, expected: false, message: 'It has no licence.' };

function living(restart: 'onPrompt' | 'atOnce', greeting: Promise<void>[] = []) {
  const clock = fakeClock(1_000);
  const resumed: (string | undefined)[] = [];
  const exits: AgentExit[] = [];
  const sentences: string[] = [];
  let running: AgentEvents | undefined;
  const life = createAgentLife({
    clock,
    restart: () => restart,
    gaveUp: (sentence) => sentences.push(sentence),
    spec: () => ({ workspace: '/w', env: {}, resume: `after ${exits.length}` }),
    events: {
      fact() {},
      dialog() {},
      dialogWithdrawn() {},
      exit: (exit) => exits.push(exit),
    },
    async greeted(_, from) {
      resumed.push(from);
      await greeting.shift();
    },
    async startAgent(_, events) {
      running = events;
      return {
        identity: { command: 'x', name: 'x', demo: false },
        pid: 1,
        call: async () => ({ type: 'response', success: true }),
        answer: () => true,
        async stop() {
          events.exit({ ...crash, code: 0, expected: true });
        },
        kill() {},
      };
    },
  });
  const settled = async () => {
    for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, life, resumed, exits, sentences, settled, die: () => running!.exit(crash) };
}

it('starts on the first need, and again on the next one with what is to be continued', async () => {
  const { life, resumed, die, clock, settled } = living('onPrompt');
  await settled();
  expect(resumed).toEqual([]);
  expect(await life.ready()).toBe(await life.ready());
  die();
  expect(life.current).toBeUndefined();
  clock.advance(100_000);
  await settled();
  expect(resumed).toEqual(['after 0']);
  await life.ready();
  expect(resumed).toEqual(['after 0', 'after 1']);
});

it('starts again at once where that is wanted, rests in between, and gives up with a sentence', async () => {
  const { life, resumed, sentences, die, clock, settled } = living('atOnce');
  await life.ready();
  die();
  clock.advance(restartAfter[0]!);
  await settled();
  expect(resumed).toEqual(['after 0', 'after 1']);
  die();
  clock.advance(restartAfter[1]! - 1);
  await settled();
  expect(resumed).toHaveLength(2);
  clock.advance(1);
  await settled();
  expect(resumed).toHaveLength(3);
  expect(sentences).toEqual([]);
  die();
  clock.advance(crashLoop.within - restartAfter[1]! - 1);
  await settled();
  expect(resumed).toHaveLength(3);
  expect(sentences).toEqual([expect.stringMatching(/3 times.*atomic\.restartAgent.*It has no licence\./)]);
  await expect(life.ready()).rejects.toThrow(/left alone/);
  await life.restart();
  expect(resumed).toHaveLength(4);
});

it('does not start again what was stopped, not even when that was on its way', async () => {
  const { life, resumed, die, clock, settled } = living('atOnce');
  await life.ready();
  await life.stop();
  clock.advance(100_000);
  await settled();
  expect(resumed).toHaveLength(1);
  await life.ready();
  die();
  await life.stop();
  clock.advance(100_000);
  await settled();
  expect(resumed).toHaveLength(2);
});

it('is stopped when it never answers its greeting, and whoever needs it gets the next one', async () => {
  let letGo = () => {};
  const greeting = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { life, resumed, exits, settled } = living('onPrompt', [greeting]);
  const ready = life.ready();
  await settled();
  expect(resumed).toEqual(['after 0']);
  await life.stop();
  expect(exits).toHaveLength(1);
  // The end of the process ends its calls.
  letGo();
  expect(await ready).toBe(life.current);
  expect(resumed).toEqual(['after 0', 'after 1']);
});

it('that ends in its greeting has failed to start', async () => {
  let letGo = () => {};
  const greeting = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { life, die, settled } = living('onPrompt', [greeting]);
  const ready = expect(life.ready()).rejects.toMatchObject({
    code: 'AgentStartFailed',
    message: 'It has no licence.',
  });
  await settled();
  die();
  letGo();
  await ready;
});
