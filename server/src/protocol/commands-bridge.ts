// Rows: what the bridge itself does. Guarantees and absences: see command-row.ts.
import * as z from 'zod';
import { type Ask, type Params, range, row, short, text } from './command-row.ts';

const files = 'Prompt file and chat';
const code = 'From code';
const bridge = 'The bridge';
const several = 'Several sessions at once';
const folder = z.string().optional();

/** `review · My Projekt · in Helix, working`, as a choice. */
const label = ({ name, workspace, current, editors, busy, dialogs, sessionName }: Params): string => {
  const doing = current
    ? 'here'
    : dialogs > 0
      ? 'asks something'
      : busy
        ? 'working'
        : editors?.length > 0
          ? `in ${editors.join(', ')}`
          : 'at rest';
  return [name, sessionName, String(workspace).split(/[\\/]/).at(-1), doing].filter(Boolean).join(' · ');
};
const asked: Ask = {
  with: 'pick',
  title: 'Session',
  from: 'list_tabs',
  list: 'sessions',
  label,
  take: ({ name, workspace }) => ({ session: name, workspace }),
  empty: 'There is no session yet.',
};

const uri = z.string().optional();

export const bridgeRows = [
  row({
    name: 'compose',
    group: files,
    title: 'Write a prompt',
    doc: 'Opens the session’s prompt file. Saving it sends it, and then it is empty again; what was not taken stays in it.',
    kind: 'local',
    action: 'always',
    returns: '`{opens}`: the file.',
  }),
  row({
    name: 'history',
    group: files,
    title: 'Take an earlier prompt',
    doc: 'Puts a prompt that was sent before into the prompt file, below what stands there, and opens it. Nothing is sent.',
    params: { text },
    bare: (given) => ({ text: given }),
    kind: 'local',
    ask: {
      with: 'pick',
      title: 'Earlier prompt',
      from: 'list_history',
      list: 'prompts',
      label: (prompt) => short(prompt.text),
      take: (prompt) => ({ text: prompt.text }),
      empty: 'No prompt of this session was taken yet.',
    },
    returns: '`{opens}`: the file.',
    example: { text: 'Now write a test for it.' },
  }),
  row({
    name: 'list_history',
    group: files,
    title: 'List earlier prompts',
    doc: 'Prompts of this session that the agent took, as they were written, the newest first and each text once. They outlive agent and hub.',
    params: { limit: z.int().min(1).max(500).default(20) },
    bare: (limit) => ({ limit: Number(limit) }),
    kind: 'read',
    returns: '`{prompts: [{text, at}]}`; `at` in milliseconds since the epoch, 0 where it is not known.',
    example: { limit: 100 },
  }),
  row({
    name: 'open',
    group: files,
    title: 'Open the chat',
    doc: 'Opens the chat: the newest turns of the conversation as Markdown, and what comes while it is open. It is a document of this editor’s own; the whole conversation is in `chat.md` of the session’s folder.',
    kind: 'local',
    action: 'always',
    returns: '`{opens}`: the file.',
  }),
  row({
    name: 'older_turns',
    group: files,
    title: 'Show earlier turns',
    doc: 'Puts earlier turns in front of those that the open chat shows. Where it is not open it is opened.',
    kind: 'local',
    returns: '`{opens}`: what is shown.',
  }),
  row({
    name: 'open_answer',
    group: files,
    title: 'Open an answer alone',
    doc: 'Opens what the agent said, without tools and thinking, as a document of its own to copy from. `uri` and `line` name a place in an open chat, whose turn is meant; without them the newest answer is.',
    params: { uri, line: z.int().min(0).optional() },
    bare: (given) => ({ uri: given }),
    kind: 'local',
    returns: '`{opens}`: the file.',
    example: {},
  }),
  row({
    name: 'list_tabs',
    group: several,
    title: 'List the sessions side by side',
    doc: 'The sessions that this editor follows, and the others of its folders: those that run, and those that a hub remembers. Earlier conversations within one session are `list_sessions`.',
    kind: 'read',
    here: true,
    returns:
      '`{tabs, sessions}`. A tab is `{session, name, workspace, current, connected, busy, dialogs, title?, sessionName?}`; `session` is its id in this editor. A session is `{name, workspace, current, session?, running, busy, dialogs, editors, sessionName?, updated?}`; `session` is there when this editor follows it, `editors` are the names of those who watch it.',
  }),
  row({
    name: 'new_tab',
    group: several,
    title: 'New session beside this one',
    doc: 'Joins the session of this name in the folder, or begins it, and makes it the current one; the others go on. Without a name a new one is found.',
    params: { name: text.optional(), workspace: folder },
    bare: (name) => ({ name }),
    kind: 'local',
    returns: '`{session, name, workspace}`: its id in this editor, its name and folder.',
    example: { name: 'review' },
  }),
  row({
    name: 'attach_session',
    group: several,
    title: 'Go to another session',
    doc: 'Makes another session of this folder, or of `workspace`, the current one, and follows it if need be. One that nobody knows is refused; `new_tab` begins one.',
    params: { session: text, workspace: folder },
    bare: (session) => ({ session }),
    kind: 'local',
    ask: asked,
    returns: '`{session, name, workspace}`, as above.',
    example: { session: 'review' },
  }),
  row({
    name: 'sessions',
    group: several,
    title: 'Choose a session',
    doc: 'Shows the sessions of the editor’s folders and goes to the one that is chosen.',
    params: { session: text, workspace: folder },
    bare: (session) => ({ session }),
    kind: 'local',
    action: 'always',
    ask: asked,
    alias: { of: 'attach_session', params: {} },
    returns: '`{session, name, workspace}`, as above.',
    example: { session: 'review' },
  }),
  row({
    name: 'close_tab',
    group: several,
    title: 'Leave a session',
    doc: 'This editor follows the session no longer; the session goes on in the hub. Without a name the current one is left.',
    params: { session: text.optional(), workspace: folder },
    bare: (session) => ({ session }),
    kind: 'local',
    returns: '`{session, name, workspace}` of the session that is current now.',
  }),
  row({
    name: 'ask',
    group: code,
    title: 'Ask about code',
    doc: 'With `question`, sends it with the lines of the document below, as the editor has them now. Without, opens the prompt file with a reference to them in it. `command` is one of the agent’s prompt templates or skills, which gets the lines. `range` is LSP’s and means whole lines; without it the whole document.',
    params: { uri, range: range.optional(), question: text.optional(), command: text.optional() },
    bare: (question) => ({ question }),
    kind: 'local',
    ask: { with: 'compose' },
    returns: '`{}`; what follows is seen in the session.',
    example: {
      uri: 'file:///home/me/a.ts',
      range: { start: { line: 11, character: 0 }, end: { line: 19, character: 3 } },
      question: 'What is this for?',
    },
  }),
  row({
    name: 'add_to_prompt',
    group: code,
    title: 'Add to the prompt',
    doc: 'Puts a text, or a reference to lines of a document, at the end of the prompt file, below what you have written there. Nothing is sent.',
    params: { uri, range: range.optional(), text: text.optional() },
    bare: (text) => ({ text }),
    kind: 'local',
    ask: { with: 'text', title: 'Add to the prompt', param: 'text' },
    returns: '`{}`',
    example: { text: 'See also the tests.' },
  }),
  row({
    name: 'rpc',
    group: bridge,
    title: 'Send a raw command',
    doc: 'Sends a command object as it is, for what is newer than this bridge. A command that the table knows is treated as its row says.',
    params: { command: z.looseObject({ type: text }) },
    bare: (json) => {
      try {
        return { command: JSON.parse(json) };
      } catch {
        return { command: { type: json } };
      }
    },
    kind: 'act',
    ask: {
      with: 'text',
      title: 'Command for the agent, as JSON',
      param: 'command',
      placeholder: '{"type":"get_state"}',
    },
    told: (data) => (Object.keys(data).length > 0 ? `The agent’s answer: ${JSON.stringify(data)}` : 'Done.'),
    returns: 'The data of a reading command; otherwise `{intent}`, whose outcome holds the agent’s data.',
    example: { command: { type: 'get_state' } },
  }),
  row({
    name: 'restart_agent',
    group: bridge,
    title: 'Restart the agent',
    doc: 'Stops the agent process and starts it again with its session.',
    kind: 'act',
    lane: 'free',
    told: () => 'The agent was started again.',
    returns: '`{intent}`',
  }),
];
