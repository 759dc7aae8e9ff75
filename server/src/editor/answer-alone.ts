// `answer.md`: what the agent said in one turn, alone, for taking text from it. Guarantees: written for the user alone, in the
// session's folder. Must not know: how a chat looks.
import path from 'node:path';
import { answerIn, outlineOf } from '../chat/outline.ts';
import type { Params } from '../protocol/command-row.ts';
import { AtomicError } from '../protocol/errors.ts';
import { wholeTranscript } from '../session/transcript-whole.ts';
import type { Documents } from './documents.ts';
import type { Show } from './show.ts';
import type { Tab } from './tabs.ts';
import { put } from './view-files.ts';

export interface AnswerParts {
  documents: Pick<Documents, 'text'>;
  /** The session's folder; attaches if need be. */
  folder(session: string): Promise<string>;
  show: Show;
  /** The file is there: an editor that has it open already may show what was in it before. */
  wrote(file: string): void;
}

/**
 * Writes and shows the answer at a line of an open chat, or the newest one of the session. Rejects with `BadArguments` where
 * there is none, and `FileFailed`.
 */
export async function showAnswer({ uri, line }: Params, tab: Tab, parts: AnswerParts): Promise<void> {
  const folder = await parts.folder(tab.id);
  const given = typeof uri === 'string' ? parts.documents.text(uri) : undefined;
  const text = given ?? wholeTranscript(tab.link.mirror!.snapshot);
  const turns = outlineOf(text);
  const answered = turns.filter((turn) => answerIn(text, turn) !== '');
  const turn =
    given === undefined || line === undefined ? answered.at(-1) : turns.findLast((it) => it.line <= line);
  const answer = turn ? answerIn(text, turn) : '';
  if (answer === '')
    throw new AtomicError(
      'BadArguments',
      'There is no answer here yet: try again when the agent has said something.',
    );
  const file = path.join(folder, 'answer.md');
  put(file, `${answer}\n`);
  await parts.show(file, 'The answer');
  parts.wrote(file);
}
