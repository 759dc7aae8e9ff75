// The same scenarios with the real pi and with the scripted D1: the final snapshots are equal up to what a dialect cannot know.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Block, Message } from '../../server/src/protocol/records.ts';
import type { Snapshot } from '../../server/src/protocol/snapshot.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, ensurePi058, pi058Agent, piAgent } from '../support/pi.ts';
import { scriptedAgent } from '../support/scripted.ts';
import { testSession } from '../support/sessions.ts';
import type { Scenario } from './scenario.ts';
import { scenario, scenarios } from './scenarios.ts';

beforeAll(ensurePi, 600_000);
beforeAll(ensurePi058, 600_000);
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What is told in every dialect; `differences` in dialects.ts says what is left out, and why. */
function normalised(snapshot: Snapshot) {
  const { message, run, lastRun, queue, compaction, retry, statuses, widgets, title, files } = snapshot;
  return {
    messages: snapshot.messages.filter(({ role }) => role !== 'system').map(normalMessage),
    tools: Object.values(snapshot.tools).map(({ toolName, args, status, result }) => ({
      toolName,
      args,
      status,
      result: contentOf(result?.content),
    })),
    state: {
      sessionName: snapshot.state.sessionName ?? null,
      thinkingLevel: snapshot.state.thinkingLevel,
    },
    lastRun: lastRun && { stopReason: lastRun.stopReason, failed: lastRun.errorMessage !== undefined },
    settledDialogs: snapshot.settledDialogs.map(({ outcome }) => outcome),
    intents: snapshot.intents.map(({ command, outcome }) => ({ command, outcome })),
    dialogs: snapshot.dialogs.length,
    agent: snapshot.agent.status,
    bash: snapshot.bash,
    message,
    run,
    queue,
    compaction,
    retry,
    statuses,
    widgets,
    title,
    files,
  };
}

const contentOf = (content: string | Block[] | undefined): unknown[] =>
  (typeof content === 'string' ? [content] : (content ?? []).map(essence)).filter((block) => block !== '');

function essence(block: Block): unknown {
  if (block.type === 'text') return block.text;
  if (block.type === 'thinking') return { thinking: block.thinking };
  return block.type === 'toolCall' ? { call: block.name, arguments: block.arguments } : block.type;
}

const normalMessage = ({ role, content, stopReason, errorMessage, isError, toolName }: Message) => ({
  role,
  content: contentOf(content),
  ...(stopReason && { stopReason, failed: errorMessage !== undefined }),
  ...(toolName && { toolName, isError }),
});

async function played(
  { steps, uses }: Pick<Scenario, 'steps' | 'uses'>,
  session: ReturnType<typeof testSession>,
) {
  const sent = new Set<string>();
  const { intent, read } = session;
  session.intent = (wanted) => {
    sent.add(wanted.command);
    return intent(wanted);
  };
  session.read = (command, ...rest) => {
    sent.add(command);
    return read(command, ...rest);
  };
  await steps(session);
  expect([...sent].sort()).toEqual([...uses].sort());
  expect(session.busy).toBe(false);
  return normalised(session.snapshot());
}

/** The final snapshot with a real agent. */
async function withReal(start: typeof piAgent, { extensions = [], settings, ...one }: Scenario) {
  const model = await startModelServer(one.model);
  const pi = await start({ model, extensions, ...(settings && { settings }) });
  const session = testSession(pi);
  closing.push(
    () => model.close(),
    () => pi.dispose(),
    () => session.close(),
  );
  return played(one, session);
}

describe('the same with the real pi, with an older real one and with the scripted D1', () => {
  it.each(scenarios().map(({ name }) => name))('%s', { timeout: 60_000 }, async (name) => {
    const real = await withReal(piAgent, scenario(name));
    const { script, notOlder } = scenario(name);
    const d1 = scriptedAgent({ dialect: 'D1', ...(script && { on: script }) });
    const withD1 = testSession(d1);
    closing.push(
      () => d1.dispose(),
      () => withD1.close(),
    );
    expect(await played(scenario(name), withD1)).toEqual(real);
    if (!notOlder) expect(await withReal(pi058Agent, scenario(name))).toEqual(real);
  });
});
