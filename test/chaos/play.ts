// Plays a history and judges what is left. Guarantees: the same steps for the same seed; after them everything goes on again, one more
// prompt must work and everybody must see the same. Must not know: how a step is done, vitest.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { signalled } from '../editors/processes.ts';
import { historyOf } from './history.ts';
import { leftovers, logProblems, sessionProblems, viewProblems } from './judge.ts';
import { type ChaosAgent, createWorld, type World } from './world.ts';

export interface Outcome {
  problems: string[];
  /** What became of prompts and answers, by how many. */
  fates: Record<string, number>;
  /** What was done and heard, where there are problems. */
  story?: string[];
}

/** Milliseconds for everything to come back, on a machine that has much else to do. */
const patience = 120_000;

/** `sessions`: where the agent's files lie, given the home. */
export async function played(
  seed: number,
  agentOf: (home: World['home']) => ChaosAgent & { sessions: string; durable: boolean },
): Promise<Outcome> {
  let sessions = { folder: '', durable: false };
  const world = createWorld((home) => {
    const agent = agentOf(home);
    sessions = { folder: agent.sessions, durable: agent.durable };
    return agent;
  });
  const { problems } = world;
  try {
    for (const step of historyOf(seed)) await world.play(step);
    world.calm();
    if (await recovered(world)) problems.push(...(await viewProblems(world)));
    problems.push(...sessionProblems(world, sessions.folder, sessions.durable));
    problems.push(...(await ended(world)), ...logProblems(world), ...leftovers(world));
    const fates = fatesOf(world);
    if (problems.length === 0) return { problems, fates };
    const story = [...world.story, ...world.sent.map((it) => JSON.stringify(it))];
    return { problems, fates, story: [...story, `kept in ${kept(world, seed)}`] };
  } finally {
    await world.close();
  }
}

function fatesOf({ sent }: World): Outcome['fates'] {
  const fates: Outcome['fates'] = {};
  for (const { command, outcome, reply } of sent) {
    const heard = outcome ?? (typeof reply === 'object' ? 'not accepted' : reply ? 'lost' : 'no answer');
    fates[`${command} ${heard}`] = (fates[`${command} ${heard}`] ?? 0) + 1;
  }
  return fates;
}

/** Whether the session works again: one more prompt is done, and nothing goes on any more. */
async function recovered(world: World): Promise<boolean> {
  const end = Date.now() + patience;
  const left = () => Math.max(0, end - Date.now());
  const everybody = () => [...world.editors.values()];
  const [first] = everybody();
  const now = () => first!.copy?.snapshot;
  const fail = (what: string) => {
    const { run, dialogs, queue, agent, intents } = now() ?? {};
    const open = intents?.filter(({ outcome }) => outcome === 'pending');
    const seen = JSON.stringify({ run, dialogs, queue, agent, open });
    world.problems.push(`${what}; editor ${first!.slot} sees ${seen}`);
    return false;
  };
  if (!(await world.until(() => everybody().every(({ attached }) => attached), left())))
    return fail('not every editor came back');

  /** A question that nobody answers would hold everything up. */
  const answer = async (): Promise<boolean> => {
    const [dialog] = now()?.dialogs ?? [];
    if (!dialog) return false;
    await world.intent(first!, 'answer', { dialog: dialog.id, index: 0 });
    await world.until(() => !now()?.dialogs.some(({ id }) => id === dialog.id), 5000);
    return true;
  };
  const quiet = () => {
    const it = now();
    return (
      it !== undefined &&
      it.run === null &&
      it.dialogs.length === 0 &&
      it.queue.steering.length === 0 &&
      it.intents.every(({ outcome }) => outcome !== 'pending')
    );
  };
  for (let attempt = 1; left() > 0; attempt += 1) {
    const text = `The end, ${attempt}: say 3`;
    const sent = await world.intent(first!, 'prompt', { message: text }, text);
    while (left() > 0) {
      const heard = () => sent.outcome !== undefined || typeof sent.reply === 'object';
      if (heard() && quiet()) break;
      if (!(await answer())) await world.until(() => (heard() && quiet()) || !!now()?.dialogs.length, 5000);
      // The hub that had it is another one.
      if (sent.reply === 'accepted' && !now()?.intents.some(({ intent }) => intent === sent.id)) break;
    }
    if (sent.outcome === 'done' && quiet()) return true;
    // An agent that was killed too often is left alone until somebody says so.
    if (sent.why?.includes('restartAgent')) await world.intent(first!, 'restart_agent', {});
  }
  return fail('no prompt works any more');
}

/** Everybody leaves, and the hub is asked to end. Tells who does not. */
export async function ended(
  world: Pick<World, 'editors' | 'home' | 'processes' | 'until'>,
): Promise<string[]> {
  for (const editor of world.editors.values()) editor.leave('shutdown');
  const names = () => world.home.processes().map(commandOf);
  const problems: string[] = [];
  if (!(await world.until(() => world.processes('server').length === 0, patience)))
    problems.push(`servers outlive their editors: ${names().join(' | ')}`);
  if (world.processes('hub').length !== 1) problems.push(`there are ${world.processes('hub').length} hubs`);
  for (const pid of world.processes('hub')) signalled(pid, 'SIGTERM');
  if (!(await world.until(() => world.home.processes().length === 0, patience)))
    problems.push(`still running: ${names().join(' | ')}`);
  return problems;
}

const commandOf = (pid: number): string => {
  try {
    const state = /^State:\s+(\S)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return `${pid} ${state} ${fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`;
  } catch {
    return `${pid} has just gone`;
  }
};

/** Copies what the programs wrote to where a person can look at it. */
function kept(world: World, seed: number): string {
  const folder = path.join(os.tmpdir(), `chaos-${seed}-${process.pid}`);
  fs.cpSync(world.home.env.XDG_STATE_HOME!, folder, { recursive: true });
  return folder;
}
