// An agent for benchmarks: `bench-agent.mjs [D1|D2|D3]`; each prompt is a job in JSON that says what to stream. Guarantees: the layout
// of the dialect; number, size and pace of deltas as the job says, as far as its reader takes them; with `stamp` each delta
// begins with the time of its writing in nanoseconds of the monotonic clock; the end of a job that has `end` is told as the session's
// name `ended N`. Must not know: who reads, what is measured.
import { createInterface } from 'node:readline';
import { createRun } from '../agents/scripted-run.mjs';

const dialect = process.argv[2] ?? 'D2';
const write = (text) => new Promise((done) => process.stdout.write(text, done));
const emit = (record) => write(`${JSON.stringify(record)}\n`);
const messages = [];
const run = createRun({ dialect, emit, messages });
const words = 'the quick brown fox jumps over the lazy dog and the world goes on, '.repeat(40);

/** A delta of `size` characters. */
const piece = (index, size, stamp) => {
  const at = index % 60;
  const text = index % 20 === 19 ? `${words.slice(0, size - 2)}\n\n` : words.slice(at, at + size);
  return stamp ? `@${process.hrtime.bigint()}@${text}`.slice(0, Math.max(size, 20)) : text;
};
const until = (time) => new Promise((done) => setTimeout(done, Math.max(0, time - performance.now())));

const jobs = {
  /** One answer; a delta each `every` milliseconds, the first one after `wait`. */
  async paced({ deltas, every, wait = 0, size = 20, stamp = false }) {
    await run.open();
    const start = performance.now() + wait;
    for (let index = 0; index < deltas; index += 1) {
      await until(start + index * every);
      await run.deltas([piece(index, size, stamp)]);
    }
    await run.close();
  },
  /** `turns` answers, each of `deltas` deltas, as fast as they are read. */
  async flood({ turns = 1, deltas, size = 20 }) {
    for (let turn = 0; turn < turns; turn += 1) {
      await run.open();
      for (let at = 0; at < deltas; at += 500) {
        const count = Math.min(500, deltas - at);
        await run.deltas(Array.from({ length: count }, (_, index) => piece(at + index, size)));
      }
      await run.close();
      messages.length = 0;
    }
  },
  /** A tool that prints `bytes`, of which each update shows the last 50,000, as real agents do. */
  async tool({ bytes, step = 5_000 }) {
    const head = { toolCallId: 'tool', toolName: 'bash' };
    await emit({ type: 'agent_start' });
    await emit({ type: 'turn_start' });
    await emit({ type: 'tool_execution_start', ...head, args: { command: 'make' } });
    let text = '';
    const shown = () => ({ content: [{ type: 'text', text }] });
    for (let at = 0; at < bytes; at += step) {
      const line = `${String(at).padStart(10)} ${words.repeat(2)}\n`;
      text = (text + line.repeat(Math.ceil(step / line.length)).slice(-step)).slice(-50_000);
      await emit({ type: 'tool_execution_update', ...head, args: {}, partialResult: shown() });
    }
    await emit({ type: 'tool_execution_end', ...head, result: shown(), isError: false });
    await emit({ type: 'agent_end', messages: [], willRetry: false });
    await emit({ type: 'agent_settled' });
  },
};

let sessionName;
const reads = {
  get_state: () => ({
    sessionName,
    model: { id: 'bench', provider: 'bench' },
    thinkingLevel: 'off',
    isStreaming: run.active,
    sessionId: 'bench',
  }),
  get_messages: () => ({ messages: [] }),
  get_commands: () => ({ commands: [] }),
};
let work = Promise.resolve();
process.stdout.on('error', () => process.exit(1));
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { id, type, message } = JSON.parse(line);
    const head = { ...(id !== undefined && { id }), type: 'response', command: type };
    if (type === 'prompt') {
      await emit({ ...head, success: true });
      const { job, ...how } = JSON.parse(message);
      work = jobs[job](how);
      await work;
      // A reader that fell behind is given a snapshot instead of facts, and finds this in it, too.
      if (how.end) {
        sessionName = `ended ${how.end}`;
        await emit({ type: 'session_info_changed', name: sessionName });
      }
    } else if (reads[type]) await emit({ ...head, success: true, data: reads[type]() });
    else await emit({ ...head, success: false, error: `Unknown command: ${type}` });
  })
  .on('close', () => work.then(() => process.exit()));
