// One prompt from a terminal. Guarantees: the answer is on standard output and everything else on standard error; the exit
// code is the run's outcome; Ctrl-C stops the run, a second one leaves; a reader that went away ends it quietly. Must not
// know: how facts are shown (render.ts), when a prompt is over (waiting.ts).
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { HubClient } from '../hub/client.ts';
import type { Dialog, FactOf } from '../protocol/facts.ts';
import type { FactsBatch, StartOptions } from '../protocol/hub.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { foldedWhole } from '../session/fold.ts';
import { createAsker } from './ask.ts';
import { factLines } from './json.ts';
import { createRenderer, type Piece } from './render.ts';
import { exitCodes, jsonLine, line, type Terminal } from './terminal.ts';
import { createWaiting, type Ending, type Verdict } from './waiting.ts';

export interface PromptOptions {
  /** "-": standard input. */
  text: string;
  json: boolean;
  noHub: boolean;
  session?: string;
  workspace?: string;
  start: StartOptions;
}

/** Sends the prompt and follows its run; the exit code. Rejects with AtomicError when there is no hub or session. */
export async function runPrompt(terminal: Terminal, options: PromptOptions): Promise<number> {
  const text = options.text === '-' ? await everything(terminal.input) : options.text;
  if (text.trim() === '') {
    line(
      terminal.error,
      'atomic-lsp: the prompt is empty: give its text, or "-" to read it from standard input.',
    );
    return exitCodes.usage;
  }
  const left = new AbortController();
  const hard = new AbortController();
  let interrupted = 0;
  let stop: () => void = () => left.abort();
  const interrupt = () => {
    interrupted += 1;
    if (interrupted === 1) stop();
    else if (interrupted === 2) left.abort();
    else hard.abort();
  };
  const endInterrupts = terminal.onInterrupt(interrupt);
  const leaving = aborted(left.signal);
  try {
    const connecting = terminal.open(options.noHub ? 'private' : 'started');
    const connection = await Promise.race([connecting, leaving]);
    if ('code' in connection) {
      connecting.then(
        (late) => void late.end(),
        () => {},
      );
      return connection.code;
    }
    try {
      const followed = follow(terminal, options, text, connection.client, interrupt, (abort) => {
        stop = abort;
      });
      followed.catch(() => {});
      const ending = await Promise.race([followed, leaving]);
      if (ending.sentence && !interrupted) line(terminal.error, `atomic-lsp: ${ending.sentence}`);
      return interrupted ? exitCodes.interrupted : ending.code;
    } finally {
      // An agent of our own is waited for, unless the person insists.
      await Promise.race([connection.end(), options.noHub ? aborted(hard.signal) : leaving]);
    }
  } finally {
    endInterrupts();
  }
}

async function follow(
  terminal: Terminal,
  options: PromptOptions,
  text: string,
  client: HubClient,
  interrupt: () => void,
  onStop: (abort: () => void) => void,
): Promise<Ending> {
  const { input, output, error } = terminal;
  const { json } = options;
  const render = createRenderer({ outTty: output.isTTY === true, errTty: error.isTTY === true });
  const show = (pieces: Piece[]) => {
    for (const { to, text } of pieces) {
      if (to === 'err') error.write(text);
      else if (!json) output.write(text);
    }
  };
  const intent = randomUUID();
  const early: (() => void)[] = [];
  let session: string | undefined;
  let over: (ending: Ending) => void = () => {};
  const ended = new Promise<Ending>((resolve) => {
    over = resolve;
  });

  // What arrives before the answer to our attach waits for it.
  let batchSeen: (batch: FactsBatch) => void = (batch) => void early.push(() => batchSeen(batch));
  client.onFacts((batch) => batchSeen(batch));
  client.onClose(() => over({ code: exitCodes.failed, sentence: 'The hub has ended, and the run with it.' }));
  output.on('error', () => over({ code: exitCodes.brokenPipe }));

  const attached = await client.attach({
    workspace: path.resolve(terminal.cwd, options.workspace ?? '.'),
    ...(options.session !== undefined && { session: options.session }),
    ...(Object.keys(options.start).length > 0 && { start: options.start }),
  });
  session = attached.session;
  if (attached.note !== undefined) show(render.remark(attached.note));
  const snapshot = attached.snapshot as Snapshot;
  const waiting = createWaiting(intent, snapshot);
  const own = client.origin.id;
  const order = (command: string, params: Record<string, unknown>, id: string = randomUUID()) =>
    client.intent({ session: attached.session, id, command, params });
  const asker = createAsker({
    input,
    error,
    interrupt,
    before: () => show(render.end()),
    answer: (dialog, given) => void order('answer', { dialog: dialog.id, ...given }).catch(() => {}),
  });
  onStop(() => void order('abort', {}).catch(() => {}));

  const closed = new Set<string>();
  const question = async (dialog: Dialog) => {
    const { sessions } = await client.status();
    const watching = sessions.find((it) => it.session === session)?.editors ?? [];
    const others = watching.filter((it) => it.origin.id !== own);
    if (closed.has(dialog.id)) return;
    const theirs = others.some((it) => it.origin.id === dialog.origin?.id);
    if (!theirs && input.isTTY && error.isTTY) return asker.open(dialog);
    const title = JSON.stringify(dialog.title);
    if (others.length > 0) {
      const names = others.map((it) => it.origin.name).join(' or ');
      return show(render.remark(`The agent asks ${title}: answer it in ${names}.`));
    }
    show(
      render.remark(
        `The agent asks ${title}, and there is no terminal to answer in: it is refused. Use a terminal, or open the workspace in an editor.`,
      ),
    );
    await order('answer', { dialog: dialog.id, cancelled: true });
  };
  const settled = (fact: FactOf<'dialog_settled'>) => {
    closed.add(fact.id);
    if (fact.by?.id === own) return;
    const answer = fact.answer === undefined ? '' : `: ${fact.answer}`;
    asker.close(
      fact.id,
      fact.outcome === 'expired'
        ? 'The agent waited no longer.'
        : fact.by
          ? `Answered in ${fact.by.name}${answer}`
          : 'The agent took its question back.',
    );
  };

  let seq = attached.seq;
  /** What to ask once all facts up to a number were seen. */
  let decide: { from: number; streaming: boolean } | undefined;
  const judge = (verdict: Verdict) => {
    if (typeof verdict === 'object') over(verdict);
    if (verdict === 'ask') void askAgent().catch(() => over({ code: exitCodes.done }));
  };
  const askAgent = async () => {
    const state = (await client.read({ session: attached.session, command: 'get_state', params: {} })) as {
      isStreaming?: boolean;
    };
    const { sessions } = await client.status();
    const from = sessions.find((it) => it.session === session)?.seq ?? 0;
    decide = { from, streaming: state.isStreaming === true };
    decideNow();
  };
  const decideNow = () => {
    if (!decide || seq < decide.from) return;
    const { streaming } = decide;
    decide = undefined;
    judge(waiting.asked(streaming));
  };

  let now = snapshot;
  batchSeen = (told) => {
    const whole = foldedWhole(now, told.facts);
    now = whole.snapshot;
    const batch = { ...told, facts: whole.facts };
    if (json) for (const it of factLines(batch)) jsonLine(output, it);
    for (const fact of batch.facts) {
      if (!json) show(render.fact(fact));
      if (fact.type === 'dialog_opened') void question(fact.dialog).catch(() => {});
      if (fact.type === 'dialog_settled') settled(fact);
      judge(waiting.see(fact));
    }
    seq = batch.to;
    decideNow();
  };
  client.onResync((resync) => {
    seq = resync.seq;
    now = resync.snapshot;
    if (json) jsonLine(output, resync);
    else show(render.resync(resync.snapshot.message));
    const open = new Set(resync.snapshot.dialogs.map((dialog) => dialog.id));
    for (const dialog of resync.snapshot.settledDialogs)
      if (!open.has(dialog.id)) settled({ type: 'dialog_settled', ...dialog });
    for (const dialog of resync.snapshot.dialogs) void question(dialog).catch(() => {});
    judge(waiting.resync(resync.snapshot));
    decideNow();
  });
  for (const dialog of snapshot.dialogs) void question(dialog).catch(() => {});
  for (const run of early) run();
  if (snapshot.run && !json) show(render.remark('The agent is at work already: the prompt joins that run.'));
  await Promise.race([order('prompt', { message: text }, intent), ended]);
  try {
    return await ended;
  } finally {
    asker.end();
    show(render.end());
  }
}

const aborted = (signal: AbortSignal): Promise<Ending> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve({ code: exitCodes.interrupted }), { once: true }),
  );

/** All of a stream as text. */
async function everything(input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
