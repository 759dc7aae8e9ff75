// The agent's questions in a terminal. Guarantees: one question at a time, in order; a question that was settled elsewhere is
// closed at once; an answer is never guessed, and Ctrl-D alone refuses; a secret is not echoed. Must not know: the hub, runs.
import readline from 'node:readline';
import { Writable } from 'node:stream';
import type { Dialog, DialogAnswer } from '../protocol/facts.ts';
import { harmless } from './render.ts';

export interface Asker {
  open(dialog: Dialog): void;
  /** The dialog is settled; `why` is said when it was being asked here, which it returns. */
  close(id: string, why: string): boolean;
  /** Asks nothing any more. */
  end(): void;
}

/** A person at a terminal. `next` resolves with undefined when the person refuses (Ctrl-D). */
interface Person {
  say(text: string): void;
  next(prompt: string, secret?: boolean): Promise<string | undefined>;
}

export function createAsker(parts: {
  input: NodeJS.ReadStream;
  error: NodeJS.WriteStream;
  answer: (dialog: Dialog, answer: DialogAnswer) => void;
  /** Ctrl-C at a question. */
  interrupt: () => void;
  /** Called before a question, to end a line that is open. */
  before: () => void;
}): Asker {
  const waiting: Dialog[] = [];
  let asking: { id: string; stop: AbortController } | undefined;

  const next = () => {
    const dialog = waiting.shift();
    if (!dialog || asking) return;
    const stop = new AbortController();
    asking = { id: dialog.id, stop };
    parts.before();
    void askedPerson(parts, dialog, stop.signal).then((answer) => {
      asking = undefined;
      if (answer) parts.answer(dialog, answer);
      next();
    });
  };
  return {
    open(dialog) {
      if (asking?.id === dialog.id || waiting.some(({ id }) => id === dialog.id)) return;
      waiting.push(dialog);
      if (!asking) next();
    },
    close(id, why) {
      const at = waiting.findIndex((dialog) => dialog.id === id);
      if (at >= 0) waiting.splice(at, 1);
      if (asking?.id !== id) return false;
      asking.stop.abort();
      parts.error.write(`\n${harmless(why)}\n`);
      return true;
    },
    end() {
      waiting.length = 0;
      asking?.stop.abort();
    },
  };
}

/** The person's answer; undefined when the question was closed from outside. */
async function askedPerson(
  { input, error, interrupt }: { input: NodeJS.ReadStream; error: NodeJS.WriteStream; interrupt: () => void },
  dialog: Dialog,
  signal: AbortSignal,
): Promise<DialogAnswer | undefined> {
  let muted = false;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!muted) error.write(chunk);
      done();
    },
  });
  // What readline needs to know of the screen.
  Object.assign(echo, { columns: error.columns ?? 80 });
  const lines = readline.createInterface({ input, output: echo, terminal: true, historySize: 0 });
  const typed: string[] = [];
  let over = false;
  let wake = () => {};
  lines.on('line', (text) => {
    typed.push(text);
    wake();
  });
  lines.on('close', () => {
    over = true;
    wake();
  });
  lines.on('SIGINT', interrupt);
  const close = () => lines.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  const person: Person = {
    say: (text) => void error.write(`${harmless(text)}\n`),
    async next(prompt, secret = false) {
      lines.setPrompt(prompt);
      if (!over) lines.prompt();
      muted = secret;
      while (typed.length === 0 && !over)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      muted = false;
      if (secret) error.write('\n');
      return typed.shift();
    },
  };
  try {
    const answer = await conversation(person, dialog);
    if (signal.aborted) return undefined;
    if (!answer) person.say('\nRefused.');
    return answer ?? { cancelled: true };
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    input.pause();
  }
}

/** Asks in the form that fits the dialog; undefined when the person refuses. */
async function conversation(person: Person, dialog: Dialog): Promise<DialogAnswer | undefined> {
  person.say(`? ${dialog.title}`);
  if (dialog.message) person.say(`  ${dialog.message}`);
  if (dialog.timeout !== undefined) person.say(`  (the agent waits ${Math.ceil(dialog.timeout / 1000)} s)`);
  if (dialog.options) return chosen(person, dialog.options);
  if (dialog.method === 'confirm') return confirmed(person);
  if (dialog.method === 'editor') return edited(person, dialog.prefill);
  if (dialog.placeholder) person.say(`  (for example: ${dialog.placeholder})`);
  const value = await person.next('Text, Ctrl-D refuses: ', dialog.secret);
  return value === undefined ? undefined : { value };
}

async function chosen(person: Person, options: readonly string[]): Promise<DialogAnswer | undefined> {
  const width = String(options.length).length;
  for (const [at, label] of options.entries())
    person.say(`  ${String(at + 1).padStart(width)}) ${label.replace(/\n/g, `\n${' '.repeat(width + 4)}`)}`);
  for (;;) {
    const given = await person.next(`Number from 1 to ${options.length}, Ctrl-D refuses: `);
    if (given === undefined) return undefined;
    const number = /^\s*\d+\s*$/.test(given) ? Number(given) : 0;
    if (number >= 1 && number <= options.length) return { index: number - 1 };
  }
}

async function confirmed(person: Person): Promise<DialogAnswer | undefined> {
  for (;;) {
    const given = (await person.next('y or n, Ctrl-D refuses: '))?.trim().toLowerCase();
    if (given === undefined) return undefined;
    if (given === 'y' || given === 'yes') return { confirmed: true };
    if (given === 'n' || given === 'no') return { confirmed: false };
  }
}

async function edited(person: Person, prefill: string | undefined): Promise<DialogAnswer | undefined> {
  if (prefill) {
    person.say(prefill.replace(/^/gm, '  | '));
    person.say('Lines, then a single "." (at once: the text above stays as it is); Ctrl-D refuses.');
  } else person.say('Lines, then a single "."; Ctrl-D refuses.');
  const lines: string[] = [];
  for (;;) {
    const given = await person.next('');
    if (given === undefined) return undefined;
    if (given === '.') return { value: lines.length === 0 && prefill ? prefill : lines.join('\n') };
    lines.push(given);
  }
}
