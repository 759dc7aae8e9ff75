// What must hold after a history, whatever happened in it. Guarantees: each thing that is wrong is one sentence. Must not know: what
// happened, how it is brought about.
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hubAddress } from '../../server/src/hub/address.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { program } from '../support/language-server.ts';
import type { Copy } from './copy.ts';
import { textOf, type World } from './world.ts';

/** One line of a session file. */
interface Entry {
  type: string;
  text?: string;
  dialog?: string;
  value?: string;
  message?: { role: string; content: unknown };
}

export const options = ['red', 'green', 'blue'];

/** Counts in the agent's own files. `durable`: an agent that writes what it took before it answers. */
export function sessionProblems(
  world: Pick<World, 'sent' | 'finished' | 'settledDialogs'>,
  folder: string,
  durable: boolean,
): string[] {
  const files = filesBelow(folder).filter((name) => name.endsWith('.jsonl'));
  const entries = files.flatMap((file) =>
    fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line): Entry[] => {
        try {
          return [JSON.parse(line)];
        } catch {
          return line === '' ? [] : [{ type: 'damaged', text: line.slice(0, 80) }];
        }
      }),
  );
  const problems = entries.flatMap(({ type, text }) =>
    type === 'damaged' ? [`a damaged entry: ${text}`] : [],
  );
  if (files.length > 1) problems.push(`one conversation lies in ${files.length} files: ${files.join(', ')}`);
  const users = entries.flatMap(({ message }) => (message?.role === 'user' ? [textOf(message.content)] : []));
  const took = entries.flatMap(({ type, text }) => (type === 'took' ? [text!] : []));
  const count = (list: readonly string[], text: string) => list.filter((it) => it === text).length;

  for (const { text, outcome, reply } of world.sent) {
    if (text === undefined || text.startsWith('/')) continue;
    const said = count(users, text);
    const taken = durable ? count(took, text) : said;
    const fate = `"${text}" (${outcome ?? JSON.stringify(reply) ?? 'nothing heard'})`;
    if (said > 1 || taken > 1) problems.push(`${fate} is ${Math.max(said, taken)} times in the session`);
    if (durable && outcome === 'done' && taken !== 1) problems.push(`${fate} is not in the session`);
    if (outcome === 'refused' && taken > 0) problems.push(`${fate} is in the session`);
    if (world.finished.has(text) && said !== 1)
      problems.push(`${fate} was finished and is ${said} times in the session`);
  }
  for (const [id, told] of world.settledDialogs) {
    const winners = world.sent.filter(({ dialog, outcome }) => dialog === id && outcome === 'done');
    if (told.size > 1)
      problems.push(`the question ${id} is told to have ended as ${[...told].join(' and as ')}`);
    if (winners.length > 1) problems.push(`${winners.length} answers to the question ${id} were taken`);
    const answers = entries.filter(({ type, dialog }) => type === 'answer' && dialog === id);
    if (answers.length > 1) problems.push(`the agent had ${answers.length} answers to the question ${id}`);
    const [winner] = winners;
    const value = answers[0]?.value;
    if (winner && value !== undefined && value !== options[winner.index!])
      problems.push(`the agent was told ${value}, and ${options[winner.index!]} had won`);
  }
  return problems;
}

/** Whether all editors and the hub have the same session. */
export async function viewProblems(world: World): Promise<string[]> {
  const { env } = world.home;
  const address = hubAddress({
    platform: process.platform,
    uid: process.getuid?.(),
    runtimeDir: env.XDG_RUNTIME_DIR,
  });
  const client = await openHub({
    address,
    clock: systemClock,
    hello: { version: '0.0.0', name: 'judge', env: {} },
    // It has to say that it runs already, and to listen anew where its socket was removed.
    program: { command: process.execPath, args: [program, 'hub', '--ready-descriptor=3'], env: { ...env } },
  });
  try {
    const status = await client.status();
    if (status.sessions.length !== 1) return [`the hub has ${status.sessions.length} sessions`];
    // Facts may still be on their way; what holds at one moment is enough.
    const held = { fresh: undefined as Copy | undefined };
    for (const end = Date.now() + 30_000; Date.now() < end; ) {
      const { epoch, seq, snapshot } = await client.attach({ workspace: world.workspace });
      held.fresh = { epoch, seq, snapshot: snapshot! };
      const same = () =>
        [...world.editors.values()].every(({ copy }) => copy?.epoch === epoch && copy.seq === seq);
      if (await world.until(same, 1000)) break;
    }
    return copyProblems(world, held.fresh!);
  } finally {
    client.close();
  }
}

/** Where an editor has something else than the hub. */
export function copyProblems({ editors }: Pick<World, 'editors'>, fresh: Copy): string[] {
  return [...editors.values()].flatMap(({ slot, copy }) => {
    if (copy?.epoch !== fresh.epoch || copy.seq !== fresh.seq)
      return [`editor ${slot} is at ${copy?.epoch}/${copy?.seq}, the hub at ${fresh.epoch}/${fresh.seq}`];
    const [ours, theirs] = [plain(copy.snapshot), plain(fresh.snapshot)];
    return isDeepStrictEqual(ours, theirs)
      ? []
      : [`editor ${slot} sees another session than the hub: ${differing(ours, theirs).join(', ')}`];
  });
}

const plain = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value));
const differing = (ours: Record<string, unknown>, theirs: Record<string, unknown>) =>
  [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
    .filter((key) => !isDeepStrictEqual(ours[key], theirs[key]))
    .map((key) => `${key} (${JSON.stringify(ours[key])} and ${JSON.stringify(theirs[key])})`.slice(0, 400));

/** What lies about when everything has ended. */
export function leftovers(world: Pick<World, 'home'>): string[] {
  const { XDG_STATE_HOME: state, XDG_RUNTIME_DIR: run } = world.home.env;
  const temporary = filesBelow(state!).filter((file) => /\.(?:new|tmp)$|~$/.test(file));
  return [...temporary, ...filesBelow(run!)].map(
    (file) => `left behind: ${path.relative(world.home.path, file)}`,
  );
}

/** Lines of the logs that nobody should ever see. */
export function logProblems(world: Pick<World, 'home'>): string[] {
  const folder = path.join(world.home.env.XDG_STATE_HOME!, 'atomic-lsp', 'log');
  return filesBelow(folder)
    .filter((file) => !path.basename(file).startsWith('.'))
    .flatMap((file) =>
      fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"level":"error"'))
        .map((line) => `${path.basename(file)}: ${line.slice(0, 600)}`),
    );
}

function filesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
