// Lines into records. Guarantees: never throws; a line that is no record is garbage with a reason; of a cumulative
// `message_update` (dialects D0, D1) only the few bytes of its delta are parsed where their place in the line is certain, and
// the whole line where it is not. Must not know: what a record means.
import type { AgentRecord } from '../protocol/records.ts';

export type ParsedLine =
  | { record: AgentRecord }
  /** Text, terminal escapes, broken or too long JSON: told as a reason and a length, its content is never logged. */
  | { garbage: string };

const opening = Buffer.from('{"type":"message_update","');
const eventFirst = Buffer.from('{"type":"message_update","assistantMessageEvent":');
const messageFirst = Buffer.from('{"type":"message_update","message":{');
const eventKey = Buffer.from('},"assistantMessageEvent":{"type":"');
const partialKey = Buffer.from(',"partial":');

/**
 * A function from lines to records, in their order. Where an agent drops deltas and says so only by a snapshot that grew by more
 * than the delta (Atomic before 0.9.13 does), the snapshot comes along.
 */
export function createLineParser(): (line: Buffer) => ParsedLine {
  /** The text delta before this one: of which block, how long its line and its text were. */
  let before: { block: string; line: number; delta: number } | undefined;
  return (line) => {
    const parsed = parsedLine(line);
    const event = 'record' in parsed && parsed.record.snapshot ? deltaIn(parsed.record) : undefined;
    if (!event) {
      before = undefined;
      return parsed;
    }
    const block = `${event.type} ${event.contentIndex}`;
    const delta = Buffer.byteLength(JSON.stringify(event.delta));
    // Two snapshots may have grown by it, and the event holds another text of its own.
    const follows = before?.block === block && line.length - before.line <= 3 * delta - before.delta - 4;
    before = { block, line: line.length, delta };
    if (follows) return parsed;
    const whole = recordIn(line.toString('utf8'));
    return 'record' in whole ? whole : parsed;
  };
}

const deltaIn = ({ assistantMessageEvent }: AgentRecord) => {
  const event = assistantMessageEvent as { type: string; contentIndex: number; delta: string };
  return event.type === 'text_delta' || event.type === 'thinking_delta' ? event : undefined;
};

/** Levels of nesting that a record may have; more would end in a fault wherever it is written again. */
const deepest = 500;

/** Whether JSON is nested more deeply than that. */
function tooDeep(text: string): boolean {
  if (text.length < 2 * deepest) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1)
    switch (text.charCodeAt(at)) {
      case quote:
        do {
          at = text.indexOf('"', at + 1);
          if (at < 0) return false;
        } while (escaped(text, at));
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > deepest) return true;
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
    }
  return false;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\{}[]'].map((it) =>
  it.charCodeAt(0),
);

/** Whether the quote at this place is part of a text: an odd number of backslashes is before it. */
function escaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

/** Shorter lines are parsed whole: looking for a shortcut would cost more than it saves. */
const worthIt = 600;
/** Events whose fields besides `partial` hold no objects, so that the first `,"partial":` is at their own level. */
const flat = /^\{"type":"(?:text|thinking)_(?:start|delta|end)"|^\{"type":"toolcall_delta"/;

/** One line of the agent's stdout as a record (protocol reference, sections 1 and 4.3). */
export function parsedLine(line: Buffer): ParsedLine {
  if (line.length >= worthIt && line.subarray(0, opening.length).equals(opening)) {
    const event = deltaOfCumulative(line);
    if (event) return { record: { type: 'message_update', assistantMessageEvent: event, snapshot: true } };
  }
  let text: string;
  try {
    text = line.toString('utf8');
  } catch {
    return { garbage: `a line of ${line.length} bytes, more than this program can hold as one text` };
  }
  return recordIn(text);
}

/**
 * The event of a cumulative update without parsing its snapshots; undefined when the layout does not show it for certain. In
 * valid JSON a quote inside a text is escaped, so `,"key":` only ever occurs as a key; and a piece that was cut out at
 * another level than its own has unbalanced brackets and does not parse.
 */
function deltaOfCumulative(line: Buffer): object | undefined {
  let start: number;
  if (startsWith(line, eventFirst)) start = eventFirst.length;
  else if (startsWith(line, messageFirst)) {
    const key = line.indexOf(eventKey, messageFirst.length);
    // A tool's arguments may hold the same key: then nothing is certain.
    if (key < 0 || line.lastIndexOf(eventKey) !== key) return undefined;
    start = key + '},"assistantMessageEvent":'.length;
  } else return undefined;
  const end = line.indexOf(partialKey, start);
  if (end < 0) return undefined;
  const piece = `${line.toString('utf8', start, end)}}`;
  if (!flat.test(piece)) return undefined;
  try {
    const event = JSON.parse(piece) as {
      type: string;
      contentIndex?: unknown;
      delta?: unknown;
      content?: unknown;
    };
    // What a dialect writes after its snapshot would be missing here.
    const missing =
      typeof event.contentIndex !== 'number' ||
      (event.type.endsWith('_delta') && typeof event.delta !== 'string') ||
      (event.type.endsWith('_end') && typeof event.content !== 'string');
    return missing ? undefined : event;
  } catch {
    return undefined;
  }
}

const startsWith = (line: Buffer, prefix: Buffer): boolean =>
  line.length > prefix.length && line.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;

/** Terminal escapes: CSI, OSC (ended by BEL or ST), and two-character ones. */
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])/g;

function recordIn(text: string): ParsedLine {
  if (tooDeep(text)) return { garbage: `a line of ${text.length} characters that is nested too deeply` };
  const whole = asRecord(text);
  if (whole) return { record: whole };
  if (text.trim() === '') return { garbage: 'an empty line' };
  // Something else wrote to the same stream, before or after the record: escapes of a terminal, a warning without line end.
  const bare = text.includes('\x1b') ? text.replace(escapes, '') : text;
  for (const mark of ['{"type":"', '{"id":']) {
    const start = bare.indexOf(mark);
    const record = start < 0 ? undefined : asRecord(bare.slice(start));
    if (record) return { record };
  }
  return { garbage: `a line of ${text.length} characters that is not a record` };
}

function asRecord(text: string): AgentRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && typeof (value as AgentRecord).type === 'string'
      ? (value as AgentRecord)
      : undefined;
  } catch {
    return undefined;
  }
}
