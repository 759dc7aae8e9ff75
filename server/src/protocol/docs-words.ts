// The words of the reference pages for what only exists as types. Guarantees: complete, since a fact, a field or an error without
// words does not compile. Nothing at run time imports this. Must not know: how pages look (docs.ts).
import type { ErrorName } from './errors.ts';
import type { FactOf, FactType } from './facts.ts';
import type { AgentChoice, StartOptions } from './hub.ts';
import type { Snapshot } from './snapshot.ts';

type NamedKeys<T> = keyof {
  [K in keyof T as string extends K ? never : number extends K ? never : K]: unknown;
};
type Fields<T extends FactType> = Record<
  Exclude<T extends T ? NamedKeys<FactOf<T>> : never, 'type' | 'at'>,
  string
>;

/** What each fact says, and each of its fields besides `type` and `at`. */
export const factWords: { [T in FactType]: [meaning: string, fields: Fields<T>] } = {
  agent_start: ['The agent began to work.', {}],
  agent_end: [
    'It stopped; the run is not over before `agent_settled`.',
    { willRetry: 'boolean, optional: it will try again' },
  ],
  agent_settled: [
    'The run is over: nothing more comes of it. Exactly one a run.',
    {
      outcome: '`{stopReason, errorMessage?}` of the last assistant message',
      aborted: 'boolean, optional: somebody stopped it',
    },
  ],
  turn_start: ['One call of the model, with its tools, began.', {}],
  turn_end: ['It ended.', {}],
  message_start: ['A message began. Blocks of an assistant message start empty.', { message: 'the message' }],
  message_update: [
    'A piece of the message in flight; never the text so far.',
    {
      assistantMessageEvent:
        '`{type, contentIndex, …}`: `text_start`, `text_delta {delta}`, `text_end {content?}`, the same for `thinking`, `toolcall_start {id?, toolName?}`, `toolcall_delta {delta}`, `toolcall_end {toolCall}`. `content` comes only where the block differs from the sum of its deltas',
    },
  ],
  message_end: [
    'The message as it stands; replaces what was streamed.',
    {
      message:
        'the message. A block of text or thinking that is exactly what was streamed bears `streamed: true` in place of its `text` or `thinking`: it is that of the block in flight at the same index',
    },
  ],
  tool_execution_start: [
    'A tool began to run.',
    { toolCallId: 'string', toolName: 'string', args: 'the arguments' },
  ],
  tool_execution_update: [
    'Its output grew.',
    { toolCallId: 'string', delta: 'the added text', reset: '`true`: the output begins anew' },
  ],
  tool_execution_end: [
    'The tool ended.',
    {
      toolCallId: 'string',
      toolName: 'string',
      result: '`{content, details?, isError?}`',
      isError: 'boolean: it failed',
      durationMs: 'milliseconds, optional',
    },
  ],
  bash_execution_update: [
    'Output of a shell command that a person ran.',
    { id: 'the command’s id', delta: 'the added text', channel: '`stdout` or `stderr`, optional' },
  ],
  queue_update: [
    'What is queued now, completely.',
    { steering: 'texts for the running turn', followUp: 'texts for after the run' },
  ],
  entry_appended: ['An extension added an entry to the session.', { entry: 'the entry' }],
  session_info_changed: ['The session’s name changed.', { name: 'string, optional' }],
  thinking_level_changed: ['The thinking level changed.', { level: 'string' }],
  model_changed: [
    'The model changed.',
    { model: 'the model', source: '`set`, `cycle`, `restore`, `fallback`' },
  ],
  context_window_changed: ['The context window changed.', { contextWindow: 'tokens' }],
  compaction_start: ['The conversation is being shortened.', { reason: '`manual`, `threshold`, `overflow`' }],
  compaction_end: [
    'That ended. May come without a start.',
    {
      reason: 'as above',
      aborted: 'boolean, optional',
      willRetry: 'boolean, optional; a hint, no promise',
      errorMessage: 'string, optional; may stand beside a result',
      result: 'what the agent says of it, optional',
    },
  ],
  auto_retry_start: [
    'The model call failed and is tried again after a wait.',
    { attempt: 'from 1', maxAttempts: 'number', delayMs: 'milliseconds', errorMessage: 'string, optional' },
  ],
  auto_retry_end: [
    'The retries ended.',
    { success: 'boolean', attempt: 'number, optional', finalError: 'string, optional' },
  ],
  summarization_retry_scheduled: [
    'A call that summarizes failed and is tried again after a wait.',
    { attempt: 'from 1', maxAttempts: 'number', delayMs: 'milliseconds', errorMessage: 'string, optional' },
  ],
  summarization_retry_attempt_start: [
    'That attempt began.',
    { source: '`compaction` or `branchSummary`, optional', reason: 'string, optional' },
  ],
  summarization_retry_finished: ['Those retries ended.', {}],
  extension_error: [
    'An extension of the agent failed.',
    { extensionPath: 'string, optional', event: 'string, optional', error: 'string' },
  ],
  extension_ui_request: [
    'Something to show that needs no answer: `notify`, `setStatus`, `setWidget`, `setTitle`, `set_editor_text`, `oauth_*`.',
    { method: 'which of them', id: 'string, optional' },
  ],
  unknown_event: ['An event that is newer than this bridge.', { event: 'the event, whole' }],
  agent_started: [
    'The agent process was started.',
    {
      agent: '`{command, name, demo}`',
      pid: 'number, optional',
      resumed: 'session file that it continues, optional',
    },
  ],
  agent_exited: [
    'It ended.',
    {
      code: 'exit code or null',
      signal: 'signal name or null',
      expected: 'boolean: we stopped it',
      message: 'one sentence: what happened, what to do',
    },
  ],
  state_changed: [
    'State was read from the agent.',
    { state: 'only the fields that changed', removed: 'names of fields that are gone' },
  ],
  session_replaced: [
    'The conversation is another one: forget messages, queue, tools, usage.',
    {
      state: 'its state',
      messages: 'its newest messages',
      olderMessages: 'how many there are besides',
      reason: 'which command did it',
      statuses: 'status entries that belong to it already',
      widgets: 'widgets that belong to it already',
      title: 'the title that it has already',
    },
  ],
  command_unavailable: ['The agent said that it does not know this command.', { command: 'RPC name' }],
  intent_accepted: [
    'Somebody wants something.',
    {
      intent: 'its id',
      command: 'name',
      origin: '`{id, name}`, optional',
      text: 'the prompt as the person wrote it, or the shell command; optional',
    },
  ],
  intent_settled: [
    'What came of it.',
    {
      intent: 'its id',
      command: 'name',
      outcome: '`done`, `refused` (the agent said no), `failed` (the bridge could not), `unknown`',
      error: 'one sentence, optional',
      data: 'the answer’s data, optional',
    },
  ],
  dialog_opened: ['The agent asks something.', { dialog: 'the question, see below' }],
  dialog_offered: [
    'Everybody is asked now: whoever led to the question has gone, or did not answer for a while.',
    { id: 'the question' },
  ],
  dialog_settled: [
    'The question is over: close it.',
    {
      id: 'the question’s id',
      outcome: '`answered`, `cancelled`, `expired`, `withdrawn`',
      by: 'who, optional',
      answer: 'in words, optional; never of a secret question',
    },
  ],
  queue_returned: [
    'A stop took queued texts back.',
    { texts: 'the texts', origin: 'who stopped; the texts are for that editor' },
  ],
  file_touched: [
    'A tool wrote a file.',
    { path: 'absolute path', toolName: 'string', toolCallId: 'string, optional' },
  ],
  notice: [
    'A sentence of the bridge for the person.',
    { level: '`info`, `warning`, `error`', message: 'text' },
  ],
};

/** What each field of a snapshot holds. */
export const snapshotWords: Record<keyof Snapshot, string> = {
  agent:
    '`{status, identity?, pid?, exit?, unavailable}`; `status` is `absent`, `running` or `exited`, `unavailable` the RPC commands it does not know',
  state: 'The agent’s own state (`get_state`); every field may be absent',
  messages: 'The newest messages, oldest first',
  olderMessages: 'How many older ones the agent has besides',
  message:
    'The message in flight, or null: `{role, startedAt, blocks: [{kind, text, id?, toolName?, done}]}`; a `toolcall` block’s text is raw JSON until it is done',
  tools:
    'Tool calls of the run by id, in the order they started: `{toolCallId, toolName, args, status, output, startedAt, endedAt?, result?}`; `output` is a tail',
  bash: 'Shell commands that run, by id: `{id, command?, output}`',
  run: 'The run that is going on, or null: `{startedAt, turns, origin?}`',
  lastRun: 'How the last one ended, or null: `{stopReason, errorMessage?, endedAt}`',
  queue: '`{steering, followUp}`: queued texts',
  compaction: 'The compaction that is going on, or null: `{reason?, since}`',
  retry: 'The retry that is waited for, or null: `{attempt, maxAttempts, delayMs, errorMessage?, since}`',
  summarization: 'The same for a call that summarizes, or null: `{attempt?, maxAttempts?}`',
  statuses: 'Status entries of extensions by key',
  widgets: 'Widgets of extensions by key: `{lines, placement}`',
  title: 'The title that an extension set, or null',
  dialogs: 'Open questions, oldest first',
  settledDialogs: 'Questions that ended lately: `{id, outcome, by?}`',
  intents: 'Intents of late: `{intent, command, origin?, outcome, error?}`',
  files: 'Paths that tools wrote in this session',
  usage: '`{input, output, cacheRead, cacheWrite, cost}` of the messages so far',
};

/** When each error is met. */
export const errorWords: Record<ErrorName, string> = {
  AgentNotFound: 'The chosen agent program is not there or cannot be run.',
  AgentStartFailed: 'The agent ended before it answered anything; the sentence holds its last words.',
  AgentGone: 'The agent ended while something was waiting for it.',
  AgentRefused: 'The agent answered no; the sentence is its own.',
  CommandUnavailable: 'This agent does not know the command.',
  BadArguments: 'The arguments do not fit the command; the sentence shows an example.',
  UnknownCommand: 'Nobody knows such a command.',
  EmptyPrompt: 'A prompt without text or images.',
  NoSuchDialog: 'The question was answered, withdrawn or timed out, or there was none.',
  NoSuchSession: 'The hub does not know this session.',
  TimedOut: 'A read did not come back in 30 seconds.',
  OutcomeUnknown: 'Hub or agent died in between: whether it was done is not known.',
  HubUnreachable: 'The hub could not be reached or started.',
  SocketRefused: 'The place of the hub’s socket is not safe, not ours or too long.',
  VersionSkew: 'Hub and server are of versions that cannot work together.',
  BadSetting: 'A setting has a wrong key or value.',
  FileFailed: 'A file of the bridge could not be read or written.',
  RevertRefused:
    'A change could not be taken back: it is not there any more, somebody else changed the same lines, or an editor has unsaved changes of the file.',
  NotReady: 'The request came before `initialize` or after `shutdown`.',
  Internal: 'A fault of the bridge itself; its log has the rest.',
};

/** Settings whose definition the hub shares, and what a client says of itself. */
export const settingWords: Record<
  `agent.${keyof AgentChoice}` | `start.${keyof StartOptions}` | `client.${'name' | 'version'}`,
  string
> = {
  'agent.command': 'A program on `PATH`, or its path. No shell reads it.',
  'agent.args': 'Its own arguments.',
  'agent.env': 'Variables added to its environment.',
  'start.provider': '`--provider`; applied again whenever the agent changes its session.',
  'start.model': '`--model`; the same.',
  'start.name': '`--name`: the session’s name.',
  'start.sessionDir': '`--session-dir`: where sessions are stored.',
  'start.noSession': '`--no-session`: nothing is stored.',
  'start.contextWindow': '`--context-window`, for agents that have it.',
  'start.extensions': '`-e` for each.',
  'start.noExtensions': '`--no-extensions`',
  'start.projectTrust': '`--approve` or `--no-approve`: whether files of the project may extend the agent.',
  'start.storage': '`--storage`, for agents that have it.',
  'start.storageFile': '`--storage-file`, for agents that have it.',
  'start.continueLast': '`--continue`: go on with the newest session of the folder.',
  'client.name': 'What a person calls the client.',
  'client.version': 'Its version.',
};

/** Fields of the requests that a rich client sends. */
export const requestWords: Record<string, string> = {
  session:
    'The id of a session that the server follows, or (`atomic/attach`) a session’s name; absent: the current one.',
  workspace: 'Absolute path of the folder; absent: that of the current session.',
  current: 'true: it is the current session from now on.',
  cursor: 'Where the client stands, to continue without a snapshot.',
  'cursor.epoch': 'From an earlier answer or batch.',
  'cursor.seq': 'The last number that the client has seen.',
  id: 'Chosen by the client; the same id twice is the same intent.',
  command: 'Atomic’s name (`set_model`) or the LSP command (`atomic.setModel`).',
  params: 'The command’s parameters.',
};
