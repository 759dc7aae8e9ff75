// What the hub and the servers keep in memory. Guarantees: resident memory as the system counts it, after the work is done. Must not
// know: what is kept.
import { setTimeout } from 'node:timers/promises';
import { createEditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { type BenchEditor, benchAgent, startEditor } from './editor.ts';
import type { Benchmark, Figure, Size } from './figures.ts';
import { hubOf, residentMemory } from './processes.ts';

async function memory(size: Size): Promise<Figure[]> {
  const full = size === 'full';
  const home = createEditorHome();
  const editors: BenchEditor[] = [];
  const join = async () => {
    const editor = await startEditor({ home, agent: benchAgent() });
    editors.push(editor);
    return editor;
  };
  try {
    const first = await join();
    const hub = hubOf(home);
    const resident = async () => {
      // What the run of a moment ago left is collected when there is nothing to do.
      await setTimeout(full ? 1_500 : 10);
      return { hub: residentMemory(hub), server: residentMemory(first.pid) };
    };
    const idle = await resident();
    const more = full ? 4 : 1;
    for (let count = 0; count < more; count += 1) await join();
    const withEditors = await resident();
    for (const editor of editors.splice(1)) await editor.close();
    const turns = full ? 10_000 : 10;
    const hour = { job: 'flood', turns: turns / 2, deltas: 36 } as const;
    await first.run({ job: 'flood', turns: 1, deltas: 100 });
    const before = await resident();
    // 36 deltas in each of 10,000 turns are 100 deltas a second for an hour.
    const runs = async (editor: BenchEditor) => {
      await editor.run(hour);
      return resident();
    };
    const half = await runs(first);
    const whole = await runs(first);
    const stopped = await join();
    signalled(stopped.pid, 'SIGSTOP');
    const beforeStopped = await resident();
    await first.run(hour);
    const withStopped = await resident();
    signalled(stopped.pid, 'SIGCONT');
    return [
      {
        id: 'e.hub',
        what: 'the hub with one idle editor',
        value: idle.hub,
        unit: 'MB',
        aim: { of: 'value', atMost: 70 },
      },
      { id: 'e.server', what: 'the server of an idle editor', value: idle.server, unit: 'MB' },
      {
        id: 'e.editor',
        what: 'the hub, for each further idle editor',
        value: (withEditors.hub - idle.hub) / more,
        unit: 'MB',
        aim: { of: 'value', atMost: 1 },
      },
      {
        id: 'e.session',
        what: `the hub after a session of ${turns.toLocaleString('en')} turns`,
        value: whole.hub,
        unit: 'MB',
        limit: { what: 'before it', value: before.hub },
      },
      {
        id: 'e.hour.hub',
        what: 'growth of the hub in the second half of an hour of streaming',
        value: whole.hub - half.hub,
        unit: 'MB',
        aim: { of: 'value', atMost: 8 },
      },
      {
        id: 'e.hour.server',
        what: 'growth of the server in the second half of an hour of streaming',
        value: whole.server - half.server,
        unit: 'MB',
        aim: { of: 'value', atMost: 8 },
      },
      {
        id: 'e.stopped',
        what: 'growth of the hub in half an hour of streaming beside a stopped editor',
        value: withStopped.hub - beforeStopped.hub,
        unit: 'MB',
        aim: { of: 'value', atMost: 10 },
      },
    ];
  } finally {
    for (const editor of editors) await editor.close();
    await home.close();
  }
}

export const benchmark: Benchmark = { id: 'e', title: 'Memory', run: memory };
