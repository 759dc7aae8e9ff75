// From journals to readers. Guarantees: a reader costs one number for each session, never a queue; ranges follow each other
// without a gap, or the reader is told to begin anew; a range is encoded once for all readers that stand at the same
// place; the first fact after a quiet time goes out in the same turn. Must not know: requests, who reads.
import { hubMethods, type Resync } from '../protocol/hub.ts';
import type { Journal } from '../session/journal.ts';
import type { Session } from '../session/session.ts';
import { mergedFacts, nextBatch } from '../session/view.ts';
import { notificationFrame } from './frames.ts';
import type { Wire } from './wire.ts';

/** UTF-16 units of facts in one notification; one fact may be longer. */
export const batchBudget = 65_536;
/** Encoded ranges that are kept for the next reader. */
const keptFrames = 4;

/** One session's facts as frames. */
export interface Channel {
  /** The hub's number of the session. */
  readonly number: string;
  readonly journal: Journal;
  /** The range after `seq`, 'resync' when it cannot be read any more, undefined when there is nothing new. */
  next(seq: number): { to: number; frame: Buffer } | 'resync' | undefined;
  /** Everything anew. */
  resync(): { to: number; frame: Buffer };
  /** Calls back once in each turn that brought facts; returns a function that ends this. */
  onFacts(listener: () => void): () => void;
}

export function createChannel(number: string, session: Session, budget = batchBudget): Channel {
  const { journal } = session;
  const listeners = new Set<() => void>();
  const kept: { from: number; to: number; whole: boolean; frame: Buffer }[] = [];
  let scheduled = false;

  journal.onAppend(() => {
    if (scheduled || listeners.size === 0) return;
    scheduled = true;
    // After the input of this turn was read, so that one flush takes all of it.
    setImmediate(() => {
      scheduled = false;
      for (const listener of [...listeners]) listener();
    });
  });

  return {
    number,
    journal,
    next(seq) {
      const known = kept.find((it) => it.from === seq + 1 && (it.whole || it.to === journal.last));
      if (known && seq + 1 >= journal.first) return known;
      const batch = nextBatch(journal, seq, budget);
      if (batch === undefined || batch === 'resync') return batch;
      const { from, to } = batch;
      const head = `{"session":${JSON.stringify(number)},"epoch":${JSON.stringify(journal.epoch)},"from":${from},"to":${to},"facts":[`;
      const frame = notificationFrame(hubMethods.facts, `${head}${mergedTexts(batch.texts).join(',')}]}`);
      // A range that stopped at its budget is the same for every later reader, too.
      kept.unshift({ from, to, whole: to < journal.last, frame });
      kept.length = Math.min(kept.length, keptFrames);
      return { to, frame };
    },
    resync() {
      const to = journal.last;
      const params: Resync = { session: number, epoch: journal.epoch, seq: to, snapshot: session.snapshot() };
      return { to, frame: notificationFrame(hubMethods.resync, JSON.stringify(params)) };
    },
    onFacts(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const stream = /^\{"type":"(?:message|tool_execution|bash_execution)_update"/;

/** The texts with neighbouring deltas merged; texts without neighbouring deltas are not even parsed. */
function mergedTexts(texts: string[]): string[] {
  const merged: string[] = [];
  let row: string[] = [];
  const closed = () => {
    if (row.length > 1)
      for (const fact of mergedFacts(row.map((text) => JSON.parse(text)))) merged.push(JSON.stringify(fact));
    else merged.push(...row);
    row = [];
  };
  for (const text of texts) {
    if (stream.test(text)) row.push(text);
    else {
      closed();
      merged.push(text);
    }
  }
  closed();
  return merged;
}

/** One peer's places in the sessions that it watches. */
export interface Pump {
  /** Follows a session from the fact after `seq` on; the first facts are sent after what is being answered now. */
  watch(channel: Channel, seq: number): void;
  unwatch(number: string): void;
  /** Facts that the peer has not been sent; undefined where it does not watch. */
  lag(number: string): number | undefined;
  end(): void;
}

export function createPump(wire: Wire): Pump {
  const watched = new Map<string, { channel: Channel; seq: number; end: () => void }>();
  let turn = 0;

  /** Sends until the reader is slow or has everything; sessions take turns, so that none starves another. */
  const run = () => {
    const places = [...watched.values()];
    let idle = 0;
    while (idle < places.length && !wire.full) {
      const place = places[turn++ % places.length]!;
      const next = place.channel.next(place.seq);
      if (next === undefined) {
        idle += 1;
        continue;
      }
      idle = 0;
      const { to, frame } = next === 'resync' ? place.channel.resync() : next;
      wire.send(frame);
      place.seq = to;
    }
  };
  wire.onRoom(run);

  return {
    watch(channel, seq) {
      watched.get(channel.number)?.end();
      const place = { channel, seq, end: () => {} };
      watched.set(channel.number, place);
      // The answer that tells the peer of this session is written in this turn.
      setImmediate(() => {
        if (watched.get(channel.number) !== place) return;
        place.end = channel.onFacts(run);
        run();
      });
    },
    unwatch(number) {
      watched.get(number)?.end();
      watched.delete(number);
    },
    lag(number) {
      const place = watched.get(number);
      return place && place.channel.journal.last - place.seq;
    },
    end() {
      for (const { end } of watched.values()) end();
      watched.clear();
    },
  };
}
