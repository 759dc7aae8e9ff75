// The files by which a person writes to the agent: `prompt.md`, and one in `answers/` for each question that wants text.
// Guarantees: saving one sends it, once; what was not taken stays in it; no text that is newer than what was sent is ever
// touched; files are the user's alone. Must not know: how a prompt travels, what the agent asks for.
import { randomUUID } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AtomicError } from '../protocol/errors.ts';
import type { DialogAnswer } from '../protocol/facts.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { ToWrite } from './ask.ts';
import type { Client } from './client.ts';
import { type Documents, pathOf, rangeOf } from './documents.ts';
import { created, isPromptFile, promptName } from './own-files.ts';
import { choicesOf, questionLine, writtenAnswer } from './question.ts';
import type { Show } from './show.ts';

export interface Files {
  /** Opens the prompt file. */
  compose(): Promise<void>;
  /** Opens a file for the answer to a question. */
  answer(asked: ToWrite): Promise<void>;
  /** `textDocument/didSave`. */
  saved(uri: string, text: string | undefined): void;
  /** Whether a document was opened with a text that the agent has already, which is then taken out; resolves when that is done. */
  emptiedAtOpening(uri: string): Promise<boolean>;
  /** Removes the files of questions that are not open any more. */
  sweep(isOpen: (session: string, dialog: string) => boolean): void;
}

export interface FilesParts {
  client: Client;
  documents: Documents;
  show: Show;
  clock: Clock;
  log: Log;
  /** The folder of the session, or else of the current one; attaches if need be. */
  folder(session?: string): Promise<string>;
  /** The session whose prompt file this is; attaches if need be. */
  promptOf(file: string): Promise<string | undefined>;
  /** Sends a prompt to the session; resolves when it is known whether it was taken. */
  prompt(session: string, message: string): Promise<boolean>;
  /** Whether the session's agent took this prompt some time. False for a file of no session that is followed. */
  taken(file: string, text: string): Promise<boolean>;
  /** Answers the question. Rejects when it is not open any more. */
  reply(session: string, dialog: string, answer: DialogAnswer): Promise<void>;
}

/** Stands in an answer file above the answer. */
export const answerBelow = '<!-- Write your answer below this line, then save this file. -->';
/** Milliseconds that an editor has to tell of an edit, and to make one. */
const telling = 2000;
const editing = 5000;

export function createFiles(parts: FilesParts): Files {
  const { client, documents, show, clock, log } = parts;
  let answers: (ToWrite & { file: string })[] = [];
  /** Sessions whose prompt is on its way. */
  const onItsWay = new Set<string>();
  /** By document: what was taken and still stands in it, so that saving it again does not send it again. */
  const standing = new Map<string, string>();

  documents.onChange((uri, text) => {
    if (plain(text) !== standing.get(uri)) standing.delete(uri);
  });

  /** Takes what was sent out of the document that it stands in. */
  const emptied = async (uri: string, sent: string) => {
    const left = () => documents.text(uri)?.startsWith(sent) === true;
    if (!left()) return;
    standing.set(uri, plain(sent));
    const edit = { changes: { [uri]: [{ range: rangeOf(sent), newText: '' }] } };
    await client
      .request('workspace/applyEdit', { edit }, { limit: editing })
      .catch((error: unknown) => log.info({ error: String(error) }, 'the prompt file was not emptied'));
    // An answer proves nothing: the change itself does.
    clock.after(telling, () => {
      if (standing.has(uri) && left())
        client.message(
          'info',
          'Sent. Its text still stands in the prompt file: delete it before you write the next.',
        );
    });
  };
  // After the editor or its server died, the file on disk has what was sent.
  const looks = new Map<string, Promise<boolean>>();
  const look = async (uri: string, file: string, text: string) => {
    // A new server may be given a document that a person is writing in.
    const saved = plain(await readFile(file, 'utf8')) === plain(text);
    if (!saved || !(await parts.taken(file, plain(text))) || documents.text(uri) !== text) return false;
    client.message(
      'info',
      'The prompt file had what was sent before, so it is empty now; atomic.history has it.',
    );
    await emptied(uri, text);
    return true;
  };
  documents.onOpen(({ uri, text }) => {
    const file = pathOf(uri);
    if (file === undefined || !isPromptFile(file) || plain(text) === '') return;
    const looked = look(uri, file, text).catch((error: unknown) => {
      log.info({ error: String(error) }, 'whether a prompt was sent before is not known');
      return false;
    });
    looks.set(uri, looked);
    void looked.finally(() => looks.get(uri) === looked && looks.delete(uri));
  });
  const send = async (session: string, uri: string, text: string) => {
    const message = plain(text);
    if (message === '' || message === standing.get(uri)) return;
    if (onItsWay.has(session)) {
      client.message('warning', 'The prompt before is still on its way: save again when it was taken.');
      return;
    }
    onItsWay.add(session);
    try {
      if (await parts.prompt(session, message)) await emptied(uri, text);
    } finally {
      onItsWay.delete(session);
    }
  };
  const reply = async (asked: (typeof answers)[number], text: string) => {
    const at = text.indexOf(answerBelow);
    if (at < 0)
      throw new AtomicError(
        'BadArguments',
        `The line "${answerBelow}" is gone, so what is the answer is not known: put it back above your answer.`,
      );
    const value = plain(text.slice(at + answerBelow.length));
    if (value === '') return;
    await parts.reply(asked.session, asked.dialog.id, writtenAnswer(asked.dialog, value));
    forget(asked);
  };
  const forget = (asked: (typeof answers)[number]) => {
    answers = answers.filter((it) => it !== asked);
    rmSync(asked.file, { force: true });
  };

  return {
    async compose() {
      const file = path.join(await parts.folder(), promptName);
      created(file, '');
      await show(file, 'The prompt file');
    },
    async answer({ session, dialog }) {
      let file = answers.find((it) => it.session === session && it.dialog.id === dialog.id)?.file;
      if (file === undefined) {
        const place = path.join(await parts.folder(session), 'answers');
        mkdirSync(place, { recursive: true, mode: 0o700 });
        file = path.join(place, `answer-${randomUUID().slice(0, 8)}.md`);
        answers.push({ session, dialog, file });
        const question = questionLine(dialog).replace(/^/gm, '> ').replaceAll('-->', '—>');
        const choices = choicesOf(dialog).map(({ title }, n) => `${n + 1}. ${title}`);
        const listed = choices.length > 0 ? `${choices.join('\n')}\n\nAnswer with a number.\n\n` : '';
        created(file, `${question}\n\n${listed}${answerBelow}\n${dialog.prefill ?? ''}\n`);
      }
      await show(file, 'The file for the answer');
    },
    saved(uri, given) {
      const file = pathOf(uri);
      const text = given ?? documents.text(uri);
      if (file === undefined || text === undefined) return;
      const tell = (error: unknown) =>
        client.message('error', error instanceof Error ? error.message : String(error));
      const answered = answers.find((it) => same(it.file, file));
      if (answered) return void reply(answered, text).catch(tell);
      if (!isPromptFile(file)) return;
      parts
        .promptOf(file)
        .then(async (session) => {
          if (session !== undefined) await send(session, uri, text);
        })
        .catch(tell);
    },
    emptiedAtOpening: async (uri) => (await looks.get(uri)) === true,
    sweep(isOpen) {
      for (const asked of answers) if (!isOpen(asked.session, asked.dialog.id)) forget(asked);
    },
  };
}

/** A prompt as it is sent. */
export const plain = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

/** Whether two paths are one file, through links, too. */
export function same(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
