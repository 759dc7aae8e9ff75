// A question as an editor can show it. Guarantees: every choice has a title of its own on one line, and a title leads back to
// exactly one choice; what says nothing about a choice is no answer. Must not know: when a question is shown, sessions.

import { AtomicError } from '../protocol/errors.ts';
import type { Dialog, DialogAnswer } from '../protocol/facts.ts';
import { oneLine } from './client.ts';

export interface Choice {
  title: string;
  answer: DialogAnswer;
}

const labelLength = 120;
const announcedLength = 60;

/** The choices of a question, in the order of `atomic.answer1`…; none for a question that wants text. */
export function choicesOf(dialog: Dialog): Choice[] {
  if (dialog.options)
    return uniqueTitles(dialog.options).map((title, index) => ({ title, answer: { index } }));
  if (dialog.method !== 'confirm') return [];
  return [
    { title: 'Yes', answer: { confirmed: true } },
    { title: 'No', answer: { confirmed: false } },
  ];
}

/** Labels as titles: one line each, none empty, none twice. */
export function uniqueTitles(labels: readonly string[], length = labelLength): string[] {
  const seen = new Set<string>();
  return labels.map((label) => {
    const base = oneLine(label, length) || '(empty)';
    let title = base;
    for (let n = 2; seen.has(title); n += 1) title = `${base} (${n})`;
    seen.add(title);
    return title;
  });
}

/** The question in one line. */
export function questionLine({ title, message }: Dialog): string {
  return [title, message].filter((part) => part?.trim()).join(': ') || 'The agent asks';
}

/** The answer that a person has written: a text, or the number or title of a choice. Throws `BadArguments`. */
export function writtenAnswer(dialog: Dialog, written: string): DialogAnswer {
  const choices = choicesOf(dialog);
  if (choices.length === 0) return { value: written };
  const found = /^\d+$/.test(written)
    ? choices[Number(written) - 1]
    : choices.find(({ title }) => title.toLowerCase() === written.toLowerCase());
  if (found) return found.answer;
  throw new AtomicError(
    'BadArguments',
    `"${oneLine(written, announcedLength)}" is none of the ${choices.length} choices: write the number of one.`,
  );
}

/** What a person is told who has to answer by commands. */
export function announcement(dialog: Dialog): string {
  const choices = choicesOf(dialog);
  const question = oneLine(questionLine(dialog), 160);
  if (choices.length === 0)
    return `${question} — answer with atomic.answer (with your text, or without to write it in a file), refuse with atomic.dialogCancel.`;
  const listed = choices
    .slice(0, 9)
    .map(({ title }, n) => `atomic.answer${n + 1} = ${oneLine(title, announcedLength)}`);
  const more = choices.length > 9 ? `, and ${choices.length - 9} more: atomic.answer opens a list` : '';
  return `${question} — ${listed.join(', ')}${more}; atomic.dialogCancel refuses.`;
}

/**
 * The answer that came back from `window/showMessageRequest` (LSP); undefined for a dismissal: null, no object, a title
 * that was not offered. Titles alone count, because some editors send nothing else back.
 */
export function chosen(choices: readonly Choice[], result: unknown): DialogAnswer | undefined {
  const title = (result as { title?: unknown } | null | undefined)?.title;
  return choices.find((choice) => choice.title === title)?.answer;
}

/** The answer that came back from `atomic/dialog`; undefined for a postponement. */
export function given(result: unknown): DialogAnswer | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { index, value, confirmed, cancelled } = result as Record<string, unknown>;
  if (cancelled === true) return { cancelled };
  if (typeof index === 'number') return { index };
  if (typeof confirmed === 'boolean') return { confirmed };
  if (typeof value === 'string') return { value };
  return undefined;
}
