// Rows: sessions and the tree of one. Guarantees and absences: see command-row.ts.
import * as z from 'zod';
import { type Params, row, short, text } from './command-row.ts';

const session = 'Sessions';
const tree = 'Session tree';

/** The newest first: that is what people go back to. */
const newestFirst =
  (name: string) =>
  (data: Params): unknown[] =>
    Array.isArray(data[name]) ? data[name].toReversed() : [];
/** `user: What is here?`, as a choice. */
const entryLabel = ({ type, id, message, summary, label, name }: Params): string => {
  const content = message?.content;
  const said = Array.isArray(content)
    ? content.map((block) => block?.text ?? block?.name ?? '').join(' ')
    : content;
  return `${message?.role ?? type}: ${short(said || summary || label || name || id)}`;
};
const unlessCancelled =
  (sentence: string) =>
  ({ cancelled }: Params): string =>
    cancelled === true ? 'An extension of the agent kept the session as it was.' : sentence;

export const sessionRows = [
  row({
    name: 'new_session',
    group: session,
    title: 'New session',
    doc: 'Starts a fresh conversation in the same agent.',
    params: { parentSession: z.string().optional() },
    kind: 'act',
    action: 'always',
    after: 'replaced',
    dialects: 'Y Y Y Y',
    told: unlessCancelled('A new conversation has begun.'),
    returns: '`{intent}`; its outcome holds `{cancelled}`.',
  }),
  row({
    name: 'switch_session',
    group: session,
    title: 'Open an earlier session',
    doc: 'Continues the conversation of a session file. A path that does not exist is refused, since the agent would make an empty session there.',
    params: { sessionPath: text },
    bare: (sessionPath) => ({ sessionPath }),
    kind: 'act',
    action: 'always',
    after: 'replaced',
    ask: {
      with: 'pick',
      title: 'Session',
      from: 'list_sessions',
      list: 'sessions',
      label: (item) => short(item.name ?? item.summary ?? item.firstMessage ?? item.id ?? item.path),
      take: (item) => ({ sessionPath: item.path }),
      empty: 'There is no earlier session of this folder.',
    },
    dialects: 'Y Y Y Y',
    told: unlessCancelled('The earlier conversation goes on.'),
    returns: '`{intent}`; its outcome holds `{cancelled}`.',
    example: { sessionPath: '/home/me/.atomic/agent/sessions/a.jsonl' },
  }),
  row({
    name: 'import_session',
    group: session,
    title: 'Import a session file',
    doc: 'Copies a session file into the agent’s store and opens it.',
    params: { inputPath: text, cwdOverride: z.string().optional() },
    bare: (inputPath) => ({ inputPath }),
    kind: 'act',
    after: 'replaced',
    ask: { with: 'text', title: 'Session file to import', param: 'inputPath' },
    dialects: '- y y -',
    told: unlessCancelled('The imported conversation goes on.'),
    returns: '`{intent}`; its outcome holds `{cancelled}`.',
    example: { inputPath: '/tmp/session.jsonl' },
  }),
  row({
    name: 'fork',
    group: session,
    title: 'Fork from a message',
    doc: 'Starts a new session that ends before one of your messages; the message’s text comes back for editing.',
    params: { entryId: text },
    bare: (entryId) => ({ entryId }),
    kind: 'act',
    action: 'always',
    after: 'replaced',
    ask: {
      with: 'pick',
      title: 'Fork before',
      from: 'get_fork_messages',
      list: newestFirst('messages'),
      label: (item) => short(item.text),
      take: (item) => ({ entryId: item.entryId }),
      empty: 'There is no message to fork from yet.',
    },
    dialects: 'Y Y Y Y',
    told: unlessCancelled('The conversation goes on from before that message.'),
    back: ({ text }) => text,
    returns: '`{intent}`; its outcome holds `{text, cancelled}`.',
    example: { entryId: 'abc12345' },
  }),
  row({
    name: 'clone',
    group: session,
    title: 'Clone the session',
    doc: 'Goes on in a copy of this conversation.',
    kind: 'act',
    after: 'replaced',
    dialects: 'Y Y Y Y',
    told: unlessCancelled('The conversation goes on in a copy.'),
    returns: '`{intent}`; its outcome holds `{cancelled}`.',
  }),
  row({
    name: 'set_session_name',
    group: session,
    title: 'Name the session',
    doc: 'Gives this session a name to find it by.',
    params: { name: text },
    bare: (name) => ({ name }),
    kind: 'act',
    after: 'state',
    ask: { with: 'text', title: 'Name of the session', param: 'name' },
    dialects: 'Y Y Y Y',
    told: (_, { name }) => `This session is called “${name}” now.`,
    returns: '`{intent}`',
    example: { name: 'parser rewrite' },
  }),
  row({
    name: 'export_html',
    group: session,
    title: 'Export as HTML',
    doc: 'Writes the session to an HTML file.',
    params: { outputPath: z.string().optional() },
    bare: (outputPath) => ({ outputPath }),
    kind: 'act',
    action: 'always',
    dialects: 'Y Y Y Y',
    told: ({ path }) => (path === undefined ? undefined : `Written to ${path}`),
    returns: '`{intent}`; its outcome holds `{path}`.',
  }),
  row({
    name: 'list_sessions',
    group: session,
    title: 'List sessions',
    doc: 'Earlier sessions of this folder, newest first. Where the agent has no such command the headers of its session files are read.',
    kind: 'read',
    dialects: '- - Y -',
    returns:
      '`{sessions}`, each with what is known of `path, id, cwd, name, modified, messageCount, firstMessage, summary`.',
  }),
  row({
    name: 'list_workflow_runs',
    group: session,
    title: 'List workflow runs',
    doc: 'Stored workflow runs of this agent’s store.',
    kind: 'read',
    dialects: '- - Y -',
    returns: '`{runs}`',
  }),
  row({
    name: 'get_fork_messages',
    group: tree,
    title: 'List messages to fork from',
    doc: 'Your messages on the active branch, oldest first.',
    kind: 'read',
    dialects: 'Y Y Y Y',
    returns: '`{messages: [{entryId, text}]}`',
  }),
  row({
    name: 'get_entries',
    group: tree,
    title: 'Read the entries',
    doc: 'Every entry of the session in append order, or those after `since`.',
    params: { since: z.string().optional() },
    bare: (since) => ({ since }),
    kind: 'read',
    dialects: 'Y Y Y Y',
    returns: '`{entries, leafId}`',
  }),
  row({
    name: 'get_tree',
    group: tree,
    title: 'Read the tree',
    doc: 'The session as a tree of entries.',
    kind: 'read',
    dialects: 'Y Y Y Y',
    returns: '`{tree, leafId}`',
  }),
  row({
    name: 'navigate_tree',
    group: tree,
    title: 'Go to an entry',
    doc: 'Moves to another branch of the same session.',
    params: {
      targetId: text,
      options: z
        .strictObject({
          summarize: z.boolean().optional(),
          customInstructions: z.string().optional(),
          replaceInstructions: z.boolean().optional(),
          label: z.string().optional(),
        })
        .optional(),
    },
    bare: (targetId) => ({ targetId }),
    kind: 'act',
    after: 'replaced',
    ask: {
      with: 'pick',
      title: 'Go to',
      from: 'get_entries',
      list: newestFirst('entries'),
      label: entryLabel,
      take: (entry) => ({ targetId: entry.id }),
      empty: 'The session has no entry yet.',
    },
    dialects: '- y y -',
    told: unlessCancelled('The conversation goes on from there.'),
    back: ({ editorText }) => editorText,
    returns: '`{intent}`; its outcome holds `{cancelled, editorText?}`.',
    example: { targetId: 'abc12345' },
  }),
  row({
    name: 'set_label',
    group: tree,
    title: 'Label an entry',
    doc: 'Sets or, without `label`, removes the label of an entry.',
    params: { entryId: text, label: z.string().optional() },
    bare: (entryId) => ({ entryId }),
    kind: 'act',
    ask: {
      with: 'pick',
      title: 'Label which entry?',
      from: 'get_entries',
      list: newestFirst('entries'),
      label: entryLabel,
      take: (entry) => ({ entryId: entry.id }),
      empty: 'The session has no entry yet.',
      next: () => ({
        with: 'text',
        title: 'Label for it (- takes a label away)',
        param: 'label',
        take: (label) => (label.trim() === '-' ? {} : { label: label.trim() }),
      }),
    },
    dialects: '- y y -',
    told: (_, { label }) => (label ? `The message is labelled “${label}” now.` : 'The label is gone.'),
    returns: '`{intent}`',
    example: { entryId: 'abc12345', label: 'works' },
  }),
];
