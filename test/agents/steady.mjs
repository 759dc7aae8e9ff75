// An agent that says much at a steady pace: `steady.mjs PER_SECOND SIZE`, as many deltas as the prompt has it say (`Say 500`), in
// messages of 100,000 UTF-16 units, each delta with the moment at which it was written (`@1712345678901.25 …`). The newest dialect.
// Guarantees number, size and pace, as far as its reader takes them. Must not know: who reads.
import { answer, assistant, paced, send, update } from './answers.mjs';

const [rate = 1000, size = 60] = process.argv.slice(2).map(Number).filter(Number.isFinite);
const perMessage = Math.ceil(100_000 / size);
const words = 'the quick brown fox jumps over the lazy dog and the wörld goes on '.repeat(100);

async function run(deltas) {
  send({ type: 'agent_start' });
  send({ type: 'turn_start' });
  let text;
  await paced(deltas, rate, (index) => {
    if (text === undefined) {
      text = '';
      send({ type: 'message_start', message: assistant('steady', [], 'pending') });
      update({ type: 'text_start', contentIndex: 0 });
    }
    const now = (performance.timeOrigin + performance.now()).toFixed(2);
    const delta = `@${now} ${words}`.slice(0, size);
    text += delta;
    update({ type: 'text_delta', contentIndex: 0, delta });
    const sent = index + 1;
    if (sent % perMessage !== 0 && sent < deltas) return;
    update({ type: 'text_end', contentIndex: 0, content: text });
    send({ type: 'message_end', message: assistant('steady', [{ type: 'text', text }], 'stop') });
    text = undefined;
  });
  send({ type: 'turn_end', toolResults: [] });
  send({ type: 'agent_end', messages: [], willRetry: false });
  send({ type: 'agent_settled' });
}

answer('steady', (message) => run(Number(/\d+/.exec(message)?.[0] ?? 1)));
