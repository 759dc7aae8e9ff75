// An agent that was started and says nothing is spoken of, unless it asks.
import { expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import type { AgentEvents } from '../../../server/src/session/ports.ts';
import { createSession, silent } from '../../../server/src/session/session.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function started(call: () => Promise<{ type: 'response'; success: boolean }>) {
  const clock = fakeClock();
  let events: AgentEvents | undefined;
  const session = createSession({
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    epoch: 'e',
    spec: { workspace: '/w', env: {} },
    async startAgent(_, given) {
      events = given;
      return {
        identity: { command: 'pi --mode rpc', name: 'pi', demo: false },
        pid: 1,
        call,
        answer: () => true,
        async stop() {},
        kill() {},
      };
    },
  });
  session.read('get_state', {}).catch(() => {});
  await turn();
  await turn();
  const notices = () =>
    session.journal
      .facts(1, session.journal.last)
      .filter((fact): fact is Extract<Fact, { type: 'notice' }> => fact.type === 'notice');
  return { clock, notices, events: events! };
}

it('an agent that answers nothing is named with what to do', async () => {
  const { clock, notices } = await started(() => new Promise(() => {}));
  clock.advance(silent - 1);
  expect(notices()).toEqual([]);
  clock.advance(1);
  expect(notices()).toMatchObject([
    { level: 'warning', message: expect.stringMatching(/\(pi\).*30 s.*doctor.*atomic\.restartAgent/) },
  ]);
});

it('one that answers, or asks first, is not', async () => {
  const answering = await started(async () => ({ type: 'response', success: true }));
  answering.clock.advance(2 * silent);
  expect(answering.notices()).toEqual([]);
  const asking = await started(() => new Promise(() => {}));
  asking.events.dialog({ id: 'q', method: 'confirm', title: 'Trust it?' });
  asking.clock.advance(2 * silent);
  expect(asking.notices()).toEqual([]);
});
