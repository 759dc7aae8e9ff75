import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineSplitter } from '../../../server/src/agent/lines.ts';
import { createReader } from '../../../server/src/agent/link.ts';
import { fakeAgent, trace, turn } from './support.ts';

const split = (chunks: Buffer[]): string[] => {
  const splitter = createLineSplitter();
  const lines = chunks.flatMap((chunk) => splitter.push(chunk));
  const last = splitter.end();
  return [...lines, ...(last ? [last] : [])].map((line) => line.toString('utf8'));
};

/** Cuts bytes at the given places. */
const cut = (bytes: Buffer, places: number[]): Buffer[] => {
  const sorted = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return sorted.slice(1).map((end, at) => bytes.subarray(sorted[at]!, end));
};

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', '"', '\\', 'é', '€', '😀', '\u2028', '\u0085', '\r', '\x1b[0m'),
    });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(), { maxLength: 40 }), (lines, places) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        expect(split(cut(bytes, places))).toEqual(lines.map((text) => text.replace(/\r$/, '')));
      }),
    );
  });

  it('end at LF alone and lose exactly one CR', () => {
    expect(split([Buffer.from('a\u2028b\u2029c\u0085d\r\r\n\ne\rf\n')])).toEqual([
      'a\u2028b\u2029c\u0085d\r',
      '',
      'e\rf',
    ]);
  });

  it('keep a last line without LF', () => {
    expect(split([Buffer.from('a\nb'), Buffer.from('c\r')])).toEqual(['a', 'bc']);
    expect(split([Buffer.from('a\n')])).toEqual(['a']);
  });

  it('may be 100 MB long', () => {
    const splitter = createLineSplitter();
    const chunk = Buffer.alloc(65_536, 'x');
    for (let sent = 0; sent < 100_000_000; sent += chunk.length) expect(splitter.push(chunk)).toHaveLength(0);
    const [line] = splitter.push(Buffer.from('y\nz'));
    expect(line!.length).toBeGreaterThan(100_000_000);
    expect(line!.at(-1)).toBe('y'.charCodeAt(0));
  });
});

describe('the reader', () => {
  it('lets whoever waits for an answer go first', async () => {
    const order: string[] = [];
    let busy = false;
    const reader = createReader(
      (line) => {
        order.push(line.toString());
        if (line.toString() === 'answer') void Promise.resolve().then(() => order.push('heard'));
        return line.toString() === 'answer';
      },
      (now) => {
        busy = now;
      },
    );
    reader.push(Buffer.from('event 1\nanswer\nevent 2\nanswer\nlast'));
    expect(busy).toBe(true);
    await new Promise<void>((resolve) => reader.end(resolve));
    expect(order).toEqual(['event 1', 'answer', 'heard', 'event 2', 'answer', 'heard', 'last']);
    expect(busy).toBe(false);
  });

  it.each(['atomic-0.9.15/thinking', 'pi-1.6.0/unicode', 'pi-0.58.3/tool-bash'])(
    'hears the same of %s however its bytes are cut',
    async (name) => {
      const bytes = Buffer.from(
        trace(name)
          .filter(({ dir, line }) => dir === 'out' && line !== '')
          .map(({ line }) => `${line}\n`)
          .join(''),
      );
      const heardOf = async (chunks: Buffer[]) => {
        const fake = fakeAgent();
        for (const chunk of chunks) fake.output(chunk);
        await new Promise<void>((resolve) => {
          const look = () => void turn().then(() => (over ? resolve() : look()));
          let over = false;
          fake.end({ code: 0, signal: null });
          void fake.agent.call({ type: 'get_state' }).catch(() => {
            over = true;
          });
          look();
        });
        await turn();
        return fake.heard;
      };
      const whole = await heardOf([bytes]);
      expect(whole.length).toBeGreaterThan(15);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 200 }), async (places) => {
          expect(await heardOf(cut(bytes, places))).toEqual(whole);
        }),
        { numRuns: 30 },
      );
      expect(await heardOf([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
    },
  );
});
