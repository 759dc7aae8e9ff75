// A session of the real core with a real agent process, for tests. Guarantees: waiting is for facts and never for time; every
// agent is gone after `close`. Must not know: the hub, editors.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStartAgent } from '../../server/src/agent/index.ts';
import { sessionFiles } from '../../server/src/agent/session-files.ts';
import { sessionWriters } from '../../server/src/agent/session-writers.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import type { Fact, FactType } from '../../server/src/protocol/facts.ts';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import type { SessionFiles, SessionWriters } from '../../server/src/session/ports.ts';
import { createSession, type Session } from '../../server/src/session/session.ts';

export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;

export interface TestSession extends Session {
  workspace: string;
  /** All facts so far. */
  facts(): Fact[];
  /** The first fact of this type, from now on or, with `after`, after that number. */
  next<T extends FactType>(
    type: T,
    matches?: (fact: FactOf<T>) => boolean,
    after?: number,
  ): Promise<FactOf<T>>;
  /** Sends an intent and waits for its outcome. */
  did(command: string, params?: Record<string, unknown>): Promise<FactOf<'intent_settled'>>;
  /** Sends a prompt and waits for the end of its run. */
  ran(message: string): Promise<FactOf<'agent_settled'>>;
  close(): Promise<void>;
}

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A session in a new folder (with a space in its name) or the given one, which is removed with it, for the given agent. */
export function testSession(
  choice: AgentChoice,
  start?: Record<string, unknown>,
  files: SessionFiles = sessionFiles,
  workspace = mkdtempSync(join(tmpdir(), 'a workspace-')),
  writers: SessionWriters = sessionWriters,
): TestSession {
  const startAgent = createStartAgent({
    demo: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
    clock: systemClock,
    log,
  });
  const env = { PATH: process.env.PATH ?? '' };
  const session = createSession({
    startAgent,
    clock: systemClock,
    log,
    epoch: randomUUID(),
    files,
    writers,
    spec: { workspace, choice, env, ...(start && { start }) },
  });
  const { journal } = session;
  const next: TestSession['next'] = (type, matches = () => true, after = journal.last) =>
    new Promise((resolve) => {
      const fits = (fact: Fact): fact is FactOf<typeof type> =>
        fact.type === type && matches(fact as FactOf<typeof type>);
      const past = after < journal.last ? journal.facts(after + 1, journal.last).find(fits) : undefined;
      if (past) return resolve(past as FactOf<typeof type>);
      const stop = journal.onAppend((fact) => {
        if (!fits(fact)) return;
        stop();
        resolve(fact);
      });
    });
  const did: TestSession['did'] = (command, params = {}) => {
    const id = randomUUID();
    const settled = next('intent_settled', (fact) => fact.intent === id);
    session.intent({ id, command, params });
    return settled;
  };
  return Object.assign(session, {
    workspace,
    facts: () => journal.facts(1, journal.last),
    next,
    did,
    async ran(message: string) {
      const settled = next('agent_settled');
      const outcome = await did('prompt', { message });
      if (outcome.outcome !== 'done') throw new Error(`the prompt was not taken: ${outcome.error}`);
      return settled;
    },
    async close() {
      await session.stop();
      rmSync(workspace, { recursive: true, force: true });
    },
  });
}
