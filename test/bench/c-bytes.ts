// Bytes to the editor for each character of an answer and of a tool's output, whatever the dialect of the agent. Guarantees: counts
// bytes, so that the load of the machine hardly matters. Must not know: how facts are written.
import { type BenchEditor, benchAgent, type Job, startEditor } from './editor.ts';
import { type Benchmark, type Figure, figuresOf, type Size } from './figures.ts';

const dialects = ['D1', 'D2', 'D3'] as const;
const characters = 20;

async function bytesOf(editor: BenchEditor, job: Job): Promise<number> {
  const before = editor.bytes();
  await editor.run(job);
  return editor.bytes() - before;
}

async function bytes(size: Size): Promise<Figure[]> {
  const lengths = size === 'full' ? [8_000, 16_000, 32_000, 64_000] : [400, 800];
  const outputs = size === 'full' ? [5_000_000, 10_000_000] : [50_000, 100_000];
  const answer = (length: number, every: number): Job => ({
    job: 'paced',
    deltas: length / characters,
    every,
    size: characters,
  });
  const editors = new Map<string, BenchEditor>();
  try {
    for (const dialect of dialects)
      editors.set(dialect, await startEditor({ hub: false, agent: benchAgent(dialect) }));
    editors.set('alone', await startEditor({ hub: false }));
    editors.set('tool', await startEditor({ hub: false }));
    const each = async (name: string, jobs: Job[]): Promise<number[]> => {
      const counts: number[] = [];
      for (const job of jobs) counts.push(await bytesOf(editors.get(name)!, job));
      return counts;
    };
    const [alone, ...streams] = await Promise.all([
      each('alone', [answer(lengths[0]!, size === 'full' ? 25 : 2)]),
      ...dialects.map((dialect) =>
        each(
          dialect,
          lengths.map((length) => answer(length, 2)),
        ),
      ),
    ]);
    const tools = await each(
      'tool',
      outputs.map((length) => ({ job: 'tool', bytes: length })),
    );
    const longest = lengths.length - 1;
    const doubled = (counts: number[]) => counts[longest]! / counts[longest - 1]!;
    const thousands = (count: number) => `${count.toLocaleString('en')}`;
    return [
      ...dialects.flatMap((dialect, index) =>
        figuresOf(
          {
            id: `c.${dialect}`,
            what: `an answer in deltas of 20 characters 2 ms apart, agent of ${dialect}`,
            unit: 'bytes/character',
          },
          [lengths[0]!, lengths[longest]!].map((length) => ({
            id: thousands(length),
            what: `${thousands(length)} characters`,
            value: streams[index]![lengths.indexOf(length)]! / length,
            aim: { of: 'value' as const, atMost: 12 },
          })),
        ),
      ),
      ...figuresOf(
        {
          id: 'c.doubled',
          what: 'bytes for twice the length',
          unit: 'times',
          limit: { what: 'linear', value: 2 },
        },
        [
          ...dialects.map((dialect, index) => ({
            id: dialect,
            what: `answer, agent of ${dialect}`,
            value: doubled(streams[index]!),
            aim: { of: 'ratio' as const, atLeast: 0.9, atMost: 1.05 },
          })),
          {
            id: 'tool',
            what: 'output of a tool',
            value: tools[1]! / tools[0]!,
            aim: { of: 'ratio' as const, atLeast: 0.9, atMost: 1.05 },
          },
        ],
      ),
      {
        id: 'c.alone',
        what: 'deltas of 20 characters so far apart (25 ms) that none can be merged',
        value: alone![0]! / lengths[0]!,
        unit: 'bytes/character',
      },
      {
        id: 'c.tool',
        what: `${thousands(outputs[1]! / 1e6)} MB that a tool prints`,
        value: tools[1]! / outputs[1]!,
        unit: 'bytes/character',
        aim: { of: 'value', atMost: 12 },
      },
    ];
  } finally {
    for (const editor of editors.values()) await editor.close();
  }
}

export const benchmark: Benchmark = { id: 'c', title: 'Bytes to the editor', run: bytes };
