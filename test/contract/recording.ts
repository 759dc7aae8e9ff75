// A recording as a client of the product would play it: what to send, after which facts, and what must have come of it. Guarantees:
// the agent's lines stay as recorded; only what is said to reads is completed from what was recorded. Must not know: the core.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandRow } from '../../server/src/protocol/commands.ts';
import type { AgentRecord, Message } from '../../server/src/protocol/records.ts';
import { tracePath } from '../support/replay.ts';
import { askedOnce, inSeries, type Line, parsed } from './recording-order.ts';

/** How many facts of each type the agent had told by then. */
export type Heard = Record<string, number>;

export interface Action {
  record: AgentRecord;
  after: Heard;
  /** Recorded ids of the commands that were answered by then. */
  answered: string[];
}

export interface Recording {
  /** An agent choice that plays it. */
  choice: { command: string; args: string[]; env: Record<string, string> };
  actions: Action[];
  /** All that the agent told. */
  heard: Heard;
  /** Ids of the commands that were answered. */
  answered: Set<string>;
  /** How many runs it has, by its `agent_settled`, replacements and its end; undefined where the dialect does not say. */
  runs: number | undefined;
  /** Whether the agent ended by itself or was killed. */
  ends: boolean;
  /** Texts of the user and the assistant at the end. */
  conversation: string[];
}

/** Recordings that no correct client can cause, and why. */
export const undrivable: Record<string, string> = {
  'pi-1.6.0/parse-null-line': 'the agent dies of a line `null`, which the product never writes',
  'pi-1.6.0/compact-concurrent':
    'the agent refuses a prompt during a compaction; the product sends it when the compaction is over',
};

const player = fileURLToPath(new URL('../agents/replay.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'atomic-lsp-recordings-'));

/** Events that become one fact each. */
const counted = new Set(
  'agent_start turn_start turn_end message_start message_end tool_execution_start tool_execution_end queue_update compaction_start compaction_end auto_retry_start auto_retry_end'.split(
    ' ',
  ),
);
const dialogMethods = new Set(
  'select confirm input editor oauth_prompt oauth_select oauth_manual_code'.split(' '),
);

/** The fact type that this record is counted as. */
const countedAs = (record: AgentRecord): string | undefined =>
  record.type === 'extension_ui_request'
    ? dialogMethods.has(String(record.method))
      ? 'dialog_opened'
      : record.type
    : counted.has(record.type)
      ? record.type
      : undefined;

/** Its text, and how many images it has. */
export const words = ({ role, content }: Message): string =>
  `${role}: ${
    typeof content === 'string'
      ? content
      : (content ?? []).map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('')
  }`;

/** What two people said, without tools. */
export const talk = (messages: readonly Message[]): string[] =>
  messages.filter(({ role }) => role === 'user' || role === 'assistant').map(words);

export function recordedLines(trace: string): Line[] {
  const lines = readFileSync(tracePath(trace), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .sort((a, b) => a.t - b.t);
  const exit = lines.findIndex(({ note }) => note?.startsWith('exit'));
  return exit < 0 ? lines : lines.slice(0, exit + 1);
}

/** The commands that a client sent in a recording and the agent knows, by type. */
export const recordedCommands = (trace: string): string[] => {
  const known = new Set<string>();
  const unknown = new Set<string>();
  for (const { dir, line, note } of recordedLines(trace)) {
    const record = note ? undefined : parsed(line);
    if (dir === 'in' && record) known.add(record.type);
    else if (/^Unknown command/.test(String(record?.error))) unknown.add(String(record?.command));
  }
  return [...known].filter((type) => !unknown.has(type));
};

const behaviour: Record<string, string> = { steer: 'steer', follow_up: 'followUp' };

/**
 * The product sends `steer` and `follow_up` as a prompt with `streamingBehavior`, which the agent treats alike and which cannot
 * come too late; the recording is told in these words.
 */
function asPrompt(record: AgentRecord): AgentRecord {
  const streamingBehavior = behaviour[record.type];
  return streamingBehavior ? { ...record, type: 'prompt', streamingBehavior } : record;
}

const reads = (lines: Line[]): { commands: object[] } => ({
  commands: [
    ...new Set(
      lines.flatMap(({ dir, line }) => {
        const record = dir === 'in' ? parsed(line) : undefined;
        const word = /^\/([^\s/]+)/.exec(String(record?.message ?? ''))?.[1];
        return word === undefined ? [] : [word];
      }),
    ),
  ].map((name) => ({ name, source: 'extension' })),
});

/** Reads a recording and prepares its agent. */
export function recording(trace: string): Recording {
  const lines = recordedLines(trace);
  const out: Line[] = [];
  const said = (t: number, command: string, data: unknown) =>
    out.push({
      t,
      dir: 'out',
      line: JSON.stringify({ type: 'response', command, success: true, data }),
    });
  said(-1, 'get_messages', { messages: [] });
  if (!lines.some(({ line }) => line.includes('"command":"get_commands"')))
    said(-1, 'get_commands', reads(lines));

  const actions: Action[] = [];
  const heard: Heard = {};
  const answered = new Set<string>();
  const changed = new Set<string>();
  const dialogs = new Map<string, { t: number; timeout?: number }>();
  let conversation: Message[] = [];
  let compacted = false;
  let running = false;
  let runs = 0;
  const over = () => {
    if (running) runs += 1;
    running = false;
  };
  let ends = true;

  for (const [at, entry] of lines.entries()) {
    const { t, dir, line, note } = entry;
    if (note?.startsWith('stdin closed')) ends = false;
    const record = note ? undefined : parsed(line);
    if (!record) {
      out.push(entry);
      continue;
    }
    if (dir === 'in') {
      const sent = asPrompt(record);
      if (sent !== record) changed.add(String(record.id));
      out.push({ ...entry, line: JSON.stringify(sent) });
      if (record.type === 'extension_ui_response') {
        const dialog = dialogs.get(String(record.id));
        const late = dialog?.timeout !== undefined && t - dialog.t >= dialog.timeout;
        if (!dialog || late) continue;
        dialogs.delete(String(record.id));
      }
      actions.push({ record, after: { ...heard }, answered: [...answered] });
      continue;
    }
    if (record.type === 'response') {
      const id = String(record.id);
      const spoken = changed.has(id) ? { ...record, command: 'prompt' } : record;
      if (record.id !== undefined) answered.add(id);
      const data = record.data as { messages?: Message[]; cancelled?: boolean } | undefined;
      // After a compaction it is what the model sees, not what was said.
      if (record.command === 'get_messages' && data?.messages && !compacted) conversation = data.messages;
      const replaced =
        record.success && !data?.cancelled && commandRow(String(record.command))?.after === 'replaced';
      if (replaced) {
        over();
        compacted = false;
        const next = nextMessages(lines.slice(at + 1));
        if (next) conversation = next;
        else if (record.command === 'new_session') conversation = [];
        // Said before the answer, after which the product reads at once.
        said(t, 'get_messages', { messages: conversation });
      }
      out.push(spoken === record ? entry : { ...entry, line: JSON.stringify(spoken) });
      continue;
    }
    out.push(entry);
    if (record.type === 'extension_ui_request')
      dialogs.set(String(record.id), { t, ...(record as { timeout?: number }) });
    if (record.type === 'agent_start') running = true;
    if (record.type === 'agent_settled') over();
    if (record.type === 'compaction_end' && record.result) compacted = true;
    const name = countedAs(record);
    if (name) heard[name] = (heard[name] ?? 0) + 1;
    if (record.type === 'message_end') {
      conversation = [...conversation, record.message as Message];
      said(t, 'get_messages', { messages: conversation });
    }
  }
  over();
  const path = join(folder, `${trace.replaceAll('/', '-')}.jsonl`);
  writeFileSync(
    path,
    inSeries(askedOnce(out))
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join(''),
  );
  return {
    choice: {
      command: process.execPath,
      args: [player, path, JSON.stringify({ client: 'bridge' })],
      env: {},
    },
    actions,
    heard,
    answered,
    // The oldest dialect does not say when a run is over.
    runs: trace.startsWith('pi-0.') ? undefined : runs,
    ends,
    conversation: talk(conversation),
  };
}

/** The conversation that is read before anything more is said. */
function nextMessages(lines: Line[]): Message[] | undefined {
  for (const { dir, line } of lines) {
    const record = dir === 'out' ? parsed(line) : undefined;
    if (record?.type === 'message_end') return undefined;
    if (record?.command === 'get_messages' && record.success)
      return (record.data as { messages: Message[] }).messages;
  }
  return undefined;
}

/** Whether the table knows this command and it works on the session. */
export const acts = (type: string): boolean => commandRow(type)?.kind !== 'read';
