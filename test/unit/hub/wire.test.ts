// Framing: bytes that survive every split, one write a turn, a slow reader that is seen, a closed stream that settles.
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frame, frameSplitter, notificationFrame } from '../../../server/src/hub/frames.ts';
import { streamPair } from '../../../server/src/hub/memory.ts';
import { backlogLimit, createWire } from '../../../server/src/hub/wire.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A stream whose writes are kept, and that reads what the test gives it. */
function recorder(): { stream: Duplex; writes: Buffer[] } {
  const writes: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    writev(chunks, done) {
      writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
      done();
    },
    write(chunk, _encoding, done) {
      writes.push(chunk);
      done();
    },
  });
  return { stream, writes };
}

describe('a wire', () => {
  it('sends what was said in one turn in one write, in order', async () => {
    const { stream, writes } = recorder();
    const wire = createWire(stream);
    wire.connection.listen();
    void wire.connection.sendNotification('one', { text: 'ü' });
    wire.send(notificationFrame('two', '{"a":1}'));
    void wire.connection.sendNotification('three');
    await turn();
    expect(writes).toHaveLength(1);
    expect(writes[0]!.toString()).toBe(
      [
        '{"jsonrpc":"2.0","method":"one","params":{"text":"ü"}}',
        '{"jsonrpc":"2.0","method":"two","params":{"a":1}}',
        '{"jsonrpc":"2.0","method":"three"}',
      ]
        .map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
        .join(''),
    );
    wire.close();
  });

  it('gives messages to whoever takes them at once, and never before one that came earlier', async () => {
    const { stream } = recorder();
    const got: string[] = [];
    const wire = createWire(stream, undefined, (message) => {
      const { method, params } = message as { method?: string; params?: { n: number } };
      if (method !== 'fact') return false;
      got.push(`direct ${params?.n}`);
      return true;
    });
    const last = new Promise<void>((resolve) => {
      wire.connection.onNotification('fact', ({ n }: { n: number }) => {
        got.push(`connection ${n}`);
        if (n === 3) resolve();
      });
    });
    wire.connection.onNotification('other', () => void got.push('other'));
    wire.connection.listen();
    const fact = (n: number) => notificationFrame('fact', JSON.stringify({ n }));
    stream.push(Buffer.concat([fact(1), notificationFrame('other', '{}'), fact(2), fact(3)]));
    await last;
    await turn();
    stream.push(fact(4));
    await turn();
    expect(got).toEqual(['direct 1', 'other', 'connection 2', 'connection 3', 'direct 4']);
    wire.close();
  });

  it('understands its own frames however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        async (texts, sizes) => {
          const { stream } = recorder();
          const wire = createWire(stream);
          const got: string[] = [];
          const all = new Promise<void>((resolve) => {
            wire.connection.onNotification('said', ({ text }: { text: string }) => {
              got.push(text);
              if (got.length === texts.length) resolve();
            });
          });
          wire.connection.listen();
          const bytes = Buffer.concat(
            texts.map((text) => notificationFrame('said', JSON.stringify({ text }))),
          );
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value;
            stream.push(bytes.subarray(at, at + size));
            at += size;
          }
          await all;
          expect(got).toEqual(texts);
          wire.close();
        },
      ),
      { numRuns: 50 },
    );
  });

  it('sees a reader that does not read, and is told when it reads again', async () => {
    const [ours, theirs] = streamPair();
    const wire = createWire(ours);
    const frame = notificationFrame('x', JSON.stringify('y'.repeat(50_000)));
    expect(wire.full).toBe(false);
    while (!wire.full) wire.send(frame);
    expect(wire.backlog).toBeLessThan(backlogLimit + 2 * frame.length);
    const room = new Promise<void>((resolve) => wire.onRoom(resolve));
    theirs.resume();
    await room;
    expect(wire.full).toBe(false);
    wire.close();
  });

  it('settles what was asked when the other side is gone, and says so once', async () => {
    const [ours, theirs] = streamPair();
    const wire = createWire(ours);
    wire.connection.listen();
    let closes = 0;
    wire.onClose(() => {
      closes += 1;
    });
    const asked = wire.connection.sendRequest('anything', {});
    theirs.destroy();
    await expect(asked).rejects.toThrow();
    wire.send(notificationFrame('x', '{}'));
    wire.close();
    await turn();
    expect([closes, wire.closed, wire.full]).toEqual([1, true, true]);
  });

  it('sends what was given before it closes', async () => {
    const [ours, theirs] = streamPair();
    const wire = createWire(ours);
    const other = createWire(theirs);
    const got = new Promise((resolve) => other.connection.onNotification('last', resolve));
    const closed = new Promise<void>((resolve) => other.onClose(resolve));
    other.connection.listen();
    wire.connection.listen();
    wire.send(notificationFrame('last', '{"word":1}'));
    wire.close();
    expect(await got).toEqual({ word: 1 });
    await closed;
  });

  it('closes a connection on which something else than frames arrives', async () => {
    const { stream } = recorder();
    const wire = createWire(stream);
    const closed = new Promise<void>((resolve) => wire.onClose(resolve));
    wire.connection.listen();
    stream.push('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n{}');
    await closed;
  });
});

describe('the splitter', () => {
  const split = (bytes: Buffer[]): string[] => {
    const texts: string[] = [];
    const take = frameSplitter((text) => texts.push(text));
    for (const part of bytes) take(part);
    return texts;
  };
  it('takes other headers, any case, and many frames in one piece', () => {
    const bytes = Buffer.concat([
      Buffer.from('Content-Type: x\r\ncontent-length:  2\r\n\r\n{}'),
      frame('"ü"'),
      frame('1'),
    ]);
    expect(split([bytes])).toEqual(['{}', '"ü"', '1']);
    expect(split([...bytes].map((byte) => Buffer.from([byte])))).toEqual(['{}', '"ü"', '1']);
  });
  it('refuses what is no frame, and a header without end', () => {
    for (const bytes of [
      'Content-Length: -1\r\n\r\n{}',
      'Content-Length: x\r\n\r\n{}',
      '\r\n\r\n',
      'x'.repeat(9000),
    ])
      expect(() => split([Buffer.from(bytes)])).toThrow(/frame header/);
  });
  it('copies a large frame that comes in small pieces once', () => {
    const text = JSON.stringify('x'.repeat(20_000_000));
    const bytes = frame(text);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 65_536) parts.push(bytes.subarray(at, at + 65_536));
    expect(split(parts)[0]!.length).toBe(text.length);
  });
});
