// Whoever is about to write to a session file that somebody else writes to is told, once, and never waits for long.
import { expect, it } from 'vitest';
import { emptySnapshot, folded } from '../../../server/src/session/fold.ts';
import { outdatedIn } from '../../../server/src/session/outdated.ts';
import type { Agent } from '../../../server/src/session/ports.ts';
import { createTwoWriters } from '../../../server/src/session/two-writers.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { toolStart } from './fold-support.ts';

const agent = { pid: 7 } as Agent;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function watched() {
  const clock = fakeClock(1_000);
  let snapshot = folded(emptySnapshot(), { type: 'state_changed', state: { sessionFile: '/s.jsonl' } });
  let size = 100;
  let who: string | undefined;
  const asked: object[] = [];
  const told: string[] = [];
  const two = createTwoWriters({
    clock,
    snapshot: () => snapshot,
    tell: (sentence) => told.push(sentence),
    writers: {
      size: async () => size,
      async other(path, ours) {
        asked.push({ path, ...ours });
        return who;
      },
    },
  });
  return {
    clock,
    two,
    asked,
    told,
    size: (next: number) => (size = next),
    who: (next: string | undefined) => (who = next),
    run: () => {
      snapshot = folded(snapshot, { type: 'agent_start' });
    },
  };
}

it('looks at what came after our own agent, and tells once', async () => {
  const { two, asked, told, size, who, clock } = watched();
  two.saw(toolStart('t'));
  await turn();
  await two.look(agent);
  expect(asked).toEqual([{ path: '/s.jsonl', known: 100, own: 7 }]);
  // A look that found nothing holds for a while, unless the file grew.
  await two.look(agent);
  expect(asked).toHaveLength(1);
  size(140);
  who('process 9, pi, uses it');
  await two.look(agent);
  expect(told).toEqual([expect.stringMatching(/\/s\.jsonl \(process 9, pi, uses it\).*atomic\.clone/)]);
  clock.advance(100_000);
  await two.look(agent);
  expect([told.length, asked.length]).toEqual([1, 2]);
});

it('does not look during a run, in which our own agent writes', async () => {
  const { two, asked, run } = watched();
  run();
  await two.look(agent);
  expect(asked).toEqual([]);
});

it('holds no prompt back for longer than a moment', async () => {
  const clock = fakeClock(1_000);
  const two = createTwoWriters({
    clock,
    snapshot: () => folded(emptySnapshot(), { type: 'state_changed', state: { sessionFile: '/s' } }),
    tell() {},
    writers: { size: async () => 1, other: () => new Promise(() => {}) },
  });
  const looked = two.look(agent);
  await turn();
  clock.advance(500);
  await looked;
});

it('what a running agent lacks of the settings is named, of the environment only what decides', () => {
  const spec = { workspace: '/w', env: { PATH: '/bin', TERM: 'x' }, choice: { command: 'pi' } };
  expect(outdatedIn(spec, { ...spec, env: { TERM: 'y', PATH: '/bin' } })).toEqual([]);
  expect(outdatedIn(spec, { ...spec, choice: { command: 'atomic' }, start: { model: 'm' } })).toEqual([
    'agent',
    'start',
  ]);
  expect(outdatedIn(spec, { ...spec, env: { PATH: '/bin', HTTPS_PROXY: 'p' } })).toEqual(['environment']);
});
