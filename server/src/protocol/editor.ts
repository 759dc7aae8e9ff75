// What a rich client and the language server say to each other beyond LSP, and the settings every editor can give.
// Guarantees: definitions only; the contract is docs/protocol.md, generated from here. Must not know: the hub's socket.
import * as z from 'zod';
import type { Dialog } from './facts.ts';
import { agentChoice, cursor, restart, startOptions, whileBusy } from './hub.ts';
import type { Snapshot } from './snapshot.ts';

/** Settings by `initializationOptions` or `workspace/didChangeConfiguration` (there under the key `atomic`). */
export const settings = z.strictObject({
  agent: agentChoice
    .optional()
    .describe('The agent program: `{command, args?, env?}`. `--mode rpc` is appended.'),
  start: startOptions.optional().describe('Start options of the agent.'),
  whileBusy: whileBusy.default('steer').describe('What a prompt becomes while a run is going on.'),
  restart: restart
    .default('onPrompt')
    .describe(
      'When an agent that ended by itself is started again with its conversation: with the next prompt, or at once. Either way it is left alone after three ends within a minute.',
    ),
  session: z
    .string()
    .optional()
    .describe('Name of the session to join; absent: the one all editors of the workspace share.'),
  hub: z.boolean().default(true).describe('false: everything in this process, nothing shared.'),
  client: z
    .strictObject({
      name: z.string(),
      version: z.string().optional(),
      events: z.boolean().default(false).describe('Send `atomic/events`.'),
      dialogs: z.boolean().default(false).describe('Send `atomic/dialog`.'),
      flushesPerSecond: z
        .int()
        .min(1)
        .max(240)
        .optional()
        .describe('Upper bound of `atomic/events` a second.'),
    })
    .optional()
    .describe('Opt-in of a rich client.'),
});
export type Settings = z.infer<typeof settings> & {
  /** The setting `agent` is wrong, as the sentence says: no other program may be taken for the one that was meant. */
  agentRefused?: string;
};

/** `atomic/attach`: request of a rich client. */
export const editorAttachParams = z.strictObject({
  session: z.string().optional(),
  workspace: z.string().optional(),
  cursor: cursor.optional(),
  current: z.boolean().optional(),
});
export interface EditorAttachResult {
  session: string;
  epoch: string;
  seq: number;
  snapshot?: Snapshot;
}

/** `atomic/intent`: request of a rich client; answered when the hub has accepted the intent. */
export const editorIntentParams = z.strictObject({
  id: z.string().min(1),
  session: z.string().optional(),
  command: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** `atomic/detach`: request of a rich client; answered with null. */
export const editorDetachParams = z.strictObject({ session: z.string() });

/** `atomic/read`: request of a rich client; answered with the data. */
export const editorReadParams = z.strictObject({
  session: z.string().optional(),
  command: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** A session that an editor follows. */
export interface TabInfo {
  /** Its id in this editor. */
  session: string;
  name: string;
  workspace: string;
  /** The one that is meant when nothing says so. */
  current: boolean;
  connected: boolean;
  busy: boolean;
  /** Open questions. */
  dialogs: number;
  title?: string;
  sessionName?: string;
}
/** `atomic/tabs`: notification. */
export interface EditorTabs {
  tabs: TabInfo[];
}

/**
 * `atomic/dialog`: request to the client; cancelled when the dialog was settled elsewhere. Answered with a `DialogAnswer`, or null:
 * postponed, ask me again later or elsewhere.
 */
export interface EditorDialogParams {
  session: string;
  dialog: Dialog;
}

export const editorMethods = {
  attach: 'atomic/attach',
  detach: 'atomic/detach',
  intent: 'atomic/intent',
  read: 'atomic/read',
  tabs: 'atomic/tabs',
  events: 'atomic/events',
  resync: 'atomic/resync',
  dialog: 'atomic/dialog',
} as const;

const place = z.looseObject({ line: z.number().int().min(0), character: z.number().int().min(0) });
const span = z.looseObject({ start: place, end: place });
/** What a question about a document must have (LSP: `TextDocumentPositionParams` and the like); the rest is left to features. */
export const documentQuestion = z.looseObject({
  textDocument: z.looseObject({ uri: z.string() }),
  position: place.optional(),
  range: span.optional(),
});
/** Those that are about a position, or about a range. */
export const positionQuestion = documentQuestion.required({ position: true });
export const rangeQuestion = documentQuestion.required({ range: true });
/** For code actions (LSP: `CodeActionParams`). */
export const actionQuestion = rangeQuestion.extend({
  context: z.looseObject({ diagnostics: z.array(z.looseObject({ range: span, message: z.string() })) }),
});
/** LSP: `ExecuteCommandParams`. */
export const executeParams = z.looseObject({
  command: z.string(),
  arguments: z.array(z.unknown()).nullish(),
});
