// Questions to the person. Guarantees: one at a time; each can be answered by commands, whatever the editor can show; a
// dismissal is no answer and leaves the question open; what was settled elsewhere is closed here; nothing is guessed.
// Must not know: commands, how an answer travels.

import { ErrorCodes, LSPErrorCodes } from 'vscode-languageserver';
import { type EditorDialogParams, editorMethods } from '../protocol/editor.ts';
import type { Dialog, DialogAnswer } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { fittingAnswer } from '../session/dialogs.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { announcement, choicesOf, chosen, given, questionLine } from './question.ts';

export interface Ask {
  /** The questions that are open now at the agent of this session. */
  update(session: string, snapshot: Snapshot): void;
  /** Asks for one of the labels; undefined when the person refuses. */
  choose(title: string, labels: readonly string[]): Promise<number | undefined>;
  /** Asks for text; undefined when the person refuses. */
  text(title: string, placeholder?: string): Promise<string | undefined>;
  /**
   * Where an answer goes that names a question, or none: 'done' when the question was ours and is settled now, otherwise
   * the agent's question and its session, as far as they are known. `session` is that of the person who answers, where it
   * matters. Throws `BadArguments` when the answer does not fit a question of ours.
   */
  route(
    dialog: string | undefined,
    answer: DialogAnswer,
    session?: string,
  ): 'done' | { dialog?: string; session?: string };
  /** The question that a file for its answer is opened for: the one named, or that which is being asked. */
  toWrite(dialog: string | undefined): ToWrite | undefined;
  isOpen(session: string, dialog: string): boolean;
  /** The question that is being asked: ours or the agent's. */
  asking(): Dialog | undefined;
  /** The questions of the session's agent are out of sight. */
  withdraw(session: string): void;
}

/** A question whose answer is written. */
export interface ToWrite {
  /** Of the server itself: the current one. */
  session: string;
  dialog: Dialog;
}

export interface AskParts {
  client: Client;
  clock: Clock;
  log: Log;
  /** The client shows questions itself. */
  rich(): boolean;
  /** The current session. */
  session(): string;
  /** What stands before a question of the session: empty where it is the current one. */
  before(session: string): string;
  isUs(origin: { id: string } | undefined): boolean;
  /** A question of the session was shown and not answered; `how` says how it can be. */
  stillOpen(session: string, dialog: Dialog, how: string): void;
  /** Answers a question of the session's agent. */
  answer(session: string, dialog: string, answer: DialogAnswer): Promise<void>;
}

interface Question {
  session: string;
  dialog: Dialog;
  /** Ours: called once, with undefined for a refusal. */
  settle?: (answer: DialogAnswer | undefined) => void;
  state: 'waiting' | 'shown' | 'postponed' | 'answered';
  seen: boolean;
  over: AbortController;
}

/** Milliseconds without an answer after which the other ways to answer are told, and the next question may come. */
const patience = 60_000;

export function createAsk(parts: AskParts): Ask {
  const { client, clock, log } = parts;
  let questions: Question[] = [];
  let count = 0;
  /** The editor said that it does not know message requests. */
  let unanswered = false;

  /**
   * The question of this id; without one that which is shown, or else the oldest. Where several fit, those of `session`, or
   * else of the current one, come first.
   */
  const current = (id: string | undefined, session?: string): Question | undefined => {
    const here = (list: Question[]) =>
      list.find((it) => it.session === (session ?? parts.session())) ?? list[0];
    const known =
      session === undefined ? questions : questions.filter((it) => it.settle || it.session === session);
    if (id !== undefined) return here(known.filter(({ dialog }) => dialog.id === id));
    const open = known.filter(({ state }) => state !== 'answered');
    return open.find(({ state }) => state === 'shown') ?? here(open);
  };
  const isOpen = (question: Question) => questions.includes(question);
  /** Whoever led to a question is asked first. */
  const isOurs = ({ origin, offered }: Dialog) => offered || origin === undefined || parts.isUs(origin);
  let announced: Question | undefined;
  const announce = (question: Question) => {
    const text = parts.before(question.session) + announcement(question.dialog);
    client.message('info', text, true);
    client.pin(text);
    announced = question;
  };
  const taken = (question: Question) => {
    if (announced !== question) return;
    announced = undefined;
    client.pin(undefined);
  };
  const postpone = (question: Question) => {
    if (!isOpen(question) || question.state !== 'shown') return;
    question.state = 'postponed';
    if (!parts.rich()) {
      announce(question);
      if (!question.settle) parts.stillOpen(question.session, question.dialog, announcement(question.dialog));
    }
    next();
  };
  const deliver = (question: Question, answer: DialogAnswer) => {
    if (!isOpen(question) || question.state === 'answered') return;
    question.state = 'answered';
    taken(question);
    if (question.settle) {
      remove(question);
      question.settle(answer.cancelled ? undefined : answer);
    } else
      parts.answer(question.session, question.dialog.id, answer).catch((error: unknown) => {
        client.message('error', error instanceof Error ? error.message : String(error));
        if (isOpen(question)) question.state = 'postponed';
      });
    next();
  };
  const remove = (question: Question) => {
    questions = questions.filter((it) => it !== question);
    question.over.abort();
    taken(question);
  };

  const asked = async (
    question: Question,
    method: string,
    params: object,
    read: (result: unknown) => DialogAnswer | undefined,
  ) => {
    const cancelTimer = clock.after(patience, () => postpone(question));
    try {
      const result = await client.request(method, params, { signal: question.over.signal });
      const answer = read(result);
      if (answer) deliver(question, answer);
      else postpone(question);
    } catch (error) {
      if (!isOpen(question)) return;
      log.info({ error: String(error), method }, 'the editor did not show a question');
      const { code } = error as { code?: unknown };
      // Some editors say so that the window was closed.
      if (code === LSPErrorCodes.RequestCancelled) return postpone(question);
      if (code === ErrorCodes.MethodNotFound) unanswered = true;
      // It stays the current one: the next would not be shown either.
      if (question.state === 'shown') announce(question);
    } finally {
      cancelTimer();
    }
  };
  const show = (question: Question) => {
    const { dialog } = question;
    question.state = 'shown';
    question.seen = true;
    if (parts.rich()) {
      const params: EditorDialogParams = { session: question.session, dialog };
      void asked(question, editorMethods.dialog, params, given);
      return;
    }
    const choices = choicesOf(dialog);
    if (choices.length === 0 || unanswered || !client.traits.answersMessages) return announce(question);
    const offered =
      dialog.method === 'confirm' && client.traits.preselectsFirst ? choices.toReversed() : choices;
    void asked(
      question,
      'window/showMessageRequest',
      {
        type: 3,
        message: parts.before(question.session) + questionLine(dialog),
        actions: offered.map(({ title }) => ({ title })),
      },
      (result) => chosen(choices, result),
    );
  };
  function next(): void {
    client.whenFree(() => {
      if (questions.some(({ state }) => state === 'shown')) return;
      const first = questions.find(({ state, dialog }) => state === 'waiting' && isOurs(dialog));
      if (first) show(first);
    });
  }
  const add = (session: string, dialog: Dialog, settle?: Question['settle']) => {
    questions.push({
      session,
      dialog,
      state: 'waiting',
      seen: false,
      over: new AbortController(),
      ...(settle && { settle }),
    });
  };
  const closed = (question: Question, { settledDialogs }: Snapshot) => {
    const mine = question.state === 'answered';
    remove(question);
    const settled = settledDialogs.findLast(({ id }) => id === question.dialog.id);
    if (!question.seen || mine || parts.rich() || !settled || parts.isUs(settled.by)) return;
    const what = parts.before(question.session) + questionLine(question.dialog);
    if (settled.outcome === 'expired')
      client.message('warning', `The agent went on without an answer, because its time was up: ${what}`);
    else if (settled.outcome === 'withdrawn') client.message('info', `No longer asked: ${what}`);
    else client.message('info', `Answered in ${settled.by?.name ?? 'another editor'}: ${what}`);
  };
  const local = (dialog: Omit<Dialog, 'id' | 'openedAt'>): Promise<DialogAnswer | undefined> =>
    new Promise((resolve) => {
      // Whoever asks for something else has given up what they were asked about it.
      for (const question of questions) if (question.settle) deliver(question, { cancelled: true });
      count += 1;
      add(parts.session(), { ...dialog, id: `local-${count}`, openedAt: clock.now() }, resolve);
      next();
    });

  return {
    update(session, snapshot) {
      const { dialogs } = snapshot;
      const own = questions.filter((it) => !it.settle && it.session === session);
      for (const question of own)
        if (!dialogs.some(({ id }) => id === question.dialog.id)) closed(question, snapshot);
      for (const dialog of dialogs) {
        const known = own.find((it) => it.dialog.id === dialog.id);
        if (known?.dialog.openedAt === dialog.openedAt) {
          known.dialog = dialog;
          continue;
        }
        if (known) remove(known);
        add(session, dialog);
      }
      next();
    },
    async choose(title, labels) {
      return (await local({ method: 'select', title, options: [...labels] }))?.index;
    },
    async text(title, placeholder) {
      return (await local({ method: 'input', title, ...(placeholder !== undefined && { placeholder }) }))
        ?.value;
    },
    route(id, answer, session) {
      const question = current(id, session);
      if (!question)
        return { ...(id !== undefined && { dialog: id }), ...(session !== undefined && { session }) };
      if (!question.settle) return { dialog: question.dialog.id, session: question.session };
      deliver(question, fittingAnswer(question.dialog, answer));
      return 'done';
    },
    toWrite(id) {
      const question = current(id);
      return question && { session: question.session, dialog: question.dialog };
    },
    asking: () => current(undefined)?.dialog,
    isOpen: (session, id) => questions.some((it) => it.session === session && it.dialog.id === id),
    withdraw(session) {
      for (const question of questions)
        if (!question.settle && question.session === session) remove(question);
      next();
    },
  };
}
