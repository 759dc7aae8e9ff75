// The same job through pi-acp: the same real pi, the same model, in turn. Guarantees: processor time and memory are those of the bridge
// alone; the agent's own are not counted for anyone. Must not know: how either works inside.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createEditorHome } from '../editors/home.ts';
import { projectFolder } from '../editors/project.ts';
import { startModelServer } from '../support/model-server.ts';
import { type PiAgent, piAgent } from '../support/pi.ts';
import { startEditor } from './editor.ts';
import { type Benchmark, type Figure, median, type Size } from './figures.ts';
import { cpuSeconds, hubOf, peakMemory } from './processes.ts';

/** What one run of the job costs. */
interface Cost {
  /** Milliseconds from the start of the bridge to the first word. */
  first: number;
  /** Seconds from the first word to the end of the answer. */
  answer: number;
  cpu: number;
  memory: number;
  bytes: number;
}

const folder = join(import.meta.dirname, 'pi-acp');
const piAcp = join(folder, 'node_modules/pi-acp/dist/index.js');

/** Resolves with what the bridge's processes have cost. */
const costOf = (begun: number, first: number, pids: number[], bytes: number): Cost => ({
  first: first - begun,
  answer: (performance.now() - first) / 1000,
  cpu: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
  memory: pids.reduce((sum, pid) => sum + peakMemory(pid), 0),
  bytes,
});

async function throughUs(agent: PiAgent, hub: boolean): Promise<Cost> {
  const home = createEditorHome();
  const begun = performance.now();
  const editor = await startEditor({ home, agent, hub });
  let first = 0;
  let before = 0;
  editor.onText((text) => {
    if (first !== 0 || !text.includes('"text_delta"')) return;
    first = performance.now();
    before = editor.bytes();
  });
  const end = editor.seen('"type":"agent_settled"');
  await editor.request('workspace/executeCommand', { command: 'atomic.prompt', arguments: ['go'] });
  await end;
  const cost = costOf(begun, first, hub ? [editor.pid, hubOf(home)] : [editor.pid], editor.bytes() - before);
  await editor.close();
  await home.close();
  return cost;
}

async function throughPiAcp(agent: PiAgent): Promise<Cost> {
  const home = createEditorHome();
  const begun = performance.now();
  const child: ChildProcess = spawn(process.execPath, [piAcp], {
    cwd: home.path,
    env: { ...home.env, ...agent.env, PATH: `${agent.bin}:${process.env.PATH}` },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let first = 0;
  let bytes = 0;
  let before = 0;
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (first === 0 && waiting.has(3) && line.includes('"agent_message_chunk"') && line.includes('word0 ')) {
      first = performance.now();
      before = bytes;
    }
    if (!line.includes('"id":')) return;
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let ids = 0;
  const request = <T>(method: string, params: object): Promise<T> =>
    new Promise((resolve, reject) => {
      ids += 1;
      waiting.set(ids, ({ result, error }) =>
        error ? reject(new Error(JSON.stringify(error))) : resolve(result as T),
      );
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: ids, method, params })}\n`);
    });
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await request<{ sessionId: string }>('session/new', {
    cwd: projectFolder(home, undefined),
    mcpServers: [],
  });
  await request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
  const cost = costOf(begun, first, [child.pid!], bytes - before);
  const exited = once(child, 'exit');
  child.stdin!.end();
  child.kill();
  await exited;
  await home.close();
  return cost;
}

async function sideBySide(size: Size): Promise<Figure[]> {
  // By its lock file; nothing is built.
  if (!existsSync(piAcp))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'ignore',
    });
  const tokens = size === 'full' ? 20_000 : 50;
  const model = await startModelServer(() => [{ tokens }]);
  const agent = await piAgent({ model, settings: { quietStartup: true } });
  const costs = { direct: [] as Cost[], hub: [] as Cost[], other: [] as Cost[] };
  try {
    for (let turn = 0; turn < (size === 'full' ? 5 : 1); turn += 1) {
      costs.other.push(await throughPiAcp(agent));
      costs.direct.push(await throughUs(agent, false));
      costs.hub.push(await throughUs(agent, true));
    }
  } finally {
    agent.dispose();
    await model.close();
  }
  const shown = `${tokens.toLocaleString('en')} tokens`;
  const quantities = {
    first: { what: 'from the start of the bridge to the first word', unit: 'ms' },
    answer: { what: `an answer of ${shown}`, unit: 's' },
    cpu: { what: `processor time of the bridge, start and ${shown}`, unit: 's' },
    memory: { what: 'peak memory of the bridge', unit: 'MB' },
    bytes: { what: `bytes to the editor for ${shown}`, unit: 'MB' },
  } as const;
  return Object.entries(quantities).flatMap(([key, { what, unit }]) => {
    const name = key as keyof Cost;
    const scale = name === 'bytes' ? 1e-6 : 1;
    const of = (all: Cost[]) => median(all.map((cost) => cost[name])) * scale;
    return (['direct', 'hub'] as const).map(
      (way): Figure => ({
        id: `f.${name}.${way}`,
        what: `${what}, with${way === 'hub' ? '' : 'out'} hub`,
        value: of(costs[way]),
        unit,
        limit: { what: 'pi-acp', value: of(costs.other) },
        aim: { of: 'ratio', atMost: 1 },
      }),
    );
  });
}

export const benchmark: Benchmark = {
  id: 'f',
  title: 'The same job through pi-acp 0.0.34',
  run: sideBySide,
};
