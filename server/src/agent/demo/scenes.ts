// The demo agent's scenes. Guarantees: a scene is chosen by a whole word of the prompt, several play in the order of their words; no
// scene changes a file or runs a program, and the only thing read is the names in the workspace's folder. Must not know: the
// wire, the queue.
import { readdir } from 'node:fs/promises';
import type { Block, Message } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { notices, questions } from './asking.ts';
import { pause } from './pause.ts';
import type { ModelFailure, Step } from './runner.ts';
import { type DemoSession, textOf } from './session.ts';
import { code, introduction, longAnswer, plainAnswer, thoughts } from './texts.ts';
import type { Ui } from './ui.ts';

export interface SceneWorld {
  ui: Ui;
  clock: Clock;
  session: DemoSession;
  cwd: string;
}

/** A command of the pretended extension: plays at once, outside of any run. */
export type ExtensionCommand = (ui: Ui, signal: AbortSignal) => Promise<void>;

interface Scene {
  name: string;
  doc: string;
  /** Further words that choose it, besides its name. */
  words?: readonly string[];
  step?: (prompt: string, world: SceneWorld) => Step;
  command?: ExtensionCommand;
}

const pace = { usual: 30, slow: 400 };
const longest = 100_000;

function failure(failed: string, retryable: boolean): ModelFailure {
  return { failed, retryable };
}

const thinking: Scene = {
  name: 'think',
  words: ['thinking'],
  doc: 'Thinks aloud, then answers.',
  step: (_prompt, { session }) =>
    async function think({ stage }) {
      if (session.level === 'off') {
        await stage.say('Thinking is off: choose a thinking level, or the model demo/demo-thinker, first.');
        return;
      }
      await stage.think(thoughts);
      await stage.say(`I have thought about it, at the level “${session.level}”.`);
    },
};

const tool: Scene = {
  name: 'tool',
  words: ['tools'],
  doc: 'Calls a tool with live output: it lists the names in the workspace’s folder.',
  step: (_prompt, { cwd, clock }) =>
    async function list({ stage, signal }) {
      let count = 0;
      await stage.say('I look at the folder.');
      await stage.tool('ls', { path: '.', limit: 40 }, async (live) => {
        const names = await readdir(cwd).catch((error: NodeJS.ErrnoException) => error);
        if (names instanceof Error)
          return { text: `The folder cannot be read: ${names.code}`, isError: true };
        count = names.length;
        const shown = names.sort().slice(0, 40);
        for (const name of shown) {
          await pause(clock, pace.usual, signal);
          live(`${name}\n`);
        }
        return { text: shown.map((name) => `${name}\n`).join('') || '(empty)' };
      });
      await stage.say(`The folder holds ${count} ${count === 1 ? 'name' : 'names'}; I opened none of them.`);
    },
};

const long: Scene = {
  name: 'long',
  doc: 'Streams a long answer; `long 1000` says how many words.',
  step: (prompt) =>
    async function answer({ stage }) {
      const count = Math.min(Number(/\blong\s+(\d+)/i.exec(prompt)?.[1] ?? 200), longest);
      for (const paragraph of longAnswer(count)) await stage.say(paragraph);
    },
};

const slow: Scene = {
  name: 'slow',
  doc: 'Answers slowly, which leaves time to steer, to follow up and to stop.',
  step: () =>
    async function answer({ stage }) {
      await stage.say(
        'I am speaking slowly now, so that you can send another message or stop me before I am done with this.',
      );
    },
};

const error: Scene = {
  name: 'error',
  doc: 'The model call fails for good.',
  step: () =>
    async function fail({ stage }) {
      const failed = '401: the demo’s pretended provider refused the pretended key';
      stage.fail(failed);
      throw failure(failed, false);
    },
};

const retry: Scene = {
  name: 'retry',
  doc: 'The model call fails once and is retried after two seconds.',
  step: () =>
    async function recover({ stage, attempt }) {
      const failed = '529: the demo’s pretended provider is overloaded';
      if (attempt === 1) {
        stage.fail(failed);
        throw failure(failed, true);
      }
      await stage.say('The first attempt failed, this one did not.');
    },
};

const asking = (name: keyof typeof questions, words: string[], doc: string): Scene => ({
  name,
  words,
  doc,
  step: (_prompt, { ui }) =>
    async function ask({ stage, signal }) {
      const { question, outcome } = questions[name];
      let sentence = '';
      await stage.tool('ask_user', { question: question.title, kind: name }, async () => {
        sentence = outcome(await ui.ask(question, signal));
        signal.throwIfAborted();
        return { text: sentence };
      });
      await stage.say(sentence);
    },
  async command(ui, signal) {
    const { question, outcome } = questions[name];
    const sentence = outcome(await ui.ask(question, signal));
    ui.tell('notify', { message: sentence, notifyType: 'info' });
  },
});

const telling = (name: keyof typeof notices, doc: string, words?: string[]): Scene => ({
  name,
  ...(words && { words }),
  doc,
  step: (_prompt, { ui }) =>
    async function tell({ stage }) {
      await stage.say(notices[name](ui));
    },
  async command(ui) {
    notices[name](ui);
  },
});

const crash: Scene = {
  name: 'crash',
  words: [],
  doc: 'A command whose extension fails.',
  async command() {
    throw new Error('the demo’s pretended extension failed on purpose');
  },
};

const scenes: readonly Scene[] = [
  thinking,
  tool,
  asking('select', ['choose'], 'Asks to choose one of four.'),
  asking('timeout', [], 'Asks to choose within ten seconds.'),
  asking('confirm', [], 'Asks for yes or no.'),
  asking('input', [], 'Asks for one line of text.'),
  asking('editor', [], 'Asks to edit a text.'),
  telling('notify', 'Sends three notifications.'),
  telling('status', 'Sets a status entry.'),
  telling('widget', 'Opens a widget above the prompt.'),
  telling('title', 'Sets the title.'),
  telling('draft', 'Puts a text into the prompt.'),
  telling('clear', 'Takes status, widget and title away.', []),
  error,
  retry,
  long,
  slow,
  crash,
];

/** Scenes that only their command plays: as words of a prompt they would be met by accident. */
const byCommandOnly = new Set(['clear', 'crash', 'draft']);

const byWord = new Map(
  scenes
    .filter((scene) => !byCommandOnly.has(scene.name))
    .flatMap((scene) => [scene.name, ...(scene.words ?? [])].map((word) => [word, scene] as const)),
);

/** The scenes that a prompt names, each once, in the order of their words. */
const scenesIn = (prompt: string): Scene[] => [
  ...new Set((prompt.toLowerCase().match(/\p{L}+/gu) ?? []).flatMap((word) => byWord.get(word) ?? [])),
];

/**
 * What is played for a user's text. The first answer of a process says that it is a demo, whatever the scene; so does every
 * plain one.
 */
export function createPlayer(world: SceneWorld) {
  let introduced = false;
  return (message: Message): { steps: Step[]; pace: number } => {
    const prompt = textOf(message);
    const images = (message.content as Block[]).filter((block) => block.type === 'image').length;
    const named = scenesIn(prompt);
    const found = named.flatMap((scene) => (scene === slow && named.length > 1 ? [] : [scene]));
    const steps = found.flatMap((scene) => scene.step?.(prompt, world) ?? []);
    if (steps.length === 0)
      steps.push(async ({ stage }) => {
        const words = [...byWord.values()].map((scene) => scene.name);
        await stage.say(introduction);
        await stage.say(plainAnswer(prompt, [...new Set(words)], images));
        await stage.say(code);
      });
    else if (!introduced) steps.unshift(({ stage }) => stage.say(introduction));
    introduced = true;
    return { steps, pace: named.includes(slow) ? pace.slow : pace.usual };
  };
}

/** What `get_commands` lists (protocol reference 3.11): what needs a run is a prompt template, the rest are extension commands. */
export const commandList = () =>
  scenes.map((scene) => ({
    name: `demo-${scene.name}`,
    description: scene.doc,
    source: scene.command ? 'extension' : 'prompt',
    hasArgumentCompletions: scene === long,
    sourceInfo: { path: '<demo>', source: 'demo', scope: 'temporary', origin: 'package' },
  }));

/** What a text that begins with `/demo-…` stands for: a command to play at once, or the text of a template. */
export function expanded(text: string): { command: ExtensionCommand; name: string } | { text: string } {
  const typed = /^\/demo-(\p{L}+)(?:\s+(.*))?$/su.exec(text.trim());
  const scene = typed && scenes.find(({ name }) => name === typed[1]);
  if (!scene) return { text };
  if (scene.command) return { command: scene.command, name: `demo-${scene.name}` };
  return { text: [scene.name, typed?.[2]].filter(Boolean).join(' ') };
}
