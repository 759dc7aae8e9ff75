// Cursors: a reader gets every number once and in order, or a snapshot and what follows it; a stopped one costs nothing.
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { connectHubClient, type HubClient } from '../../../server/src/hub/client.ts';
import { createHub, type Hub } from '../../../server/src/hub/hub.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { streamPair } from '../../../server/src/hub/memory.ts';
import { batchBudget, createChannel } from '../../../server/src/hub/pump.ts';
import { backlogLimit } from '../../../server/src/hub/wire.ts';
import type { FactsBatch, Resync } from '../../../server/src/protocol/hub.ts';
import type { JournalLimits } from '../../../server/src/session/journal.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { deltaFact, type FakeSession, fakeSessions } from '../../support/fake-session.ts';
import { testFolders } from './support.ts';

const folders = testFolders();
let hub: Hub;
afterEach(async () => {
  hub.stop({ force: true });
  await hub.closed;
});

function startHub(limits?: JournalLimits): { all: FakeSession[] } {
  const { create, all } = fakeSessions(limits);
  hub = createHub({
    createSession: create,
    startAgent: () => Promise.reject(new Error('no agent here')),
    clock: fakeClock(),
    log: silentLog,
    folder: folders.make('state'),
    version: '1.0.0',
  });
  return { all };
}

/** A client that keeps what it gets; `until` resolves when it stands at a number. */
interface Reader {
  client: HubClient;
  stream: Duplex;
  /** The hub's end of the connection. */
  hubEnd: Duplex;
  ranges: FactsBatch[];
  resyncs: Resync[];
  text: string;
  seq: number;
  until(seq: number): Promise<void>;
}

async function reader(): Promise<Reader> {
  const [stream, hubEnd] = streamPair();
  hub.accept(hubEnd);
  const client = await connectHubClient(stream, { version: '1.0.0', name: 'reader', env: {} });
  const waiting: { seq: number; resolve: () => void }[] = [];
  const moved = (seq: number) => {
    it.seq = seq;
    for (const { seq: wanted, resolve } of waiting) if (seq >= wanted) resolve();
  };
  const it: Reader = {
    client,
    stream,
    hubEnd,
    ranges: [],
    resyncs: [],
    text: '',
    seq: 0,
    until: (seq) =>
      new Promise((resolve) => {
        waiting.push({ seq, resolve });
        moved(it.seq);
      }),
  };
  client.onFacts((batch) => {
    // The rule that everything rests on.
    expect(batch.from).toBe(it.seq + 1);
    it.ranges.push(batch);
    for (const fact of batch.facts)
      if (fact.type === 'message_update' && 'delta' in fact.assistantMessageEvent)
        it.text += fact.assistantMessageEvent.delta;
    moved(batch.to);
  });
  client.onResync((resync) => {
    it.resyncs.push(resync);
    it.text = resync.snapshot.title ?? '';
    moved(resync.seq);
  });
  return it;
}

async function attached(limits?: JournalLimits) {
  const { all } = startHub(limits);
  const one = await reader();
  const workspace = folders.make('work');
  await one.client.attach({ workspace });
  return { one, workspace, session: all[0]! };
}

const append = (session: FakeSession, count: number, text = 'word ') => {
  for (let i = 0; i < count; i += 1) session.delta(`${i}${text}`);
};

describe('a reader', () => {
  it('gets every fact, neighbouring deltas in one', async () => {
    const { one, session } = await attached();
    append(session, 3000);
    await one.until(3000);
    expect(one.text).toBe(session.text);
    expect(one.ranges.length).toBeLessThan(20);
    expect(one.ranges.every(({ facts }) => facts.length === 1)).toBe(true);
    expect(one.ranges[0]).toMatchObject({ session: '1', epoch: session.journal.epoch, from: 1 });
  });

  it('gets what lies between deltas whole and in its place', async () => {
    const { one, session } = await attached();
    session.delta('a');
    session.delta('b');
    session.journal.append({ type: 'notice', level: 'info', message: 'between' });
    session.delta('c');
    await one.until(4);
    expect(one.ranges.flatMap(({ facts }) => facts)).toEqual([
      deltaFact('ab'),
      { type: 'notice', level: 'info', message: 'between' },
      deltaFact('c'),
    ]);
  });

  it('gets a fact that is larger than every budget', async () => {
    const { one, session } = await attached();
    session.delta('x'.repeat(5_000_000));
    session.delta('y');
    await one.until(2);
    expect(one.text.length).toBe(5_000_001);
  });

  it('that stops reading costs a number: the hub’s end holds no more however much happens, and then nothing is missing', async () => {
    const { one, session } = await attached({ facts: 1_000_000, units: 1_000_000_000 });
    append(session, 10);
    await one.until(10);
    one.stream.pause();
    const held: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      append(session, 2000, 'x'.repeat(100));
      await new Promise<void>((resolve) => setImmediate(resolve));
      held.push(one.hubEnd.writableLength + one.stream.readableLength);
    }
    expect(Math.max(...held)).toBeLessThan(backlogLimit + 4 * batchBudget);
    expect(session.journal.units).toBeGreaterThan(10 * (backlogLimit + 4 * batchBudget));
    const { sessions } = hub.status();
    expect(sessions[0]!.editors[0]!.lag).toBeGreaterThan(30_000);
    one.stream.resume();
    await one.until(session.journal.last);
    expect(one.text).toBe(session.text);
    expect(one.resyncs).toEqual([]);
  });

  it('that stopped for too long begins anew, and the tail follows', async () => {
    const { one, session } = await attached({ facts: 100, units: 1_000_000 });
    one.stream.pause();
    for (let round = 0; round < 50; round += 1) {
      append(session, 100, 'x'.repeat(200));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    one.stream.resume();
    await one.until(5000);
    append(session, 50);
    await one.until(5050);
    expect(one.resyncs.length).toBeGreaterThan(0);
    expect(one.text).toBe(session.text);
    expect(one.resyncs.at(-1)).toMatchObject({ session: '1', epoch: session.journal.epoch });
  });

  it('that stopped does not hold back another', async () => {
    const { one, session, workspace } = await attached();
    const two = await reader();
    await two.client.attach({ workspace });
    one.stream.pause();
    for (let round = 0; round < 20; round += 1) append(session, 500, 'x'.repeat(100));
    await two.until(10_000);
    expect(two.text).toBe(session.text);
    expect(one.seq).toBeLessThan(10_000);
    one.stream.destroy();
  });
});

describe('coming late, and coming back', () => {
  it('gives a snapshot and the tail', async () => {
    const { session, workspace } = await attached();
    append(session, 100);
    const late = await reader();
    const { seq, snapshot } = await late.client.attach({ workspace });
    expect([seq, snapshot?.title]).toEqual([100, session.text]);
    late.seq = seq;
    late.text = snapshot!.title!;
    append(session, 100);
    await late.until(200);
    expect(late.text).toBe(session.text);
  });

  it('continues a cursor with exactly the missing facts', async () => {
    const { one, session, workspace } = await attached();
    append(session, 100);
    await one.until(100);
    one.client.close();
    append(session, 50);
    const back = await reader();
    back.seq = 100;
    const cursor = { epoch: session.journal.epoch, seq: 100 };
    const result = await back.client.attach({ workspace, cursor });
    expect([result.seq, result.snapshot]).toEqual([100, undefined]);
    await back.until(150);
    expect(back.ranges[0]!.from).toBe(101);
    expect(one.text + back.text).toBe(session.text);
  });

  it('gives a snapshot for a cursor of another epoch, from the future, or beyond the ring', async () => {
    const { session, workspace } = await attached({ facts: 100, units: 1_000_000 });
    append(session, 500);
    for (const cursor of [
      { epoch: 'another', seq: 450 },
      { epoch: session.journal.epoch, seq: 501 },
      { epoch: session.journal.epoch, seq: 399 },
    ]) {
      const result = await (await reader()).client.attach({ workspace, cursor });
      expect([result.seq, result.snapshot?.title]).toEqual([500, session.text]);
    }
    const cursor = { epoch: session.journal.epoch, seq: 400 };
    expect(await (await reader()).client.attach({ workspace, cursor })).not.toHaveProperty('snapshot');
  });

  it('ends with a detach, and begins again with an attach', async () => {
    const { one, session, workspace } = await attached();
    await one.client.detach('1');
    append(session, 10);
    expect(hub.status().sessions[0]!.editors).toEqual([]);
    one.seq = (await one.client.attach({ workspace })).seq;
    append(session, 10);
    await one.until(20);
    expect(one.ranges[0]!.from).toBe(11);
  });
});

describe('a channel', () => {
  it('encodes a range once for all who stand at the same place', () => {
    const { create } = fakeSessions();
    const session = create({
      startAgent: () => Promise.reject(new Error('no agent here')),
      clock: fakeClock(),
      log: silentLog,
      spec: { workspace: '/', env: {} },
      epoch: 'e',
    });
    const channel = createChannel('1', session, 1000);
    for (let i = 0; i < 100; i += 1) session.journal.append(deltaFact(`${i}`));
    const first = channel.next(0);
    const second = channel.next(0);
    expect(first).not.toBe('resync');
    expect((first as { frame: Buffer }).frame).toBe((second as { frame: Buffer }).frame);
    // The last range grows with what comes; a range that was full stays what it was.
    const { to } = first as { to: number };
    const rest = channel.next(99) as { to: number };
    session.journal.append(deltaFact('more'));
    expect(channel.next(0)).toMatchObject({ to });
    expect([rest.to, (channel.next(99) as { to: number }).to]).toEqual([100, 101]);
    expect(channel.next(101)).toBeUndefined();
    expect(channel.next(102)).toBe('resync');
  });

  it('encodes a fact once for ten editors', async () => {
    const { one, workspace, session } = await attached();
    const others = await Promise.all(Array.from({ length: 9 }, reader));
    for (const { client } of others) await client.attach({ workspace });
    let encoded = 0;
    const { last } = session.journal;
    session.journal.append({
      ...deltaFact('word'),
      toJSON: () => {
        encoded += 1;
        return deltaFact('word');
      },
    } as ReturnType<typeof deltaFact>);
    await Promise.all([one, ...others].map((it) => it.until(last + 1)));
    expect([one, ...others].map(({ ranges }) => ranges.length)).toEqual(Array(10).fill(1));
    expect(encoded).toBe(1);
    // And what goes out is one piece of memory, not ten.
    const channel = createChannel('1', session);
    const frames = Array.from({ length: 10 }, () => channel.next(last) as { frame: Buffer });
    expect(new Set(frames.map(({ frame }) => frame)).size).toBe(1);
  });
});
