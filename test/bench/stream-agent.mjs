// An agent that streams one long answer at a steady rate, for benchmarks of clients: `stream-agent.mjs DELTAS PER_SECOND SIZE`, in the
// newest dialect. Guarantees the number, size and pace of its deltas as far as its reader takes them. Must not know who reads.
import { createInterface } from 'node:readline';

const [deltas = 10_000, rate = 1_000, size = 100] = process.argv.slice(2).map(Number).filter(Number.isFinite);
const send = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const words = 'the quick brown fox jumps over the lazy dog and the wörld goes on, '.repeat(20);
const piece = (index) =>
  index % 20 === 19 ? `${words.slice(0, size - 2)}\n\n` : words.slice(index % 60, (index % 60) + size);
const assistant = (content, stopReason) => ({
  role: 'assistant',
  content,
  provider: 'bench',
  model: 'bench',
  usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: { total: 0 } },
  stopReason,
  timestamp: 1,
});
const update = (assistantMessageEvent) => send({ type: 'message_update', assistantMessageEvent });

function run() {
  send({ type: 'agent_start' });
  send({ type: 'turn_start' });
  send({ type: 'message_start', message: assistant([], 'pending') });
  update({ type: 'text_start', contentIndex: 0 });
  const start = performance.now();
  let sent = 0;
  let text = '';
  const timer = setInterval(() => {
    const due = Math.min(deltas, Math.floor(((performance.now() - start) / 1000) * rate));
    for (; sent < due; sent += 1) {
      const delta = piece(sent);
      text += delta;
      update({ type: 'text_delta', contentIndex: 0, delta });
    }
    if (sent < deltas) return;
    clearInterval(timer);
    const message = assistant([{ type: 'text', text }], 'stop');
    update({ type: 'text_end', contentIndex: 0, content: text });
    send({ type: 'message_end', message });
    send({ type: 'turn_end', message, toolResults: [] });
    send({ type: 'agent_end', messages: [message], willRetry: false });
    send({ type: 'agent_settled' });
  }, 1);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, type } = JSON.parse(line);
    const data = {
      get_state: {
        model: { id: 'bench', provider: 'bench' },
        thinkingLevel: 'off',
        isStreaming: false,
        sessionId: 's',
      },
      get_messages: { messages: [] },
      get_commands: { commands: [] },
      prompt: {},
    }[type];
    send({
      id,
      type: 'response',
      command: type,
      success: data !== undefined,
      ...(data ? { data } : { error: `Unknown command: ${type}` }),
    });
    if (type === 'prompt') run();
  })
  .on('close', () => process.exit());
