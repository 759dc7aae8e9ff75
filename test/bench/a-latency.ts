// One delta's way from the agent's stdout to the editor, against the same bytes through `cat`; beside it a Node program that does the
// least that a bridge must. Guarantees: all ways are measured in turn, block by block, so that the machine is the same for all.
// Must not know: how facts travel.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { benchAgent, type Job, startEditor } from './editor.ts';
import { type Benchmark, type Figure, figuresOf, quantile, type Size } from './figures.ts';

/** A way from the agent to a reader. */
interface Way {
  /** The ages of the job's deltas at their arrival, in microseconds, in order. */
  ages(job: Job): Promise<number[]>;
  close(): Promise<void>;
}

const stamp = /@(\d{10,})@/g;

/** Collects the ages of deltas; text that repeats earlier deltas counts once. */
function collector() {
  let ages: number[] = [];
  let carry = '';
  let newest = 0n;
  return {
    take(chunk: Buffer, at: bigint): string {
      const text = carry + chunk.toString('latin1');
      for (const [, digits] of text.matchAll(stamp)) {
        const sent = BigInt(digits!);
        if (sent <= newest) continue;
        newest = sent;
        ages.push(Number(at - sent) / 1000);
      }
      carry = text.slice(-64);
      return text;
    },
    taken(): number[] {
      const all = ages;
      ages = [];
      return all;
    },
  };
}

const passOn = fileURLToPath(new URL('pass-on.mjs', import.meta.url));

/** Through a program that passes on what it reads. */
function throughPipe(program: readonly string[]): Way {
  const { command, args = [] } = benchAgent();
  const agent = [command, ...args];
  const numbers = agent.map((_, index) => `"$${index + 1}"`).join(' ');
  const script = `${numbers} | { shift ${agent.length}; exec "$@"; }`;
  const child = spawn('sh', ['-c', script, 'sh', ...agent, ...program], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const stamps = collector();
  let over = () => {};
  child.stdout.on('data', (chunk: Buffer) => {
    if (stamps.take(chunk, process.hrtime.bigint()).includes('"type":"agent_settled"')) over();
  });
  return {
    async ages(job) {
      const settled = new Promise<void>((resolve) => {
        over = resolve;
      });
      child.stdin.write(`${JSON.stringify({ id: '1', type: 'prompt', message: JSON.stringify(job) })}\n`);
      await settled;
      return stamps.taken();
    },
    async close() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}

async function throughServer(hub: boolean): Promise<Way> {
  const editor = await startEditor({ hub });
  const stamps = collector();
  editor.onChunk((chunk, at) => void stamps.take(chunk, at));
  return {
    async ages(job) {
      await editor.run(job);
      return stamps.taken();
    },
    close: () => editor.close(),
  };
}

/** The way's ages for many blocks. */
type Ages = Record<(typeof names)[number], number[][]>;

const names = ['cat', 'least', 'direct', 'hub'] as const;

async function measured(ways: Record<keyof Ages, Way>, job: Job, blocks: number): Promise<Ages> {
  const ages: Ages = { cat: [], least: [], direct: [], hub: [] };
  for (let block = 0; block < blocks; block += 1)
    for (let turn = 0; turn < names.length; turn += 1) {
      // Whoever comes first has no advantage.
      const name = names[(turn + block) % names.length]!;
      ages[name].push(await ways[name].ages(job));
    }
  return ages;
}

const words = {
  least: 'through Node that parses and frames each line',
  direct: 'without hub',
  hub: 'with hub',
};

function compared(id: string, what: string, ages: Ages, pick: (block: number[]) => number[]): Figure[] {
  const all = (name: keyof Ages) => ages[name].flatMap(pick);
  return [0.5, 0.99].flatMap((share) => {
    const name = `p${share * 100}`;
    const limit = { what: 'through cat', value: quantile(all('cat'), share) };
    return figuresOf(
      { id: `a.${id}`, what: `${what}, ${name}`, unit: 'µs', limit },
      (['least', 'direct', 'hub'] as const).map((way) => ({
        id: `${way}.${name}`,
        what: words[way],
        value: quantile(all(way), share),
        ...(way !== 'least' && {
          aim: { of: 'ratio' as const, atMost: share === 0.99 ? 3 : way === 'direct' ? 1.6 : 2.5 },
        }),
      })),
    );
  });
}

/** Milliseconds between two notifications to an editor at most; 60 a second. */
const flush = 1000 / 60;

async function latency(size: Size): Promise<Figure[]> {
  const full = size === 'full';
  const ways = {
    cat: throughPipe(['cat']),
    least: throughPipe([process.execPath, passOn]),
    direct: await throughServer(false),
    hub: await throughServer(true),
  };
  try {
    const sparse: Job = { job: 'paced', deltas: full ? 8 : 3, every: 25, wait: 40, stamp: true };
    const dense: Job = { job: 'paced', deltas: full ? 500 : 40, every: 2, wait: 40, stamp: true };
    // Not counted: code is compiled, agents are started.
    await measured(ways, sparse, full ? 10 : 1);
    const slow = await measured(ways, sparse, full ? 100 : 2);
    const fast = await measured(ways, dense, full ? 5 : 1);
    const age = (way: 'direct' | 'hub', share: number) => quantile(fast[way].flat(), share) / 1000;
    // A delta that just missed a flush waits for the next, and then goes the way that one alone goes.
    const oneWay = quantile(slow.cat.flat(), 0.5) / 1000;
    return [
      ...compared('first', 'the first delta of an answer', slow, (block) => block.slice(0, 1)),
      ...compared('steady', 'a delta 25 ms after the one before', slow, (block) => block.slice(1)),
      ...(['p50', 'p99', 'oldest'] as const).flatMap((name) => {
        const share = { p50: 0.5, p99: 0.99, oldest: 1 }[name];
        return figuresOf(
          {
            id: 'a.dense',
            what: `age of deltas 2 ms apart when they are delivered, ${name}`,
            unit: 'ms',
            limit: { what: 'one flush interval and one way through cat', value: flush + oneWay },
          },
          (['direct', 'hub'] as const).map((way) => ({
            id: `${way}.${name}`,
            what: words[way],
            value: age(way, share),
            ...(name === 'p99' && { aim: { of: 'ratio' as const, atMost: 1 } }),
          })),
        );
      }),
    ];
  } finally {
    for (const way of Object.values(ways)) await way.close();
  }
}

export const benchmark: Benchmark = {
  id: 'a',
  title: 'One delta’s way from the agent to the editor',
  run: latency,
};
