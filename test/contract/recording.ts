// A recording as a client of the product would play it: what to send, after which facts, and what must have come of it. Guarantees:
// the agent's lines stay as recorded; only what is said to reads is completed from what was recorded. Must not know: the core.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandRow } from '../../server/src/protocol/commands.ts';
import type { AgentRecord, Message } from '../../server/src/protocol/records.ts';
import { tracePath } from '../support/replay.ts';

interface Line {
  t: number;
  dir: 'in' | 'out';
  line: string;
  note?: string;
}

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
  /** `agent_settled` as recorded; undefined where the dialect has none. */
  settled: number | undefined;
  /** Whether the agent ended by itself or was killed. */
  ends: boolean;
  /** Texts of the user and the assistant at the end. */
  conversation: string[];
}

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

const parsed = (line: string): AgentRecord | undefined => {
  try {
    const value = JSON.parse(line) as AgentRecord | null;
    return typeof value?.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

export function recordedLines(trace: string): Line[] {
  const lines = readFileSync(tracePath(trace), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .sort((a, b) => a.t - b.t);
  const exit = lines.findIndex(({ note }) => note?.startsWith('exit'));
  return exit < 0 ? lines : lines.slice(0, exit + 1);
}

/** The commands that a client sent, by type, in a recording. */
export const recordedCommands = (trace: string): string[] =>
  recordedLines(trace).flatMap(({ dir, line }) => {
    const record = dir === 'in' ? parsed(line) : undefined;
    return record ? [record.type] : [];
  });

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
  let settled: number | undefined;
  let ends = true;

  for (const entry of lines) {
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
      out.push(spoken === record ? entry : { ...entry, line: JSON.stringify(spoken) });
      if (record.id !== undefined) answered.add(id);
      const data = record.data as { messages?: Message[]; cancelled?: boolean } | undefined;
      if (record.command === 'get_messages' && data?.messages) conversation = data.messages;
      if (record.command === 'new_session' && record.success && !data?.cancelled) {
        conversation = [];
        said(t, 'get_messages', { messages: conversation });
      }
      continue;
    }
    out.push(entry);
    if (record.type === 'extension_ui_request')
      dialogs.set(String(record.id), { t, ...(record as { timeout?: number }) });
    if (record.type === 'agent_settled') settled = (settled ?? 0) + 1;
    const name = countedAs(record);
    if (name) heard[name] = (heard[name] ?? 0) + 1;
    if (record.type === 'message_end') {
      conversation = [...conversation, record.message as Message];
      said(t, 'get_messages', { messages: conversation });
    }
  }
  const path = join(folder, `${trace.replaceAll('/', '-')}.jsonl`);
  writeFileSync(path, out.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  return {
    choice: {
      command: process.execPath,
      args: [player, path, JSON.stringify({ client: 'bridge' })],
      env: {},
    },
    actions,
    heard,
    answered,
    settled,
    ends,
    conversation: talk(conversation),
  };
}

/** Whether the table knows this command and it works on the session. */
export const acts = (type: string): boolean => commandRow(type)?.kind !== 'read';
