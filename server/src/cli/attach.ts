// A session followed in a terminal. Guarantees: starts no hub and no agent; on a terminal its questions can be answered, those that
// another led to only when everybody is asked; ends with Ctrl-C or the hub. Must not know: how facts are shown (render.ts).
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Dialog, FactOf } from '../protocol/facts.ts';
import { defaultSession } from '../protocol/hub.ts';
import type { Message } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { foldedWhole } from '../session/fold.ts';
import { createAsker } from './ask.ts';
import { factLines } from './json.ts';
import { createRenderer, type Piece, textOf } from './render.ts';
import { exitCodes, jsonLine, line, type Terminal } from './terminal.ts';

type DialogSettled = FactOf<'dialog_settled'>;

export interface AttachOptions {
  json: boolean;
  /** How many of the last messages are shown first. */
  messages: number;
  session?: string;
  workspace?: string;
}

/** Follows the session; the exit code. Rejects with `HubUnreachable` when no hub runs. */
export async function runAttach(terminal: Terminal, options: AttachOptions): Promise<number> {
  const { input, output, error } = terminal;
  const { json } = options;
  const connection = await terminal.open('running');
  const { client } = connection;
  const render = createRenderer({ outTty: output.isTTY === true, errTty: error.isTTY === true, users: true });
  const show = (pieces: Piece[]) => {
    if (!json) for (const { to, text } of pieces) (to === 'out' ? output : error).write(text);
  };
  const open = new Map<string, Dialog>();
  let session = '';
  const asker = createAsker({
    input,
    error,
    interrupt: () => leave(exitCodes.done),
    before: () => show(render.end()),
    answer: (dialog, answer) =>
      void client
        .intent({ session, id: randomUUID(), command: 'answer', params: { dialog: dialog.id, ...answer } })
        .catch((reason: unknown) =>
          show(render.remark(reason instanceof Error ? reason.message : String(reason))),
        ),
  });
  const question = (dialog: Dialog) => {
    const known = open.has(dialog.id);
    open.set(dialog.id, dialog);
    if (json) return;
    const { origin, offered } = dialog;
    const here = input.isTTY === true && error.isTTY === true;
    if (here && (origin === undefined || offered)) asker.open(dialog);
    else if (!known)
      show(
        render.remark(
          questionText(dialog, here && origin ? `${origin.name} is asked first` : 'answer it in an editor'),
        ),
      );
  };
  const settled = ({ id, outcome, by, answer }: Pick<DialogSettled, 'id' | 'outcome' | 'by' | 'answer'>) => {
    open.delete(id);
    if (by?.id === client.origin.id) return;
    const how = `(${outcome}${by ? ` in ${by.name}` : ''}${answer ? `: ${answer}` : ''})`;
    if (!asker.close(id, how)) show(render.remark(how));
  };
  const early: (() => void)[] = [];
  let endInterrupts = () => {};
  let left = false;
  let ready = false;
  const inOrder = (run: () => void) => {
    if (ready) run();
    else early.push(run);
  };
  let now: Snapshot;
  client.onFacts((told) =>
    inOrder(() => {
      const whole = foldedWhole(now, told.facts);
      now = whole.snapshot;
      const batch = { ...told, facts: whole.facts };
      if (json) for (const it of factLines(batch)) jsonLine(output, it);
      for (const fact of batch.facts) {
        show(render.fact(fact));
        if (fact.type === 'dialog_opened') question(fact.dialog);
        if (fact.type === 'dialog_offered') {
          const dialog = open.get(fact.id);
          if (dialog) question({ ...dialog, offered: true });
        }
        if (fact.type === 'dialog_settled') settled(fact);
        if (fact.type === 'agent_settled' && fact.outcome.stopReason === 'error')
          show(render.remark(`The run failed: ${fact.outcome.errorMessage ?? 'the agent did not say why'}`));
      }
    }),
  );
  client.onResync((resync) =>
    inOrder(() => {
      now = resync.snapshot;
      if (json) jsonLine(output, resync);
      else show(render.resync(resync.snapshot.message));
      const { dialogs } = resync.snapshot;
      for (const id of [...open.keys()])
        if (!dialogs.some((dialog) => dialog.id === id)) settled({ id, outcome: 'withdrawn' });
      for (const dialog of dialogs) if (!open.has(dialog.id)) question(dialog);
    }),
  );
  let leave = (_: number) => {};
  const ended = new Promise<number>((resolve) => {
    leave = resolve;
    client.onClose((stopped) => {
      if (!left) line(error, `atomic-lsp: The hub ${stopped ? 'was stopped' : 'has ended'}.`);
      resolve(stopped ? exitCodes.done : exitCodes.failed);
    });
    output.once('error', () => resolve(exitCodes.brokenPipe));
    endInterrupts = terminal.onInterrupt(() => resolve(exitCodes.done));
  });
  try {
    const attached = await client.attach({
      workspace: path.resolve(terminal.cwd, options.workspace ?? '.'),
      ...(options.session !== undefined && { session: options.session }),
    });
    const snapshot = attached.snapshot as Snapshot;
    now = snapshot;
    const { epoch, seq, workspace } = attached;
    if (json) jsonLine(output, { epoch, seq, workspace, snapshot });
    else {
      show(render.remark(`Following ${workspace} (${options.session ?? defaultSession}); Ctrl-C ends.`));
      for (const message of shownMessages(snapshot, options.messages)) {
        show(render.fact({ type: 'message_start', message }));
        show(render.fact({ type: 'message_end', message }));
      }
      show(render.resync(snapshot.message));
    }
    session = attached.session;
    for (const dialog of snapshot.dialogs) question(dialog);
    ready = true;
    for (const run of early) run();
    return await ended;
  } finally {
    left = true;
    endInterrupts();
    asker.end();
    show(render.end());
    await connection.end();
  }
}

/** The last messages that people and the model said. */
const shownMessages = (snapshot: Snapshot, count: number): Message[] => {
  const said = snapshot.messages.filter(
    (message) => (message.role === 'user' || message.role === 'assistant') && textOf(message) !== '',
  );
  return said.slice(said.length - Math.min(count, said.length));
};

/** A question as it is shown to whoever is not asked; `hint` says who is. */
export const questionText = ({ title, message, options }: Dialog, hint: string): string =>
  [
    `? ${title}${message ? ` ${message}` : ''}`,
    ...(options ?? []).map((label, at) => `  ${at + 1}) ${label}`),
    `  (${hint})`,
  ].join('\n');
