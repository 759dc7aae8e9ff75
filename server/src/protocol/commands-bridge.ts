// Rows: what the bridge itself does. Guarantees and absences: see command-row.ts.
import * as z from 'zod';
import { row, text } from './command-row.ts';

const files = 'Prompt file and chat';
const bridge = 'The bridge';

export const bridgeRows = [
  row({
    name: 'compose',
    group: files,
    title: 'Write a prompt',
    doc: 'Opens the session’s prompt file. Saving it sends it, and then it is empty again; what was not taken stays in it.',
    kind: 'local',
    returns: '`{opens}`: the file.',
  }),
  row({
    name: 'open',
    group: files,
    title: 'Open the chat',
    doc: 'Opens the chat: the newest turns of the conversation as Markdown, and what comes while it is open. It is a document of this editor’s own; the whole conversation is in `chat.md` of the session’s folder.',
    kind: 'local',
    returns: '`{opens}`: the file.',
  }),
  row({
    name: 'older_turns',
    group: files,
    title: 'Show earlier turns',
    doc: 'Puts earlier turns in front of those that the open chat shows.',
    kind: 'local',
    returns: '`{opens}`: what is shown.',
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
    returns: '`{intent}`',
  }),
];
