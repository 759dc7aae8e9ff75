// Every recording of a real agent, heard as the session would hear it.
import { describe, expect, it } from 'vitest';
import type { AgentFact } from '../../../server/src/protocol/facts.ts';
import type { Message } from '../../../server/src/protocol/records.ts';
import { fakeAgent, type Heard, recordingLog, trace, traceNames, turn } from './support.ts';

interface Replayed {
  heard: Heard[];
  facts: AgentFact[];
  /** What the agent had just done when a run was settled. */
  settledBy: string[];
  /** The last cumulative output of each tool call, as recorded. */
  partials: Map<string, string>;
  log: string;
}

/** Plays a recording: the client's calls are made, the agent's lines come in, time passes as it did. */
async function replay(name: string): Promise<Replayed> {
  const log = recordingLog();
  let cause = 'clock';
  const settledBy: string[] = [];
  const fake = fakeAgent(log, (heard) => {
    if ('fact' in heard && heard.fact.type === 'agent_settled') settledBy.push(cause);
  });
  const partials = new Map<string, string>();
  let answeredOwn = 0;
  const answerOwnReads = async () => {
    // get_state calls of the bridge itself, which the recording has no answer for: the agent would be idle.
    for (; answeredOwn < fake.written.length; answeredOwn++) {
      const { id, type } = fake.written[answeredOwn]!;
      if (type === 'get_state' && String(id).startsWith('call-'))
        await fake.says({
          id,
          type: 'response',
          command: 'get_state',
          success: true,
          data: { isStreaming: false, isCompacting: false, pendingMessageCount: 0 },
        });
    }
  };
  for (const { t, dir, line, note } of trace(name)) {
    cause = 'clock';
    await fake.clock.advanceTo(t);
    await answerOwnReads();
    if (note?.startsWith('stdin closed') && name.startsWith('pi-0')) {
      await fake.clock.advance(1_000);
      await answerOwnReads();
    }
    if (note?.startsWith('exit')) {
      cause = 'exit';
      fake.end({ code: 0, signal: null });
      await turn();
      continue;
    }
    if (line === '') continue;
    if (dir === 'in') {
      let call: unknown;
      try {
        call = JSON.parse(line);
      } catch {
        continue;
      }
      const { type } = (call ?? {}) as { type?: unknown };
      if (typeof type === 'string' && type !== 'extension_ui_response')
        fake.agent.call(call as { type: string }).catch(() => {});
      continue;
    }
    const record = JSON.parse(line) as {
      type: string;
      toolCallId: string;
      partialResult?: { content?: { text: string }[] };
    };
    cause = record.type;
    if (record.type === 'tool_execution_update')
      partials.set(
        record.toolCallId,
        (record.partialResult?.content ?? []).map((block) => block.text).join('\n'),
      );
    fake.output(Buffer.from(`${line}\n`));
    await turn();
    await answerOwnReads();
  }
  return { heard: fake.heard, facts: fake.facts(), settledBy, partials, log: log.text() };
}

const names = traceNames();

describe.each(names)('%s', (name) => {
  const played = replay(name);

  it('settles every run exactly once, and not before its last event', async () => {
    const { facts, settledBy } = await played;
    let open = false;
    for (const fact of facts) {
      if (fact.type === 'agent_start') open = true;
      if (fact.type === 'agent_settled') {
        expect(open, 'a settle without a run').toBe(true);
        open = false;
      }
      if (
        ['turn_start', 'turn_end', 'agent_end', 'auto_retry_start', 'tool_execution_start'].includes(
          fact.type,
        )
      )
        expect(open, `${fact.type} outside of a run`).toBe(true);
    }
    expect(open, 'a run was never settled').toBe(false);
    const natural = name.startsWith('pi-0') ? ['clock'] : ['agent_settled', 'response', 'exit'];
    for (const cause of settledBy) expect(natural).toContain(cause);
    const recorded = trace(name).filter(({ line }) => line.startsWith('{"type":"agent_settled"')).length;
    const cut = settledBy.filter((cause) => cause !== 'agent_settled').length;
    expect(settledBy.length).toBeLessThanOrEqual(recorded + cut);
  });

  it('tells deltas that add up to the final messages', async () => {
    const { facts } = await played;
    for (const { message, told } of streamedMessages(facts)) {
      expect(told.text).toEqual(blocksOf(message, 'text'));
      expect(told.thinking).toEqual(blocksOf(message, 'thinking'));
    }
  });

  it('tells tool output that adds up to what the tool showed', async () => {
    const { facts, partials } = await played;
    const told = new Map<string, string>();
    for (const fact of facts)
      if (fact.type === 'tool_execution_update')
        told.set(fact.toolCallId, (fact.reset ? '' : (told.get(fact.toolCallId) ?? '')) + fact.delta);
    for (const [id, text] of partials) expect((told.get(id) ?? '').endsWith(text), id).toBe(true);
  });

  it('repeats no messages and knows every event', async () => {
    const { facts, log } = await played;
    for (const fact of facts) {
      expect(fact.type).not.toBe('unknown_event');
      if (fact.type === 'turn_end' || fact.type === 'agent_end')
        expect(JSON.stringify(fact).length).toBeLessThan(80);
      if (fact.type === 'message_update') expect(JSON.stringify(fact)).not.toContain('"partial"');
    }
    expect(log).not.toMatch(/unknown (event|request)/);
    expect(log).not.toContain('could not be handled');
  });

  it('tells the exit once and last', async () => {
    const { heard } = await played;
    if (!trace(name).some(({ note }) => note?.startsWith('exit'))) return;
    expect(heard.filter((entry) => 'exit' in entry)).toHaveLength(1);
    expect('exit' in heard.at(-1)!).toBe(true);
  });
});

interface Streamed {
  message: Message;
  told: { text: string[]; thinking: string[] };
}

/** The assistant messages that had updates, with what the updates add up to. */
function streamedMessages(facts: AgentFact[]): Streamed[] {
  const found: Streamed[] = [];
  let blocks: { kind: string; text: string }[] = [];
  for (const fact of facts) {
    if (fact.type === 'message_start') blocks = [];
    if (fact.type === 'message_update') {
      const event = fact.assistantMessageEvent;
      const block = blocks[event.contentIndex] ?? { kind: event.type.split('_')[0]!, text: '' };
      blocks[event.contentIndex] = block;
      if ('delta' in event) block.text += event.delta;
      if ('content' in event && event.content !== undefined) block.text = event.content;
    }
    if (fact.type === 'message_end' && fact.message.role === 'assistant' && blocks.length > 0)
      found.push({
        message: fact.message,
        told: {
          text: blocks.filter(({ kind }) => kind === 'text').map(({ text }) => text),
          thinking: blocks.filter(({ kind }) => kind === 'thinking').map(({ text }) => text),
        },
      });
  }
  return found;
}

const blocksOf = (message: Message, kind: 'text' | 'thinking'): string[] =>
  (Array.isArray(message.content) ? message.content : []).flatMap((block) =>
    block.type === kind ? [String((block as unknown as Record<string, unknown>)[kind])] : [],
  );
