// An agent that streams one long answer at a steady rate, for benchmarks of clients: `stream-agent.mjs DELTAS PER_SECOND SIZE`, in the
// newest dialect. Guarantees the number, size and pace of its deltas as far as its reader takes them. Must not know who reads.
import { answer, assistant, paced, send, update } from '../agents/answers.mjs';

const [deltas = 10_000, rate = 1_000, size = 100] = process.argv.slice(2).map(Number).filter(Number.isFinite);
const words = 'the quick brown fox jumps over the lazy dog and the wörld goes on, '.repeat(20);
const piece = (index) =>
  index % 20 === 19 ? `${words.slice(0, size - 2)}\n\n` : words.slice(index % 60, (index % 60) + size);

answer('bench', async () => {
  send({ type: 'agent_start' });
  send({ type: 'turn_start' });
  send({ type: 'message_start', message: assistant('bench', [], 'pending') });
  update({ type: 'text_start', contentIndex: 0 });
  let text = '';
  await paced(deltas, rate, (index) => {
    const delta = piece(index);
    text += delta;
    update({ type: 'text_delta', contentIndex: 0, delta });
  });
  const message = assistant('bench', [{ type: 'text', text }], 'stop');
  update({ type: 'text_end', contentIndex: 0, content: text });
  send({ type: 'message_end', message });
  send({ type: 'turn_end', message, toolResults: [] });
  send({ type: 'agent_end', messages: [message], willRetry: false });
  send({ type: 'agent_settled' });
});
