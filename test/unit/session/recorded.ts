// The facts of the recordings, as a session would hear them. Guarantees: in the order and with the times of the recording. Must
// not know: what is made of them.
import type { AgentFact, Fact } from '../../../server/src/protocol/facts.ts';
import { fakeAgent, trace, turn } from '../agent/support.ts';

/** The facts of a recording, as the session would hear them, with the times of the recording. */
export async function factsOf(name: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  const fake = fakeAgent(undefined, (heard) => {
    if ('fact' in heard) facts.push(timed(heard.fact, fake.clock.now()));
  });
  let answered = 0;
  const answerOwnReads = async () => {
    for (; answered < fake.written.length; answered++) {
      const { id, type } = fake.written[answered]!;
      if (type === 'get_state' && String(id).startsWith('call-'))
        await fake.says({ id, type: 'response', command: 'get_state', success: true, data: {} });
    }
  };
  for (const { t, dir, line, note } of trace(name)) {
    await fake.clock.advanceTo(t);
    await answerOwnReads();
    if (note?.startsWith('exit')) fake.end({ code: 0, signal: null });
    else if (dir === 'out' && line !== '') fake.output(Buffer.from(`${line}\n`));
    else if (dir === 'in') call(line, (record) => fake.agent.call(record).catch(() => {}));
    await turn();
    await answerOwnReads();
  }
  await fake.clock.advance(60_000);
  await answerOwnReads();
  return facts;
}

const timed = (fact: AgentFact, at: number): Fact =>
  fact.type.endsWith('_update') && fact.type !== 'queue_update' ? fact : { ...fact, at };

/** Makes the client's call, if the line is one. */
function call(line: string, make: (record: { type: string }) => void): void {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return;
  }
  const { type } = (record ?? {}) as { type?: unknown };
  if (typeof type === 'string' && type !== 'extension_ui_response') make(record as { type: string });
}
