// How many facts a second reach an editor, and what ten editors cost. Guarantees: limit and subject get the same bytes from the same
// agent, in turn. Must not know: how facts travel.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import os from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { hubAddress } from '../../server/src/hub/address.ts';
import { frame } from '../../server/src/hub/frames.ts';
import { hubProtocol } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { projectFolder } from '../editors/project.ts';
import { type BenchEditor, benchAgent, type Job, startEditor } from './editor.ts';
import { type Benchmark, type Figure, figuresOf, median, type Size } from './figures.ts';
import { cpuSeconds, hubOf } from './processes.ts';

const parser = fileURLToPath(new URL('parse-only.mjs', import.meta.url));

/** Facts a second of splitting and JSON.parse alone. */
async function parsedOnly(job: Job): Promise<number> {
  const { command, args = [] } = benchAgent();
  const child = spawn('sh', ['-c', '"$1" "$2" | "$1" "$3"', 'sh', command, args[0]!, parser], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(`${JSON.stringify({ type: 'prompt', message: JSON.stringify(job) })}\n`);
  const { records, seconds } = JSON.parse(await text(child.stdout));
  return records / seconds;
}

/** Facts a second that reach a draining editor, from the first one to the end of the run. */
async function delivered(editor: BenchEditor, job: Job): Promise<{ rate: number; begunAnew: number }> {
  let start = 0;
  let begunAnew = 0;
  editor.onText((message) => {
    if (message.includes('"atomic/resync"')) begunAnew += 1;
    if (start === 0 && message.includes('"type":"text_delta"')) start = performance.now();
  });
  await editor.run(job);
  return { rate: Number(job.deltas) / ((performance.now() - start) / 1000), begunAnew };
}

/** A peer of the hub that takes everything and looks at nothing but the end. */
async function drain(home: EditorHome) {
  const address = hubAddress({
    platform: process.platform,
    uid: process.getuid?.(),
    user: os.userInfo().username,
    runtimeDir: home.env.XDG_RUNTIME_DIR,
    override: undefined,
  });
  const socket = net.connect(address.socket);
  const waiting: { mark: string; found: (seen: string) => void }[] = [];
  let seen = '';
  socket.on('data', (chunk: Buffer) => {
    seen += chunk.toString('latin1');
    for (const it of waiting.filter(({ mark }) => seen.includes(mark))) {
      waiting.splice(waiting.indexOf(it), 1);
      it.found(seen);
    }
    seen = seen.slice(-2_000);
  });
  const seeing = (mark: string) => new Promise<string>((found) => waiting.push({ mark, found }));
  const ask = (id: number, method: string, params: object) => {
    const answer = seeing(`"id":${id},"result"`);
    socket.write(frame(JSON.stringify({ jsonrpc: '2.0', id, method, params })));
    return answer;
  };
  await ask(1, 'hello', { protocol: hubProtocol, version: '0', name: 'drain', env: {} });
  const attached = await ask(2, 'attach', { workspace: projectFolder(home, undefined), agent: benchAgent() });
  const session = /"result":\{"session":"(\w+)"/.exec(attached)![1]!;
  return {
    ended: (count: number) => seeing(`"ended ${count}"`),
    prompt: (job: Job) =>
      ask(3, 'intent', {
        session,
        id: randomUUID(),
        command: 'atomic.prompt',
        params: { message: JSON.stringify(job) },
      }),
    close: () => socket.destroy(),
  };
}

/** Ends are told apart by their numbers; far from those of the editors. */
let jobs = 1_000_000;

/** The hub's processor seconds for a run that `count` editors see. */
async function costOf(home: EditorHome, count: number, what: Job): Promise<number> {
  jobs += 1;
  const job = { ...what, end: jobs };
  const editors = await Promise.all(Array.from({ length: count }, () => drain(home)));
  const hub = hubOf(home);
  const before = cpuSeconds(hub);
  const ends = editors.map((editor) => editor.ended(jobs));
  await editors[0]!.prompt(job);
  await Promise.all(ends);
  const cost = cpuSeconds(hub) - before;
  for (const editor of editors) editor.close();
  return cost;
}

async function throughput(size: Size): Promise<Figure[]> {
  const full = size === 'full';
  const home = createEditorHome();
  const job: Job = { job: 'flood', deltas: full ? 100_000 : 500 };
  const large: Job = { job: 'flood', deltas: full ? 20_000 : 500, size: 1_000 };
  const repetitions = full ? 5 : 1;
  let begunAnew = 0;
  const direct = await startEditor({ hub: false });
  const shared = await startEditor({ home });
  try {
    const rates = { limit: [] as number[], direct: [] as number[], hub: [] as number[] };
    for (let turn = 0; turn <= repetitions; turn += 1) {
      const ways = { direct: await delivered(direct, job), hub: await delivered(shared, job) };
      const seen = { limit: await parsedOnly(job), direct: ways.direct.rate, hub: ways.hub.rate };
      begunAnew += ways.direct.begunAnew + ways.hub.begunAnew;
      // The first time is to warm up.
      if (turn > 0 || !full)
        for (const name of ['limit', 'direct', 'hub'] as const) rates[name].push(seen[name]);
    }
    const one: number[] = [];
    const ten: number[] = [];
    // The editor itself costs something, too, and is not what is measured.
    await shared.close();
    for (let turn = 0; turn < repetitions; turn += 1) {
      one.push(await costOf(home, 1, large));
      ten.push(await costOf(home, 10, large));
    }
    const limit = { what: 'split + JSON.parse alone', value: median(rates.limit) };
    const subjects = ['direct', 'hub'] as const;
    return [
      ...figuresOf(
        { id: 'b.rate', what: 'deltas of 20 characters to one editor', unit: 'facts/s', limit },
        subjects.map((id) => ({
          id,
          what: id === 'hub' ? 'with hub' : 'without hub',
          value: median(rates[id]),
          aim: { of: 'ratio', atLeast: 0.4 },
        })),
      ),
      {
        id: 'b.anew',
        what: 'times that an editor was so far behind that it got a snapshot instead',
        value: begunAnew,
        unit: 'times',
      },
      {
        id: 'b.ten',
        what: 'processor seconds of the hub for 20,000 deltas of 1,000 characters, ten editors',
        value: median(ten),
        unit: 's',
        limit: { what: 'one editor', value: median(one) },
        aim: { of: 'ratio', atMost: 3.5 },
      },
    ];
  } finally {
    await direct.close();
    await shared.close();
    await home.close();
  }
}

export const benchmark: Benchmark = {
  id: 'b',
  title: 'Throughput of facts, and what more editors cost',
  run: throughput,
};
