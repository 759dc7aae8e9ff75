// A recording as a list of steps. Guarantees: in the order of time, nothing after the exit. Must not know: pipes.

const isLine = (record) => record !== null && typeof record === 'object' && typeof record.type === 'string';

/**
 * The steps of a recording: `out` lines, `in` lines to wait for, `closed`, `signal`, `exit`. For a `bridge`, a client with a mind
 * of its own, reads, garbage and late answers are no steps, and later commands of a burst are waited for at their answers.
 */
export function prepared(text, bridge) {
  const entries = [];
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.t - b.t);
  for (const { t, dir, line, note } of lines) {
    const exit = /^exit code=(\d+|null) signal=(\w+)/.exec(note ?? '');
    if (exit) {
      entries.push({
        kind: 'exit',
        t,
        code: exit[1] === 'null' ? null : Number(exit[1]),
        signal: exit[2] === 'null' ? null : exit[2],
      });
      break;
    }
    if (note?.startsWith('stdin closed')) entries.push({ kind: 'closed', t });
    else if (note?.startsWith('signal ')) entries.push({ kind: 'signal', t, signal: note.slice(7) });
    else entries.push({ kind: dir, t, line, record: recordOf(line) });
  }
  return bridge ? loosened(entries) : entries;
}

function recordOf(line) {
  try {
    const value = JSON.parse(line);
    return isLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function loosened(entries) {
  const dialogs = new Map();
  const skippedIds = new Set();
  const kept = [];
  for (const entry of entries) {
    const { kind, record, t } = entry;
    if (kind === 'out' && record?.type === 'extension_ui_request') dialogs.set(record.id, { t, ...record });
    if (kind === 'in') {
      if (!record) continue;
      if (record.type.startsWith('get_')) {
        skippedIds.add(JSON.stringify(record.id));
        continue;
      }
      if (record.type === 'extension_ui_response') {
        const dialog = dialogs.get(record.id);
        // The second answer to a question, one that came too late, one to no question.
        if (!dialog || dialog.answered || (dialog.timeout && t - dialog.t >= dialog.timeout)) continue;
        dialog.answered = true;
      }
    }
    if (kind === 'out' && record?.type === 'response') {
      const answersRead = String(record.command ?? '').startsWith('get_');
      if (answersRead && (record.id === undefined || skippedIds.has(JSON.stringify(record.id)))) {
        // Not written at its place, but known to whoever reads.
        kept.push({ ...entry, kind: 'said' });
        continue;
      }
      // The answer to garbage.
      if (typeof record.command !== 'string' || record.command === 'parse' || record.command === 'unknown')
        continue;
    }
    kept.push(entry);
  }
  // What was said after stdin was closed is said before, as the client waits for it.
  const closed = kept.filter(({ kind }) => kind === 'closed');
  const open = kept.filter(({ kind }) => kind !== 'closed');
  open.splice(open.at(-1)?.kind === 'exit' ? -1 : open.length, 0, ...closed);
  return withoutBursts(open);
}

/** Only the first command of a burst is a barrier by itself; each later one at its answer, which comes after the answers before. */
function withoutBursts(entries) {
  const answerTo = (entry) =>
    entries.find(
      ({ kind, record }) =>
        kind === 'out' &&
        record?.type === 'response' &&
        record.id !== undefined &&
        record.id === entry.record.id,
    );
  let order = entries;
  let first = 0;
  for (let at = 1; at < entries.length; at += 1) {
    const entry = entries[at];
    if (entry.kind !== 'in' || entries[at - 1].kind !== 'in') {
      first = at;
      continue;
    }
    const answer = answerTo(entry);
    if (!answer) continue;
    entry.late = true;
    answer.needs = entry;
    const before = Math.max(...entries.slice(first, at).map((mate) => order.indexOf(answerTo(mate))));
    if (order.indexOf(answer) > before) continue;
    order = order.filter((other) => other !== answer);
    order.splice(before, 0, answer);
  }
  return order;
}
