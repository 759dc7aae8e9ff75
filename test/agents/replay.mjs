// Plays a recording of test/traces as an agent process. Guarantees: the agent's lines are written as they were recorded, byte for
// byte but for ids; no line is written before the client has sent what came before it in the recording. Must not know: what
// the lines mean, beyond types and ids.
//
// argv: the recording, then options as JSON (test/support/replay.ts has their meaning).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { createAnswers } from './replay-answers.mjs';
import { prepared } from './replay-script.mjs';

const [file, optionsText = '{}'] = process.argv.slice(2);
const options = JSON.parse(optionsText);
const bridge = options.client === 'bridge';

const raw = readFileSync(file);
const entries = prepared((file.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8'), bridge);
const answers = createAnswers(entries, file.includes('pi-0.'));

/** Client lines that no entry has taken yet. */
const pool = [];
const signals = [];
let closed = false;
let at = 0;
let wake = () => {};
/** Whether lines came that were not looked at. */
let fresh = false;
const changed = () => {
  fresh = true;
  wake();
};

/** Recorded id → the id that this client gave, both as JSON. */
const ids = new Map();
/** Commands that were recorded without an id but came with one. */
const unnamed = [];

const parsed = (line) => {
  try {
    const value = JSON.parse(line);
    return value !== null && typeof value === 'object' && typeof value.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

const write = (text) =>
  new Promise((done) => {
    process.stdout.write(text, done);
  });

async function writeLine(line) {
  const bytes = Buffer.from(`${line}\n`);
  const size = options.chunk ?? bytes.length;
  for (let start = 0; start < bytes.length; start += size) await write(bytes.subarray(start, start + size));
}

/** The line with the ids of this client. */
function renamed(entry) {
  const { record, line } = entry;
  if (record.type !== 'response' && record.type !== 'bash_execution_update') return line;
  if (record.id === undefined) {
    const index = unnamed.findIndex(({ type }) => type === record.command);
    if (index < 0 || record.type !== 'response') return line;
    const [{ id }] = unnamed.splice(index, 1);
    return `{"id":${JSON.stringify(id)},${line.slice(1)}`;
  }
  const recorded = JSON.stringify(record.id);
  const actual = ids.get(recorded) ?? recorded;
  return actual === recorded ? line : line.replace(`"id":${recorded}`, () => `"id":${actual}`);
}

/** Takes the pooled line that this entry waits for, if it is there. */
function taken({ line, record }) {
  const same = (other) => {
    if (!record) return other.line === line;
    if (other.record?.type !== record.type) return false;
    return record.type !== 'extension_ui_response' || other.record.id === record.id;
  };
  const text = (value) => JSON.stringify({ ...value, id: 0 });
  const exact = pool.findIndex((other) => same(other) && text(other.record) === text(record));
  const index = exact >= 0 ? exact : pool.findIndex(same);
  if (index < 0) return false;
  const [got] = pool.splice(index, 1);
  if (!record || record.type === 'extension_ui_response') return true;
  if (record.id === undefined) {
    if (got.record.id !== undefined) unnamed.push({ type: record.type, id: got.record.id });
  } else ids.set(JSON.stringify(record.id), JSON.stringify(got.record.id));
  return true;
}

/** Answers what the recording has no place for any more. */
async function answerOthers() {
  if (!fresh) return;
  fresh = false;
  const wants = (entry, line) =>
    entry?.kind === 'in' && !entry.done && entry.record?.type === line.record?.type;
  const awaited = (line) => entries.slice(at).some((entry) => wants(entry, line) || wants(entry.needs, line));
  for (let index = 0; index < pool.length; ) {
    const line = pool[index];
    if (!line.record || awaited(line)) {
      index += 1;
      continue;
    }
    pool.splice(index, 1);
    const answer = answers.answer(line.record, at);
    if (answer) await writeLine(JSON.stringify(answer));
  }
}

async function until(happened) {
  for (;;) {
    if (happened()) return true;
    await answerOthers();
    if (happened()) return true;
    if (closed) return false;
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function play() {
  let before = 0;
  for (; at < entries.length; at += 1) {
    const entry = entries[at];
    if (options.speed > 0 && entry.kind === 'out') await pause(Math.max(0, entry.t - before) / options.speed);
    before = entry.t;
    const awaited = entry.kind === 'in' && !entry.late ? entry : entry.needs;
    if (awaited && !awaited.done) {
      // A command of a burst is waited for at its answer: it may come only when the one before it was answered.
      if (!(await until(() => taken(awaited)))) return early(awaited);
      awaited.done = true;
    }
    if (entry.kind === 'out') {
      await answerOthers();
      await writeLine(renamed(entry));
    } else if (entry.kind === 'closed') await until(() => closed);
    else if (entry.kind === 'exit') return leave(entry);
    // For a bridge the signal strikes now, as if somebody else had sent it; who plays the recording sends it.
    else if (entry.kind === 'signal' && !bridge && !(await until(() => signals.includes(entry.signal))))
      return early(entry);
  }
  await until(() => false);
  process.exit(0);
}

function early(entry) {
  if (bridge) process.exit(0);
  process.stderr.write(`stdin was closed while the recording waits for ${entry.line || entry.signal}\n`);
  process.exit(70);
}

function leave({ code, signal }) {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The signal comes in the next round.
  setInterval(() => {}, 1e6);
  return new Promise(() => {});
}

for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(name, () => {
    signals.push(name);
    // One that was not recorded ends it as it ends a real agent.
    if (!entries.slice(at).some(({ kind, signal }) => kind === 'signal' && signal === name))
      process.exit(name === 'SIGHUP' ? 129 : name === 'SIGINT' ? 130 : 143);
    changed();
  });

let held = [];
process.stdin.on('data', (chunk) => {
  let start = 0;
  for (let lf = chunk.indexOf(10); lf >= 0; lf = chunk.indexOf(10, start)) {
    held.push(chunk.subarray(start, lf));
    const line = Buffer.concat(held).toString('utf8');
    held = [];
    pool.push({ line, record: parsed(line) });
    start = lf + 1;
  }
  if (start < chunk.length) held.push(chunk.subarray(start));
  changed();
});
process.stdin.on('end', () => {
  if (held.length > 0) {
    const line = Buffer.concat(held).toString('utf8');
    pool.push({ line, record: parsed(line) });
  }
  closed = true;
  changed();
});
process.stdout.on('error', () => process.exit(1));

await play();
