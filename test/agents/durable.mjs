// An agent for chaos: a conversation that is on disk before it is answered for. Guarantees: what it was told is in its session file, in
// order, before anybody hears that it was taken, so that whoever counts there counts what was really done, be it killed at any
// moment. The newest dialect. A prompt says what to do: `say 40` for so many deltas, `ask` for a question before. Must not know: who
// talks to it.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { argv, env } = process;
const given = argv.indexOf('--session');
mkdirSync(env.DURABLE_SESSIONS, { recursive: true });
const file = given > 0 ? argv[given + 1] : join(env.DURABLE_SESSIONS, `${randomUUID()}.jsonl`);
const entries = existsSync(file)
  ? readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return [JSON.parse(line)];
        } catch {
          return [];
        }
      })
  : [];
const sessionId = entries[0]?.session ?? randomUUID();
const messages = entries.filter(({ type }) => type === 'message').map(({ message }) => message);

const keep = (entry) =>
  appendFileSync(file, `${JSON.stringify({ session: sessionId, pid: process.pid, ...entry })}\n`);
const send = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const said = (message) => {
  messages.push(message);
  keep({ type: 'message', message });
};
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

const queue = [];
const questions = new Map();
let running = false;
let stopped = false;
const queued = () => send({ type: 'queue_update', steering: [...queue], followUp: [] });
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } };
const assistant = (text, stopReason) => ({
  role: 'assistant',
  content: text === undefined ? [] : [{ type: 'text', text }],
  provider: 'durable',
  model: 'durable',
  usage,
  stopReason,
  timestamp: 1,
});
const update = (assistantMessageEvent) => send({ type: 'message_update', assistantMessageEvent });

function asked(title) {
  const id = randomUUID();
  send({ type: 'extension_ui_request', id, method: 'select', title, options: ['red', 'green', 'blue'] });
  return new Promise((resolve) => questions.set(id, resolve)).then((answer) => {
    questions.delete(id);
    keep({ type: 'answer', dialog: id, ...answer });
  });
}

async function turnOf(text) {
  send({ type: 'turn_start' });
  const user = { role: 'user', content: [{ type: 'text', text }], timestamp: 1 };
  said(user);
  send({ type: 'message_start', message: user });
  send({ type: 'message_end', message: user });
  if (/\bask\b/.test(text)) await asked(`About ${text}`);
  send({ type: 'message_start', message: assistant(undefined, 'pending') });
  update({ type: 'text_start', contentIndex: 0 });
  let whole = '';
  const words = Number(/say (\d+)/.exec(text)?.[1] ?? 1);
  for (let at = 0; at < words && !stopped; at += 1) {
    const delta = `wörd${at} `;
    whole += delta;
    update({ type: 'text_delta', contentIndex: 0, delta });
    await turn();
  }
  const message = assistant(whole, stopped ? 'aborted' : 'stop');
  said(message);
  update({ type: 'text_end', contentIndex: 0, content: whole });
  send({ type: 'message_end', message });
  send({ type: 'turn_end', message, toolResults: [] });
}

async function run(text) {
  running = true;
  stopped = false;
  send({ type: 'agent_start' });
  for (let next = text; next !== undefined && !stopped; ) {
    await turnOf(next);
    next = stopped ? undefined : queue.shift();
    if (next !== undefined) queued();
  }
  running = false;
  send({ type: 'agent_end', messages: [], willRetry: false });
  send({ type: 'agent_settled' });
}

const does = {
  get_state: () => ({
    model: { id: 'durable', provider: 'durable', name: 'Durable', contextWindow: 1000, input: ['text'] },
    thinkingLevel: 'off',
    isStreaming: running,
    isCompacting: false,
    steeringMode: 'one-at-a-time',
    followUpMode: 'one-at-a-time',
    sessionId,
    sessionFile: file,
    messageCount: messages.length,
    pendingMessageCount: queue.length,
    queuedMessagesPaused: false,
  }),
  get_messages: () => ({ messages }),
  get_commands: () => ({ commands: [] }),
  prompt({ message }) {
    keep({ type: 'took', text: message });
    if (!running) {
      setImmediate(() => void run(message));
      running = true;
    } else {
      queue.push(message);
      queued();
    }
  },
  abort() {
    stopped = running;
  },
  clear_queue() {
    const steering = queue.splice(0);
    if (steering.length > 0) queued();
    return { steering, followUp: [] };
  },
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const call = JSON.parse(line);
    const { id, type } = call;
    if (type === 'extension_ui_response') {
      const { id: _, type: __, ...answer } = call;
      return questions.get(id)?.(answer);
    }
    if (!Object.hasOwn(does, type))
      return send({ id, type: 'response', command: type, success: false, error: `Unknown command: ${type}` });
    const data = does[type](call);
    send({ id, type: 'response', command: type, success: true, ...(data && { data }) });
  })
  .on('close', () => process.exit());
process.stdout.on('error', () => process.exit(1));
