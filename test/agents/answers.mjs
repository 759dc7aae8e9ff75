// What agents that only speak share: records, the reads that every client begins with, and a pace. Guarantees: an unknown command fails
// in a sentence; the process ends with its input. Must not know: what is said to a prompt.
import { createInterface } from 'node:readline';

/** Writes a record as a line. */
export const send = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);

/** An event of the message that is being streamed. */
export const update = (assistantMessageEvent) => send({ type: 'message_update', assistantMessageEvent });

/** A message of the model called `name`. */
export const assistant = (name, content, stopReason) => ({
  role: 'assistant',
  content,
  provider: name,
  model: name,
  usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: { total: 0 } },
  stopReason,
  timestamp: 1,
});

/** Answers commands from stdin, of an agent whose model is called `name`; `prompted` gets the text of each prompt that was accepted. */
export function answer(name, prompted) {
  const reads = {
    get_state: {
      model: { id: name, provider: name },
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
      if (type === 'prompt') prompted(message);
    })
    .on('close', () => process.exit());
}

/** Calls `one` with 0 to `count` - 1, `rate` times a second; resolves after the last. */
export const paced = (count, rate, one) =>
  new Promise((done) => {
    const start = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.min(count, Math.floor(((performance.now() - start) / 1000) * rate));
      for (; sent < due; sent += 1) one(sent);
      if (sent < count) return;
      clearInterval(timer);
      done();
    }, 1);
  });
