// Every benchmark runs and gives figures. What the figures are is not looked at: a machine that tests is busy.
import { beforeAll, describe, expect, it } from 'vitest';
import { benchmarks } from '../bench/benchmarks.ts';
import { ratioOf } from '../bench/figures.ts';
import { performancePage } from '../bench/page.ts';
import { ensurePi } from '../support/pi.ts';

describe('the benchmarks', () => {
  beforeAll(ensurePi, 600_000);

  for (const { id, title, run } of benchmarks)
    it(`${id}: ${title}`, async () => {
      const figures = await run('smoke');
      expect(figures.length).toBeGreaterThan(0);
      expect(new Set(figures.map((figure) => figure.id)).size).toBe(figures.length);
      for (const figure of figures) {
        expect(figure.id).toMatch(new RegExp(`^${id}\\.`));
        expect(figure.value, figure.id).not.toBeNaN();
        if (figure.limit) expect(ratioOf(figure), figure.id).not.toBeNaN();
      }
      const part = { title, date: '', load: 0, seconds: 0, figures };
      const page = performancePage({
        commit: '0',
        committed: '',
        machine: '',
        node: '',
        benchmarks: { [id]: part },
      });
      for (const { what } of figures) expect(page).toContain(`| ${what} |`);
    }, 180_000);
});
