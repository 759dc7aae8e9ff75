// An agent that does what a script says, for faults and dialects that no real agent and no recording has. Guarantees: without a
// script it is a working agent of the asked dialect; each step happens when the one before is done, and never by a clock.
// Must not know: who talks to it. The script is JSON in SCRIPTED_AGENT; test/support/scripted.ts has its type and meaning.
import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createRun } from './scripted-run.mjs';

const script = JSON.parse(process.env.SCRIPTED_AGENT ?? '{}');
const dialect = script.dialect ?? 'D2';
const { gates } = script;

const write = (data) => new Promise((done) => process.stdout.write(data, done));
const emit = (record) => write(`${JSON.stringify(record)}\n`);

/** Who waits for a client line: `{fits, found}`. */
const waiting = [];
const awaited = (fits) => new Promise((found) => waiting.push({ fits, found }));

const gate = (name) =>
  new Promise((opened) => {
    const look = () => {
      if (!existsSync(join(gates, name))) return;
      watcher.close();
      opened();
    };
    const watcher = watch(gates, look);
    look();
  });

const messages = [];
const run = createRun({ dialect, emit, gate, messages });
let dialogs = 0;
const counts = new Map();

const state = () => ({
  model: {
    id: 'scripted-1',
    name: 'Scripted',
    provider: 'scripted',
    contextWindow: 100_000,
    input: ['text'],
  },
  thinkingLevel: 'off',
  isStreaming: run.active,
  isCompacting: false,
  steeringMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  sessionId: 'scripted-session',
  autoCompactionEnabled: true,
  messageCount: messages.length,
  pendingMessageCount: 0,
  ...(dialect === 'D2' && { queuedMessagesPaused: false }),
  ...script.state,
});

const reads = {
  get_state: state,
  get_messages: () => ({ messages }),
  get_commands: () => ({ commands: script.commands ?? [] }),
  get_available_models: () => ({ models: [state().model] }),
  get_fork_messages: () => ({ messages: [] }),
  get_last_assistant_text: () => ({}),
  get_session_stats: () => ({ sessionId: state().sessionId, totalMessages: messages.length, cost: 0 }),
  ...(dialect !== 'D0' && {
    get_available_thinking_levels: () => ({ levels: ['off', 'high'] }),
    get_entries: () => ({ entries: [], leafId: null }),
    get_tree: () => ({ tree: [], leafId: null }),
  }),
  ...(dialect === 'D1' && {
    get_available_context_windows: () => ({
      contextWindows: [100_000, 1_000_000],
      currentContextWindow: 100_000,
      supportsSelection: true,
    }),
  }),
};
/** Known everywhere and answered without data, where the script has nothing else. */
const plain = new Set(
  'set_model set_thinking_level set_steering_mode set_follow_up_mode set_auto_compaction set_auto_retry set_session_name abort_bash abort_retry'.split(
    ' ',
  ),
);

const respond = (call, fields) => {
  const id = call.id === undefined ? {} : { id: call.id };
  return emit({ ...id, type: 'response', command: call.type, ...fields });
};
const accept = (call, data) => respond(call, { success: true, ...(data !== undefined && { data }) });
/** Protocol reference, section 2: the oldest dialect leaves the id out. */
const unknown = (call) =>
  respond(dialect === 'D0' ? { type: call.type } : call, {
    success: false,
    error: `Unknown command: ${call.type}`,
  });
const accepted = (call) => accept(call, dialect === 'D3' ? { disposition: 'started' } : undefined);

async function perform(steps, call) {
  for (const step of steps) {
    const kind = 'say' in step ? 'say' : Object.keys(step).find((key) => does[key]);
    if (!kind) throw new Error(`the script has a step that is none: ${JSON.stringify(step)}`);
    await does[kind](step, call);
  }
}

const does = {
  accept: ({ accept: data }, call) => accept(call, data === true ? undefined : data),
  started: (_, call) => accepted(call),
  refuse: ({ refuse: error, withoutId, ...more }, call) =>
    respond(withoutId ? { type: call.type } : call, { success: false, error, ...more }),
  unknown: (_, call) => unknown(call),
  emit: ({ emit: records }) =>
    write(
      [records]
        .flat()
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    ),
  raw: ({ raw }) => write(raw),
  bytes: ({ bytes }) => write(Buffer.from(bytes, 'base64')),
  say: (step, call) => run.say(step, call),
  async flood({ flood }) {
    await run.open();
    for (let at = 0; at < flood; at += 500)
      await run.deltas(Array.from({ length: Math.min(500, flood - at) }, (_, index) => `word${at + index} `));
    await run.close();
  },
  async ask({ ask, wait = true, settled = true }) {
    dialogs += 1;
    const request = { type: 'extension_ui_request', id: `dialog-${dialogs}`, ...ask };
    const answer = awaited((line) => line.type === 'extension_ui_response' && line.id === request.id);
    await emit(request);
    if (!wait) return;
    const { type: _, id: __, ...got } = await answer;
    if (settled)
      await emit({
        type: 'extension_ui_request',
        id: `${request.id}-answer`,
        method: 'notify',
        message: `${ask.method}: ${JSON.stringify(got)}`,
        notifyType: 'info',
      });
  },
  async big({ big }) {
    const message = { role: 'assistant', content: [{ type: 'text', text: '<here>' }] };
    const [head, tail] = JSON.stringify({ type: 'message_end', message }).split('<here>');
    await write(head);
    for (let left = big; left > 0; left -= 1_000_000) await write('x'.repeat(Math.min(left, 1_000_000)));
    await write(`${tail}\n`);
  },
  line: ({ line }) => awaited(({ type }) => type === line),
  gate: ({ gate: name }) => gate(name),
  stderr: ({ stderr }) => new Promise((done) => process.stderr.write(stderr, done)),
  /** A child in the same group that outlives its parent and holds its pipes. */
  child: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' });
    return emit({ type: 'session_info_changed', name: String(child.pid) });
  },
  pid: () => emit({ type: 'session_info_changed', name: String(process.pid) }),
  deaf() {
    process.stdin.pause();
    setInterval(() => {}, 1e6);
  },
  stop: () => new Promise(() => {}),
  exit: ({ exit }) => {
    process.exit(exit);
  },
  kill: ({ kill }) => {
    process.kill(process.pid, kill);
    return new Promise(() => {});
  },
};

async function obey(call) {
  const scripted = script.on?.[call.type];
  if (scripted) {
    const count = counts.get(call.type) ?? 0;
    counts.set(call.type, count + 1);
    const steps = Array.isArray(scripted[0]) ? scripted[Math.min(count, scripted.length - 1)] : scripted;
    return perform(steps, call);
  }
  if (script.otherwise === 'silent' || call.type === 'extension_ui_response') return;
  if (script.otherwise === 'unknown') return unknown(call);
  if (reads[call.type]) return accept(call, reads[call.type]());
  if (call.type === 'prompt') {
    await accepted(call);
    return run.say({ say: `You said: ${call.message}` }, call);
  }
  if (call.type === 'abort') {
    await run.abort();
    return accept(call);
  }
  if (call.type === 'clear_queue' && (dialect === 'D2' || dialect === 'D3'))
    return accept(call, { steering: [], followUp: [] });
  if (call.type === 'set_context_window' && dialect === 'D1') {
    await emit({ type: 'context_window_changed', contextWindow: call.contextWindow });
    return accept(call);
  }
  if (plain.has(call.type)) return accept(call);
  return unknown(call);
}

const heard = (text) => {
  let call;
  try {
    call = JSON.parse(text);
  } catch (error) {
    return emit({
      type: 'response',
      command: 'parse',
      success: false,
      error: `Failed to parse command: ${error.message}`,
    });
  }
  for (const entry of waiting.filter(({ fits }) => fits(call))) {
    waiting.splice(waiting.indexOf(entry), 1);
    entry.found(call);
  }
  return obey(call);
};

const fault = (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(71);
};
process.on('uncaughtException', fault);
process.on('unhandledRejection', fault);
process.stdout.on('error', () => process.exit(1));
if (script.sigterm === 'ignore') process.on('SIGTERM', () => {});

let held = [];
process.stdin.on('data', (chunk) => {
  let start = 0;
  for (let lf = chunk.indexOf(10); lf >= 0; lf = chunk.indexOf(10, start)) {
    held.push(chunk.subarray(start, lf));
    const text = Buffer.concat(held).toString('utf8');
    held = [];
    start = lf + 1;
    void heard(text);
  }
  if (start < chunk.length) held.push(chunk.subarray(start));
});
process.stdin.on('end', async () => {
  if (script.closed === 'stay') setInterval(() => {}, 1e6);
  else if (Array.isArray(script.closed)) await perform(script.closed, {});
  else process.exit(0);
});

await perform(script.start ?? [], {});
