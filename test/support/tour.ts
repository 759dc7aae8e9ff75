// A day's work with the agent, the same in every editor: what the model answers, where it begins, and what must hold when the editor
// has gone. Guarantees that nothing here drives an editor. Must not know which editor is used.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { StatusResult } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { installed } from './guide.ts';
import { program } from './language-server.ts';
import { gate, type ModelServer, type Reply, startModelServer } from './model-server.ts';
import { piAgent } from './pi.ts';

/** Milliseconds that anything may take: two loaded cores are slow. */
export const patient = { timeout: 90_000 };

/** Expects something of what is read, again and again until it is so. */
export const until = <T>(read: () => T) => expect.poll(read, { ...patient, interval: 200 });

/** Of two thousand words, so many come when one of the fifty gates is opened. */
const each = 40;
const word = /word\d+/g;
export const wordsIn = (text: string): string[] => text.match(word) ?? [];

/** The code that the person has open, and what the agent makes of it. */
export const code = 'def greet(name):\n    return "Grüße, " + name\n';
export const edited = code.replace('+ name', '+ name.title()');

/** Pi waits a while before it tries again, so that the seconds can be seen to go down. */
export const settings = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 4000 } };

/** The answers of the model, in the order of the tour. `file` is what the agent edits. */
export function tour(file: string) {
  const gates = Array.from({ length: 50 }, gate);
  const last = gate();
  const words = Array.from({ length: gates.length * each }, (_, n) => `word${n}`);
  const counted = gates.flatMap((wait, group) => [
    { gate: wait },
    ...words
      .slice(group * each, (group + 1) * each)
      .map((it, n) => (n === each - 1 && group % 5 === 4 ? `${it}\n\n` : `${it} `)),
  ]);
  const change = {
    toolCall: 'edit',
    arguments: { path: file, edits: [{ oldText: '+ name', newText: '+ name.title()' }] },
  };
  const script: Reply[] = [
    counted,
    ['Never ', { hang: true }],
    'It greets in German.',
    [change],
    'It has a title now.',
    { status: 429, body: { error: { message: 'slow down' } } },
    'At last.',
    ['Half ', { gate: last }, 'whole.'],
  ];
  return { script, words, gates, last };
}

/** What the person has the agent do, by saving the prompt file. */
const prompts = [
  'Count ü.',
  'Go on forever.',
  'What does it do?',
  'Give it a title.',
  'Again?',
  'The last one.',
];

/** The tour with a real pi, and a home where it and atomic-lsp are installed; `closing` gets what has to be ended. */
export async function begun(file: string, closing: (() => unknown)[]) {
  const it = tour(file);
  const model = await startModelServer(it.script);
  const agent = await piAgent({ model, extensions: ['dialogs'], settings });
  const home = createEditorHome();
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => home.close(),
  );
  return { ...it, model, home, env: installed(home, agent) };
}

/** The person has left in the middle of the last answer: it goes on without an editor, and nothing of the day is lost. */
export async function wentOn(
  { words, script, last }: Pick<ReturnType<typeof tour>, 'words' | 'script' | 'last'>,
  { home, model, editor }: { home: EditorHome; model: ModelServer; editor: string },
): Promise<void> {
  await until(() => status(home)).toEqual({
    sessions: 1,
    editors: 0,
    agent: 'running',
    busy: true,
    dialogs: 0,
  });
  last.open();
  await until(() => status(home).busy).toBe(false);
  await until(() => transcript(home)).toContain('Half whole.');
  const whole = transcript(home);
  expect(wordsIn(whole)).toEqual(words);
  expect(whole.split(`answered by ${editor}`)).toHaveLength(5);
  for (const said of prompts) expect(whole.split(said)).toHaveLength(2);
  expect(model.requests).toHaveLength(script.length);
}

/** The file of this name of the only session; undefined while there is none. */
export function sessionFile(home: EditorHome, name: string): string | undefined {
  const root = join(home.env.XDG_STATE_HOME!, 'atomic-lsp');
  if (!existsSync(root)) return undefined;
  return readdirSync(root)
    .map((workspace) => join(root, workspace, 'default', name))
    .find((file) => existsSync(file));
}

/** The chat as the editor had it open, as far as it was saved. */
export function savedView(home: EditorHome): string {
  const folder = sessionFile(home, 'views')!;
  return readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8');
}

/** The whole conversation. */
export const transcript = (home: EditorHome): string =>
  readFileSync(sessionFile(home, 'chat.md') ?? '/dev/null', 'utf8');

/** What the hub says of the only session and of its editors. */
export function status(home: EditorHome) {
  const said = execFileSync(process.execPath, [program, 'status', '--json'], {
    env: home.env,
    cwd: home.path,
    encoding: 'utf8',
  });
  const { sessions, editors } = JSON.parse(said) as StatusResult;
  const { agent, busy, dialogs } = sessions[0]!;
  return { sessions: sessions.length, editors: editors.length, agent: agent.status, busy, dialogs };
}
