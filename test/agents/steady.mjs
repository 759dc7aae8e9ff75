// An agent that says much at a steady pace: `steady.mjs PER_SECOND SIZE`, as many as the prompt has it say (`Say 500`), in messages of 100,000 UTF-16 units, each delta with the moment at
// which it was written (`@1712345678901.25 …`). The newest dialect. Guarantees number, size and pace, as far as its reader takes
// them. Must not know: who reads.
import { createInterface } from 'node:readline';

const [rate = 1000, size = 60] = process.argv.slice(2).map(Number).filter(Number.isFinite);
const perMessage = Math.ceil(100_000 / size);
const send = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const update = (assistantMessageEvent) => send({ type: 'message_update', assistantMessageEvent });
const words = 'the quick brown fox jumps over the lazy dog and the wörld goes on '.repeat(100);
const assistant = (content, stopReason) => ({
  role: 'assistant',
  content,
  provider: 'steady',
  model: 'steady',
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } },
  stopReason,
  timestamp: 1,
});

function run(deltas) {
  send({ type: 'agent_start' });
  send({ type: 'turn_start' });
  const start = performance.now();
  let sent = 0;
  let text;
  const one = () => {
    if (text === undefined) {
      text = '';
      send({ type: 'message_start', message: assistant([], 'pending') });
      update({ type: 'text_start', contentIndex: 0 });
    }
    const now = (performance.timeOrigin + performance.now()).toFixed(2);
    const delta = `@${now} ${words}`.slice(0, size);
    text += delta;
    update({ type: 'text_delta', contentIndex: 0, delta });
    sent += 1;
    if (sent % perMessage !== 0 && sent < deltas) return;
    update({ type: 'text_end', contentIndex: 0, content: text });
    send({ type: 'message_end', message: assistant([{ type: 'text', text }], 'stop') });
    text = undefined;
  };
  const timer = setInterval(() => {
    const due = Math.min(deltas, Math.floor(((performance.now() - start) / 1000) * rate));
    while (sent < due) one();
    if (sent < deltas) return;
    clearInterval(timer);
    send({ type: 'turn_end', toolResults: [] });
    send({ type: 'agent_end', messages: [], willRetry: false });
    send({ type: 'agent_settled' });
  }, 1);
}

const reads = {
  get_state: {
    model: { id: 'steady', provider: 'steady' },
    thinkingLevel: 'off',
    isStreaming: false,
    sessionId: 's',
  },
  get_messages: { messages: [] },
  get_commands: { commands: [] },
  prompt: {},
};
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, type, message } = JSON.parse(line);
    const head = { id, type: 'response', command: type };
    if (Object.hasOwn(reads, type)) send({ ...head, success: true, data: reads[type] });
    else send({ ...head, success: false, error: `Unknown command: ${type}` });
    if (type === 'prompt') run(Number(/\d+/.exec(message)?.[0] ?? 1));
  })
  .on('close', () => process.exit());
