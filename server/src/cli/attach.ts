// A session followed in a terminal. Guarantees: only looks, starts no hub and no agent; ends with Ctrl-C or the hub. Must not
// know: how facts are shown (render.ts).
import path from 'node:path';
import type { Dialog } from '../protocol/facts.ts';
import type { Message } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { factLines } from './json.ts';
import { createRenderer, type Piece, textOf } from './render.ts';
import { exitCodes, jsonLine, line, type Terminal } from './terminal.ts';

export interface AttachOptions {
  json: boolean;
  /** How many of the last messages are shown first. */
  messages: number;
  session?: string;
  workspace?: string;
}

/** Follows the session; the exit code. Rejects with `HubUnreachable` when no hub runs. */
export async function runAttach(terminal: Terminal, options: AttachOptions): Promise<number> {
  const { output, error } = terminal;
  const { json } = options;
  const connection = await terminal.open('running');
  const { client } = connection;
  const render = createRenderer({ outTty: output.isTTY === true, errTty: error.isTTY === true, users: true });
  const show = (pieces: Piece[]) => {
    if (!json) for (const { to, text } of pieces) (to === 'out' ? output : error).write(text);
  };
  const early: (() => void)[] = [];
  let endInterrupts = () => {};
  let left = false;
  let ready = false;
  const inOrder = (run: () => void) => {
    if (ready) run();
    else early.push(run);
  };
  client.onFacts((batch) =>
    inOrder(() => {
      if (json) for (const it of factLines(batch)) jsonLine(output, it);
      for (const fact of batch.facts) {
        show(render.fact(fact));
        if (fact.type === 'dialog_opened') show(render.remark(questionText(fact.dialog)));
        if (fact.type === 'dialog_settled')
          show(
            render.remark(
              `(${fact.outcome}${fact.by ? ` in ${fact.by.name}` : ''}${fact.answer ? `: ${fact.answer}` : ''})`,
            ),
          );
        if (fact.type === 'agent_settled' && fact.outcome.stopReason === 'error')
          show(render.remark(`The run failed: ${fact.outcome.errorMessage ?? 'the agent did not say why'}`));
      }
    }),
  );
  client.onResync((resync) =>
    inOrder(() => {
      if (json) jsonLine(output, resync);
      else show(render.resync(resync.snapshot.message));
    }),
  );
  const ended = new Promise<number>((resolve) => {
    client.onClose(() => {
      if (!left) line(error, 'atomic-lsp: The hub has ended.');
      resolve(exitCodes.failed);
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
    const { epoch, seq, workspace } = attached;
    if (json) jsonLine(output, { epoch, seq, workspace, snapshot });
    else {
      show(render.remark(`Following ${workspace} (${options.session ?? 'default'}); Ctrl-C ends.`));
      for (const message of shownMessages(snapshot, options.messages)) {
        show(render.fact({ type: 'message_start', message }));
        show(render.fact({ type: 'message_end', message }));
      }
      show(render.resync(snapshot.message));
      for (const dialog of snapshot.dialogs) show(render.remark(questionText(dialog)));
    }
    ready = true;
    for (const run of early) run();
    return await ended;
  } finally {
    left = true;
    endInterrupts();
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

/** A question as it is shown to whoever only looks. */
export const questionText = ({ title, message, options }: Dialog): string =>
  [
    `? ${title}${message ? ` ${message}` : ''}`,
    ...(options ?? []).map((label, at) => `  ${at + 1}) ${label}`),
    '  (answer it in an editor)',
  ].join('\n');
