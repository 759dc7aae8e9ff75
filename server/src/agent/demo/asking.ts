// The demo agent's questions and notices, each as a word of a prompt and as a command. Guarantees: a question returns one sentence
// that says what was answered; nothing but the user interface is touched. Must not know: runs, the wire.
import type { Answer, Question, Ui } from './ui.ts';

/** Asks something; the sentence says what came of it. */
export type Asking = { question: Question; outcome: (answer: Answer) => string };

const cancelled = 'You cancelled the question.';
const textual = (what: string) => (answer: Answer) =>
  answer.value === undefined ? cancelled : `${what}: ${answer.value}`;

export const questions: Record<'select' | 'timeout' | 'confirm' | 'input' | 'editor', Asking> = {
  select: {
    question: {
      method: 'select',
      title: 'Demo: which colour shall it be?',
      options: ['Red', 'Green', 'Blue', 'None of these'],
    },
    outcome: textual('You chose'),
  },
  timeout: {
    question: {
      method: 'select',
      title: 'Demo: this question goes away after ten seconds. Quick, which one?',
      options: ['The first', 'The second'],
      timeout: 10_000,
    },
    outcome: (answer) =>
      answer.value === undefined ? 'No answer: cancelled, or too late.' : `You chose: ${answer.value}`,
  },
  confirm: {
    question: {
      method: 'confirm',
      title: 'Demo: shall I go on?',
      message: 'Nothing happens either way.',
    },
    outcome: ({ confirmed }) => (confirmed ? 'You said yes.' : 'You said no, or cancelled the question.'),
  },
  input: {
    question: { method: 'input', title: 'Demo: what is your name?', placeholder: 'Any name will do' },
    outcome: textual('You typed'),
  },
  editor: {
    question: {
      method: 'editor',
      title: 'Demo: edit this text',
      prefill: 'The first line.\nThe second line.\n',
    },
    outcome: (answer) =>
      answer.value === undefined
        ? cancelled
        : `You wrote ${answer.value.split('\n').length} lines, ${[...answer.value].length} characters.`,
  },
};

export const notices: Record<
  'notify' | 'status' | 'widget' | 'title' | 'draft' | 'clear',
  (ui: Ui) => string
> = {
  notify(ui) {
    ui.tell('notify', { message: 'Demo: some information.', notifyType: 'info' });
    ui.tell('notify', { message: 'Demo: a warning.', notifyType: 'warning' });
    ui.tell('notify', { message: 'Demo: an error, though nothing went wrong.', notifyType: 'error' });
    return 'I sent three notifications: information, a warning and an error.';
  },
  status(ui) {
    ui.tell('setStatus', { statusKey: 'demo', statusText: 'demo: all is well' });
    return 'I set a status entry; `/demo-clear` takes it away.';
  },
  widget(ui) {
    ui.tell('setWidget', {
      widgetKey: 'demo',
      widgetLines: ['Demo plan', '[x] open a widget', '[ ] look at it', '[ ] close it with /demo-clear'],
      widgetPlacement: 'aboveEditor',
    });
    return 'I opened a widget; `/demo-clear` takes it away.';
  },
  title(ui) {
    ui.tell('setTitle', { title: 'atomic-lsp demo' });
    return 'I set the title.';
  },
  draft(ui) {
    ui.tell('set_editor_text', { text: 'Write a haiku about editors.' });
    return 'I put a text into your prompt.';
  },
  clear(ui) {
    ui.tell('setStatus', { statusKey: 'demo' });
    ui.tell('setWidget', { widgetKey: 'demo' });
    ui.tell('setTitle', { title: '' });
    return 'I cleared status, widget and title.';
  },
};
