// How long a key takes in Helix while 1 MB streams into a chat that is open. Guarantees: a real Helix on a real terminal; the limit is
// the same typing before the stream. Must not know: how the chat grows.
import { type Helix, startHelix } from '../support/helix.ts';
import { benchAgent, program } from './editor.ts';
import { type Figure, quantile, type Size } from './figures.ts';

/** What was typed last: the last row that has nothing but letters besides its number. */
const typedRow = (screen: string): string =>
  screen
    .split('\n')
    .map((row) => row.replace(/^\s*\d*\s*/, '').trimEnd())
    .filter((row) => /^[a-z]+$/.test(row))
    .at(-1) ?? '';

/** Types letters one by one while `more` says so; milliseconds until each is on the screen. */
async function typed(helix: Helix, more: (count: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; more(count); count += 1) {
    const letter = String.fromCharCode(97 + (count % 26));
    const begun = performance.now();
    await helix.terminal.text(letter);
    await helix.waitForScreen((screen) => typedRow(screen).endsWith(letter));
    times.push(performance.now() - begun);
    if (count % 26 === 25) await helix.terminal.text('\r');
  }
  return times;
}

export async function typingInHelix(size: Size): Promise<Figure[]> {
  const deltas = size === 'full' ? 10_000 : 500;
  const job = { job: 'paced', deltas, every: 1, wait: 1_000, size: 100 };
  const helix = await startHelix({
    files: ['notes.md'],
    cols: 160,
    server: {
      command: process.execPath,
      args: [program],
      initializationOptions: { hub: false, agent: benchAgent() },
    },
  });
  try {
    await helix.executeCommand('atomic.open');
    await helix.waitForScreen('views/');
    await helix.executeCommand('atomic.compose');
    await helix.waitForScreen('prompt.md');
    await helix.insert(JSON.stringify(job));
    await helix.command('open notes.md');
    await helix.waitForScreen(/NOR .*notes\.md/);
    await helix.terminal.text('i');
    const quiet = await typed(helix, (count) => count < 100);
    await helix.terminal.text('\x1b\x1b');
    await helix.command('write-all');
    await helix.waitForLog(/"kind":"begin"/, { timeout: 60_000 });
    await helix.terminal.text('o');
    const busy = await typed(helix, () => !/"kind":"end"/.test(helix.log()));
    return [0.5, 1].map((share) => ({
      id: share === 1 ? 'g.helix.slowest' : 'g.helix.typical',
      what: `Helix: ${share === 1 ? 'the slowest' : 'a typical'} key while 1 MB streams into the open chat`,
      value: quantile(busy, share),
      unit: 'ms' as const,
      limit: { what: 'without a stream', value: quantile(quiet, share) },
    }));
  } finally {
    await helix.close();
  }
}
