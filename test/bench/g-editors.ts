// What an editor's user feels of 1 MB that streams at 1,000 deltas a second. Guarantees: the real editor on a real terminal, with the
// client that people use; beside it the same text inserted by the editor itself. Must not know: how the clients work.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EditorName, editorPath } from '../support/editors.ts';
import type { Benchmark, Figure, Size } from './figures.ts';
import { typingInHelix } from './g-helix.ts';

/** What emacs.mjs and neovim.mjs print. */
interface Report {
  longestBlockMs: number;
  localLongestBlockMs: number;
  cpuSeconds: number;
  localCpuSeconds: number;
  /** Of the processor, which other programs do not lengthen; where it was measured. */
  busiestMs?: number;
  localBusiestMs?: number;
}

async function reported(name: 'emacs' | 'neovim', size: Size): Promise<Report> {
  const script = join(import.meta.dirname, `${name}.mjs`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, ...(size === 'full' ? ['3'] : ['1', '500'])],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return JSON.parse(stdout);
}

const clients: { name: 'emacs' | 'neovim'; title: string; program: EditorName; longest: number }[] = [
  { name: 'neovim', title: 'Neovim', program: 'nvim', longest: 8 },
  { name: 'emacs', title: 'Emacs', program: 'emacs', longest: 30 },
];

async function editors(size: Size): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, title, program, longest } of clients) {
    const missing = !editorPath(program) || !existsSync(join(import.meta.dirname, `${name}.mjs`));
    if (missing) continue;
    const report = await reported(name, size);
    figures.push(
      {
        id: `g.${name}.block`,
        what: `${title}: longest block of the main loop`,
        value: report.longestBlockMs,
        unit: 'ms',
        limit: { what: 'the same text by a timer in it', value: report.localLongestBlockMs },
        aim: { of: 'value', atMost: longest },
      },
      ...(report.busiestMs !== undefined && report.localBusiestMs !== undefined
        ? [
            {
              id: `g.${name}.busy`,
              what: `${title}: processor time of the longest block`,
              value: report.busiestMs,
              unit: 'ms' as const,
              limit: { what: 'the same text by a timer in it', value: report.localBusiestMs },
              aim: { of: 'value' as const, atMost: longest },
            },
          ]
        : []),
      {
        id: `g.${name}.cpu`,
        what: `${title}: processor time of the editor`,
        value: report.cpuSeconds,
        unit: 's',
        limit: { what: 'the same text by a timer in it', value: report.localCpuSeconds },
      },
    );
  }
  if (editorPath('hx')) figures.push(...(await typingInHelix(size)));
  return figures;
}

export const benchmark: Benchmark = { id: 'g', title: 'Editors while 1 MB streams', run: editors };
