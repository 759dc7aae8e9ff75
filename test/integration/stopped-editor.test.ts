// One of five editors is stopped while much is said: it costs the hub a number and the others nothing, and then it has everything. Here
// with few and long deltas; `node test/chaos/run.mjs --stopped` does it for a minute at 1,000 facts a second.
import { afterEach, describe, expect, it } from 'vitest';
import type { Editor } from '../chaos/editor.ts';
import { type Five, fiveEditors } from '../chaos/five.ts';
import { signalled } from '../editors/processes.ts';

/** Deltas a second, the UTF-16 units of one, and the deltas of each part. */
interface Measure {
  rate: number;
  size: number;
  warmUp: number;
  compared: number;
  stopped: number;
}
/** What the stopped one misses is some times as much as memory may grow. */
const bounded: Measure = { rate: 2000, size: 2000, warmUp: 3000, compared: 1000, stopped: 6000 };
/** The first minute fills the journal. */
const full: Measure = { rate: 1000, size: 60, warmUp: 60_000, compared: 60_000, stopped: 60_000 };
const megabytes = 10;

let five: Five | undefined;
afterEach(async () => {
  await five?.close();
  five = undefined;
});

const rounded = (value: number) => Math.round(value * 100) / 100;

/** What is seen until these have all that is said: milliseconds of the four that read, megabytes of the hub. */
async function part({ hub, until, latencies, say, held }: Five, deltas: number, readers: readonly Editor[]) {
  const memory: number[] = [];
  const look = () =>
    hub.status().then(
      (status) => memory.push(status.memory),
      () => {},
    );
  const timer = setInterval(look, 100);
  latencies();
  const runs = readers[0]!.copy!.snapshot.lastRun;
  await say(deltas);
  await until(() =>
    readers.every(({ copy }) => copy!.snapshot.run === null && copy!.snapshot.lastRun !== runs),
  );
  clearInterval(timer);
  const sorted = latencies().sort((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.floor(share * (sorted.length - 1))]!);
  // The least of the later half: what is there when garbage was just collected.
  const least = Math.min(...memory.slice(Math.floor(memory.length / 2)));
  return {
    median: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    resident: rounded(least / 1e6),
    held: rounded(await held()),
  };
}

async function measured({ rate, size, warmUp, compared, stopped }: Measure) {
  five = await fiveEditors(rate, size);
  const { editors, hub, until, problems } = five;
  const [first, fifth] = [editors[0]!, editors[4]!];
  const warm = await part(five, warmUp, editors);
  const before = await part(five, compared, editors);

  signalled(fifth.pid!, 'SIGSTOP');
  const standing = fifth.copy!.seq;
  const during = await part(five, stopped, editors.slice(0, 4));
  const { sessions } = await hub.status();
  const lags = sessions[0]!.editors.map(({ lag }) => lag).sort((a, b) => b - a);
  const heardNothing = fifth.copy!.seq === standing;
  signalled(fifth.pid!, 'SIGCONT');
  await until(() => editors.every(({ copy }) => copy!.seq === first.copy!.seq));

  const after = await part(five, compared, editors);
  await until(() => editors.every(({ copy }) => copy!.seq === first.copy!.seq));
  return {
    problems,
    heardNothing,
    lags,
    copies: editors.map(({ copy }) => copy!),
    figures: {
      warm,
      before,
      during,
      after,
      /** Of the medians; the second is what two parts differ by when nobody is stopped. */
      ratio: rounded((2 * during.median) / (before.median + after.median)),
      noise: rounded(after.median / before.median),
      grown: rounded(during.held - before.held),
      grownResident: rounded(during.resident - before.resident),
    },
  };
}

const asked = process.env.ATOMIC_CHAOS && JSON.parse(process.env.ATOMIC_CHAOS);
const measure = !asked ? bounded : asked.stopped ? full : undefined;

describe.runIf(process.platform !== 'win32' && measure)('a stopped editor of five', () => {
  const timeout = 600_000;
  it('costs the hub a number and the others nothing, and then has everything', { timeout }, async ({
    annotate,
  }) => {
    const { problems, heardNothing, lags, copies, figures } = await measured(measure!);
    await annotate(JSON.stringify(figures, undefined, 1));
    expect(problems).toEqual([]);
    expect(heardNothing).toBe(true);
    // Four who read and one who does not.
    expect(lags[0]).toBeGreaterThan(measure!.stopped / 2);
    expect(lags.slice(1)).toEqual([0, 0, 0, 0]);
    expect(figures.grown).toBeLessThan(megabytes);
    for (const copy of copies) expect(copy).toEqual(copies[0]);
  });
});
