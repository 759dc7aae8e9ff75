// The open questions of one session. Guarantees: every dialog is settled exactly once (answered, cancelled, expired on our
// own clock, withdrawn); the first answer wins; an answer that does not fit is refused and leaves the dialog open. Must
// not know: how an answer travels, who shows the question.
import { AtomicError } from '../protocol/errors.ts';
import type { Dialog, DialogAnswer, DialogOutcome, Fact, Origin } from '../protocol/facts.ts';
import type { Clock } from './ports.ts';

export interface Dialogs {
  /** The origin is asked first, everybody else after a while. */
  open(dialog: Omit<Dialog, 'openedAt'>, origin?: Origin): void;
  /** Whether an origin watches the session: what it would be asked first, everybody is asked when it goes. */
  presence(origin: string, here: boolean): void;
  /** Settles the dialog `id`, or the oldest. `deliver` hands the answer to the agent. Throws `NoSuchDialog`, `BadArguments`. */
  answer(
    id: string | undefined,
    answer: DialogAnswer,
    by: Origin | undefined,
    deliver: (dialog: Dialog, answer: DialogAnswer) => boolean,
  ): void;
  /** Withdraws one, or those that `which` chooses; `deliver` is given where the agent must be told. */
  withdraw(which: (dialog: Dialog) => boolean, deliver?: (dialog: Dialog) => void): void;
  readonly list: readonly Dialog[];
}

/** Milliseconds for which the origin alone is asked. */
export const grace = 5_000;
/** How many origins that have gone are remembered. */
const remembered = 1_000;

export function createDialogs(clock: Clock, append: (fact: Fact) => void): Dialogs {
  const open = new Map<string, { dialog: Dialog; cancelTimer: () => void; cancelGrace: () => void }>();
  const gone = new Set<string>();

  const settle = (id: string, outcome: DialogOutcome, by?: Origin, answer?: string) => {
    open.get(id)?.cancelTimer();
    open.get(id)?.cancelGrace();
    open.delete(id);
    append({
      type: 'dialog_settled',
      id,
      outcome,
      ...(by && { by }),
      ...(answer !== undefined && { answer }),
    });
  };

  const offer = (id: string) => {
    const known = open.get(id);
    if (!known || known.dialog.offered) return;
    known.cancelGrace();
    known.dialog = { ...known.dialog, offered: true };
    append({ type: 'dialog_offered', id });
  };

  return {
    open(request, origin) {
      // An id that comes twice would leave a question nobody can answer: the older one is void.
      if (open.has(request.id)) settle(request.id, 'withdrawn');
      const openedAt = clock.now();
      const dialog: Dialog = {
        ...request,
        openedAt,
        ...(request.timeout !== undefined && { deadline: openedAt + request.timeout }),
        ...(origin && { origin }),
        ...(origin && gone.has(origin.id) && { offered: true as const }),
      };
      const cancelTimer =
        request.timeout === undefined
          ? () => {}
          : clock.after(request.timeout, () => settle(dialog.id, 'expired'));
      const cancelGrace = origin && !dialog.offered ? clock.after(grace, () => offer(dialog.id)) : () => {};
      open.set(dialog.id, { dialog, cancelTimer, cancelGrace });
      append({ type: 'dialog_opened', dialog });
    },
    presence(origin, here) {
      gone.delete(origin);
      if (here) return;
      gone.add(origin);
      if (gone.size > remembered) gone.delete([...gone][0]!);
      for (const { dialog } of [...open.values()]) if (dialog.origin?.id === origin) offer(dialog.id);
    },
    answer(id, answer, by, deliver) {
      const dialog = id === undefined ? [...open.values()][0]?.dialog : open.get(id)?.dialog;
      if (!dialog)
        throw new AtomicError(
          'NoSuchDialog',
          id === undefined
            ? 'The agent has no open question now.'
            : 'That question is no longer open: it was answered elsewhere, timed out or was withdrawn.',
        );
      const fitting = fittingAnswer(dialog, answer);
      if (!deliver(dialog, fitting)) {
        settle(dialog.id, 'withdrawn');
        throw new AtomicError(
          'NoSuchDialog',
          'The agent no longer waits for this answer: it has ended, or took its question back.',
        );
      }
      settle(
        dialog.id,
        fitting.cancelled ? 'cancelled' : 'answered',
        by,
        fitting.cancelled || dialog.secret ? undefined : answerText(dialog, fitting),
      );
    },
    withdraw(which, deliver) {
      for (const { dialog } of [...open.values()]) {
        if (!which(dialog)) continue;
        deliver?.(dialog);
        settle(dialog.id, 'withdrawn');
      }
    },
    get list() {
      return [...open.values()].map(({ dialog }) => dialog);
    },
  };
}

const isChoice = (dialog: Dialog): boolean => dialog.options !== undefined;

/** The answer in the form that fits the dialog: index for choices, confirmed for confirm, value for text. */
export function fittingAnswer(dialog: Dialog, answer: DialogAnswer): DialogAnswer {
  if (answer.cancelled) return { cancelled: true };
  const refuse = (sentence: string) => new AtomicError('BadArguments', sentence, { dialog: dialog.id });
  if (isChoice(dialog)) {
    const options = dialog.options!;
    const index = answer.index ?? (answer.value === undefined ? -1 : options.indexOf(answer.value));
    if (!Number.isInteger(index) || index < 0 || index >= options.length)
      throw refuse(
        `"${dialog.title}" has ${options.length} options; choose one of atomic.answer1 to atomic.answer${Math.min(options.length, 9)}, or give {"index": 0…${options.length - 1}}.`,
      );
    return { index };
  }
  if (dialog.method === 'confirm') {
    const confirmed =
      answer.confirmed ??
      (answer.index === 0 || /^(y|yes|true|ok)$/i.test(answer.value ?? '')
        ? true
        : answer.index === 1 || /^(n|no|false)$/i.test(answer.value ?? '')
          ? false
          : undefined);
    if (confirmed === undefined)
      throw refuse(
        `"${dialog.title}" is a yes-or-no question: answer with atomic.answer1 (yes) or atomic.answer2 (no).`,
      );
    return { confirmed };
  }
  if (answer.value === undefined)
    throw refuse(`"${dialog.title}" wants text: give {"value": "…"}, or refuse with atomic.dialogCancel.`);
  return { value: answer.value };
}

const answerText = (dialog: Dialog, answer: DialogAnswer): string =>
  answer.index !== undefined
    ? (dialog.options?.[answer.index] ?? '')
    : answer.confirmed !== undefined
      ? answer.confirmed
        ? 'Yes'
        : 'No'
      : (answer.value ?? '');
