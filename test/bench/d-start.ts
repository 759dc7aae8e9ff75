// From nothing to an answer. Guarantees: starts are in turn with those of a bare Node; a cold start has neither a hub nor anything
// that an earlier start left. Must not know: what is loaded.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, type PiAgent, piAgent } from '../support/pi.ts';
import { startEditor, startedServer } from './editor.ts';
import { type Benchmark, type Figure, median, quantile, type Size } from './figures.ts';

const since = (begun: bigint): number => Number(process.hrtime.bigint() - begun) / 1e6;

async function bare(node: string): Promise<number> {
  const begun = process.hrtime.bigint();
  await once(spawn(node, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return since(begun);
}

/** Milliseconds until `initialize` is answered. */
async function initialized(node: string, home: EditorHome): Promise<number> {
  const begun = process.hrtime.bigint();
  const server = await startedServer({ node, home });
  const time = since(begun);
  await server.close();
  return time;
}

interface Starts {
  bare: number[];
  cold: number[];
  warm: number[];
}

async function starts(node: string, repetitions: number): Promise<Starts> {
  const times: Starts = { bare: [], cold: [], warm: [] };
  const lived = createEditorHome();
  // What is warm has started before, and its hub runs.
  const keeper = await startEditor({ node, home: lived });
  await initialized(node, lived);
  try {
    for (let turn = 0; turn < repetitions; turn += 1) {
      times.bare.push(await bare(node));
      times.warm.push(await initialized(node, lived));
      const fresh = createEditorHome();
      times.cold.push(await initialized(node, fresh));
      await fresh.close();
    }
  } finally {
    await keeper.close();
    await lived.close();
  }
  return times;
}

/** Milliseconds until the agent itself has accepted a prompt. */
async function acceptedByAgent(agent: PiAgent): Promise<number> {
  const begun = process.hrtime.bigint();
  const child = spawn(agent.command, [...agent.args, '--mode', 'rpc'], {
    env: { PATH: process.env.PATH!, ...agent.env },
    cwd: agent.home,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout });
  child.stdin.write('{"id":"1","type":"prompt","message":"hello"}\n');
  for await (const line of lines) if (line.includes('"command":"prompt"')) break;
  const time = since(begun);
  const ended = once(child, 'exit');
  child.stdin.end();
  await ended;
  return time;
}

/** Milliseconds from the start of the server until the agent has accepted a prompt. */
async function acceptedByServer(agent: AgentChoice, hub: boolean): Promise<number> {
  const begun = process.hrtime.bigint();
  const editor = await startEditor({ agent, hub });
  const accepted = new Promise<void>((resolve) =>
    editor.onText((text) => {
      if (text.includes('"type":"intent_settled"')) resolve();
    }),
  );
  const argument = { message: 'hello' };
  await editor.request('workspace/executeCommand', { command: 'atomic.prompt', arguments: [argument] });
  await accepted;
  const time = since(begun);
  await editor.close();
  return time;
}

/** Other versions of Node, which come with the real agent. */
async function otherNodes(): Promise<{ version: string; node: string }[]> {
  await ensurePi();
  const modules = join(import.meta.dirname, '../agents/node_modules');
  return readdirSync(modules)
    .filter((name) => /^node-.*linux/.test(name))
    .map((name) => join(modules, name, 'bin/node'))
    .filter((node) => existsSync(node))
    .map((node) => ({ node, version: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() }));
}

function startFigures(id: string, version: string, times: Starts): Figure[] {
  const limit = { what: 'node -e 0', value: median(times.bare) };
  return [
    {
      id: `d.${id}.cold`,
      what: `\`initialize\` answered, first start ever, Node ${version}`,
      value: median(times.cold),
      unit: 'ms',
      limit,
      aim: { of: 'ratio', atMost: 3.5 },
    },
    {
      id: `d.${id}.warm`,
      what: `\`initialize\` answered, any later start, Node ${version}`,
      value: median(times.warm),
      unit: 'ms',
      limit,
      aim: { of: 'distance', atMost: 25 },
    },
    {
      id: `d.${id}.warm.p90`,
      what: `the same, p90`,
      value: quantile(times.warm, 0.9),
      unit: 'ms',
      limit: { what: 'node -e 0, p90', value: quantile(times.bare, 0.9) },
    },
  ];
}

async function start(size: Size): Promise<Figure[]> {
  const full = size === 'full';
  const figures = startFigures('own', process.version, await starts(process.execPath, full ? 25 : 1));
  if (full)
    for (const { node, version } of await otherNodes())
      figures.push(
        ...startFigures(`node${version.split('.')[0]!.slice(1)}`, version, await starts(node, 25)),
      );
  const model = await startModelServer(() => 'yes');
  const agent = await piAgent({ model });
  const times = { agent: [] as number[], direct: [] as number[], hub: [] as number[] };
  try {
    for (let turn = 0; turn < (full ? 5 : 1); turn += 1) {
      times.agent.push(await acceptedByAgent(agent));
      times.direct.push(await acceptedByServer(agent, false));
      times.hub.push(await acceptedByServer(agent, true));
    }
  } finally {
    agent.dispose();
    await model.close();
  }
  const limit = { what: 'pi alone', value: median(times.agent) };
  for (const way of ['direct', 'hub'] as const)
    figures.push({
      id: `d.prompt.${way}`,
      what: `first prompt accepted by pi from nothing, with${way === 'hub' ? '' : 'out'} hub`,
      value: median(times[way]),
      unit: 'ms',
      limit,
    });
  return figures;
}

export const benchmark: Benchmark = { id: 'd', title: 'Start', run: start };
