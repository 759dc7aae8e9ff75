// An agent that says anything at all: the session survives, is the fold of its facts, and works afterwards.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLink } from '../../server/src/agent/link.ts';
import type { AgentProcess } from '../../server/src/agent/process.ts';
import { createRenderer } from '../../server/src/cli/render.ts';
import { doingOf } from '../../server/src/editor/progress.ts';
import { emptySnapshot, folded } from '../../server/src/session/fold.ts';
import { createSession } from '../../server/src/session/session.ts';
import { createTranscript } from '../../server/src/session/transcript.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { scriptedAgent } from '../support/scripted.ts';
import { testSession } from '../support/sessions.ts';
import { trace, traceNames } from '../unit/agent/support.ts';
import { changed, cuts, limit, pieces, runs, scale, text, turn, turns, value } from './support.ts';

/** One record of each kind that recorded agents wrote. */
const samples: Record<string, unknown>[] = [];
const kinds = new Set<string>();
for (const name of traceNames())
  for (const { dir, line } of trace(name)) {
    if (dir !== 'out' || line.length > 4_000) continue;
    try {
      const record = JSON.parse(line) as Record<string, unknown>;
      const event = (record.assistantMessageEvent as { type?: string } | undefined)?.type;
      const role = (record.message as { role?: string } | undefined)?.role;
      const kind = [record.type, record.command, record.method, event, role].join();
      if (kinds.has(kind)) continue;
      kinds.add(kind);
      samples.push(record);
    } catch {
      // Not JSON, on purpose.
    }
  }
const corpus = readFileSync(join(import.meta.dirname, 'corpus/agent.txt'));

type Line = Record<string, unknown>;

/** A session whose agent is this test; it answers reads like a good one. */
async function speaking() {
  const clock = fakeClock();
  const errors: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (about: unknown) => void errors.push(about) };
  /** What is not answered yet, since a line is being written. */
  let held: object[] | undefined;
  let link: ReturnType<typeof createLink> | undefined;
  const say = (...records: object[]) =>
    link!.output(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  const answers: Record<string, object> = {
    get_state: { sessionId: 's', isStreaming: false },
    get_messages: { messages: [] },
    get_commands: { commands: [] },
  };
  const child: AgentProcess = {
    pid: 1,
    write(line) {
      const call = JSON.parse(line) as Line;
      if (call.type === 'extension_ui_response') return true;
      const data = answers[String(call.type)];
      const response = {
        id: call.id,
        type: 'response',
        command: call.type,
        success: true,
        ...(data && { data }),
      };
      if (held) held.push(response);
      else setImmediate(() => say(response));
      return true;
    },
    closeInput: () => link!.end({ code: 0, signal: null }),
    terminate() {},
    kill() {},
    pause() {},
    resume() {},
    lastWords: () => '',
    ended: false,
  };
  const session = createSession({
    clock,
    log,
    epoch: 'e',
    spec: { workspace: '/w', env: {} },
    async startAgent(_, events) {
      link = createLink({ clock, log }, events);
      return link.agent(child, { command: 'pi', name: 'pi', demo: false });
    },
  });
  await session.read('get_state', {});
  await turn();
  return {
    session,
    clock,
    errors,
    say,
    async writes(chunks: readonly Buffer[], between: (n: number) => Promise<void>) {
      held = [];
      for (const [n, chunk] of chunks.entries()) {
        link!.output(chunk);
        await between(n);
      }
      link!.output(Buffer.from('\n'));
      const late = held;
      held = undefined;
      say(...late);
    },
  };
}

/** Says the bytes, then ends what they began, then has a conversation. */
async function survives(chunks: readonly Buffer[]): Promise<void> {
  const { session, clock, errors, say, writes } = await speaking();
  await writes(chunks, async (n) => {
    if (n % 3 === 0) await turn();
    // Meanwhile people do things.
    if (n === 1) session.intent({ id: 'meanwhile', command: 'prompt', params: { message: 'hi' } });
  });
  await turns(30);
  clock.advance(1_000);
  say(
    { type: 'compaction_end', reason: 'threshold', aborted: true },
    { type: 'auto_retry_end', success: false },
    { type: 'agent_end', messages: [] },
    { type: 'agent_settled' },
  );
  await turns(10);
  clock.advance(60_000);
  await turns(30);
  session.intent({ id: 'stop', command: 'abort', params: {} });
  await turns(20);
  session.intent({ id: 'after', command: 'prompt', params: { message: 'sane' } });
  await turns(20);
  const message = { role: 'assistant', content: [{ type: 'text', text: 'sane again' }], stopReason: 'stop' };
  say(
    { type: 'agent_start' },
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'message_end', message },
    { type: 'agent_end', messages: [] },
    { type: 'agent_settled' },
  );
  await turns(20);
  clock.advance(60_000);
  await turns(20);
  expect(errors).toEqual([]);
  const { journal } = session;
  const snapshot = session.snapshot();
  expect(snapshot.run).toBeNull();
  expect(snapshot.messages.at(-1)).toMatchObject({ content: [{ text: 'sane again' }] });
  const facts = journal.facts(journal.first, journal.last);
  expect(facts.filter((fact) => fact.type === 'intent_settled' && fact.intent === 'after')).toHaveLength(1);
  expect(facts.filter((fact) => fact.type === 'intent_accepted')).toHaveLength(chunks.length > 1 ? 3 : 2);
  // What everybody shows who watches.
  const transcript = createTranscript();
  const terminal = createRenderer({ outTty: true, errTty: true, users: true });
  let seen = emptySnapshot();
  for (const fact of facts) {
    seen = folded(seen, fact);
    transcript.appended(fact, seen);
    doingOf(seen, clock.now());
    for (const piece of terminal.fact(fact))
      expect(piece.text).not.toMatch(/\u001b(?!\[(?:2?2m|K))|[\u0000\u0007]/);
  }
  expect(JSON.parse(JSON.stringify(seen))).toEqual(JSON.parse(JSON.stringify(snapshot)));
}

const record = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...samples) },
  { weight: 6, arbitrary: changed(fc.constantFrom(...samples)) },
  {
    weight: 1,
    arbitrary: fc.record({ type: text }).chain((type) => value.map((more) => ({ more, ...type }))),
  },
  { weight: 1, arbitrary: value },
);
const line = fc.oneof(
  { weight: 8, arbitrary: record.map((it) => JSON.stringify(it)) },
  { weight: 1, arbitrary: record.map((it) => JSON.stringify(it).slice(0, 40)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\u001b[0m', 'npm warn', 'null', '[]', '"x"', '7', '{}', '{"type":'),
  },
  { weight: 1, arbitrary: record.map((it) => `\u001b[?25l${JSON.stringify(it)}\r`) },
);

describe('a session', () => {
  it('survives records of every kind, changed, twice and out of order', { timeout: limit }, async () => {
    expect(samples.length).toBeGreaterThan(40);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 25 }), cuts, (lines, places) =>
        survives(pieces(Buffer.from(lines.join('\n')), places)),
      ),
      runs(400),
    );
  });

  it('survives bytes of any kind', { timeout: limit }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 10 }), (chunks) =>
        survives(chunks.map((chunk) => Buffer.from(chunk))),
      ),
      runs(100),
    );
  });

  it('survives what is kept of earlier finds, in every chunking', { timeout: limit }, async () => {
    for (const size of [1, 7, 4_096, corpus.length]) {
      const places = Array.from({ length: Math.ceil(corpus.length / size) }, (_, n) => n * size);
      await survives(pieces(corpus, places.slice(1)));
    }
  });

  it('survives a value that is nested more deeply than anybody writes', { timeout: limit }, async () => {
    for (const depth of [100, 1_000, 20_000, 1_000_000]) {
      const deep = `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
      await survives([
        Buffer.from(`{"type":"session_info_changed","name":"x","more":${deep}}\n`),
        Buffer.from(
          `{"type":"tool_execution_start","toolCallId":"t","toolName":"x","args":{"deep":${deep}}}\n`,
        ),
        Buffer.from(`{"type":"message_end","message":{"role":"assistant","content":${deep}}}\n`),
      ]);
    }
  });
});

it('a huge record leaves the session usable and the memory as it was', { timeout: limit }, async () => {
  const agent = scriptedAgent({
    on: {
      prompt: [
        [{ started: true }, { say: 'Small.' }],
        [{ started: true }, { big: Math.min(100, 25 * scale) * 1_000_000 }, { say: 'After.' }],
        [{ started: true }, { say: 'Usable.' }],
      ],
    },
  });
  const session = testSession(agent);
  try {
    await session.ran('one');
    await session.ran('two');
    await session.ran('three');
    expect(session.snapshot().messages.at(-1)).toMatchObject({ content: [{ text: 'Usable.' }] });
    // Bounded, whatever an agent says in one piece.
    expect(session.journal.units).toBeLessThan(5_000_000);
    expect(JSON.stringify(session.snapshot()).length).toBeLessThan(5_000_000);
  } finally {
    await session.close();
    agent.dispose();
  }
});
