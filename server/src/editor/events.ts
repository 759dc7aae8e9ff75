// The stream of facts for a rich client. Guarantees: ranges follow each other without a gap; the first fact after a quiet time
// goes out at once, then no more notifications than the client's rate; a client that does not read costs a number.
// Must not know: how facts come here.
import { type EditorAttachResult, editorMethods } from '../protocol/editor.ts';
import type { Cursor, Resync } from '../protocol/hub.ts';
import type { Clock } from '../session/ports.ts';
import type { Client } from './client.ts';
import type { Mirror } from './mirror.ts';
import type { Transport } from './transport.ts';

export interface Events {
  /** Begins the stream after a cursor, or anew. The answer is to be sent before anything else. */
  attach(mirror: Mirror, cursor: Cursor | undefined): EditorAttachResult;
  /** There may be something new. */
  flush(): void;
  end(): void;
}

export function createEvents(
  client: Client,
  transport: Pick<Transport, 'full' | 'onRoom'>,
  clock: Clock,
): Events {
  let place: { mirror: Mirror; cursor: Cursor; started: boolean } | undefined;
  let quietUntil = 0;
  let cancelFlush: (() => void) | undefined;

  /** Sends one notification; false when there is nothing new. */
  const sendOne = ({ mirror, cursor }: { mirror: Mirror; cursor: Cursor }): Cursor | undefined => {
    const batch = mirror.after(cursor);
    if (batch === undefined) return undefined;
    const { session, epoch, seq, snapshot } = mirror;
    if (batch === 'resync') {
      const resync: Resync = { session, epoch, seq, snapshot };
      client.notify(editorMethods.resync, resync);
      return { epoch, seq };
    }
    client.notify(editorMethods.events, batch);
    return { epoch, seq: batch.to };
  };
  const flush = () => {
    if (!place?.started || cancelFlush || transport.full) return;
    const now = clock.now();
    const wait = quietUntil - now;
    // Timers know whole milliseconds only: another one for less than that would come late.
    if (wait >= 1) {
      cancelFlush = clock.after(wait, () => {
        cancelFlush = undefined;
        flush();
      });
      return;
    }
    const cursor = sendOne(place);
    if (!cursor) return;
    place.cursor = cursor;
    // From when this one was due, so that one that came early makes the rate no higher.
    quietUntil = Math.max(now, quietUntil) + 1000 / client.traits.flushesPerSecond;
    // What did not fit, or came meanwhile, goes out at the next flush.
    if (cursor.seq !== place.mirror.seq) flush();
  };
  transport.onRoom(flush);

  return {
    attach(mirror, cursor) {
      const next = cursor && mirror.after(cursor);
      const continued = cursor !== undefined && next !== 'resync';
      const { session, epoch, seq, snapshot } = mirror;
      const mine = { mirror, cursor: continued ? cursor : { epoch, seq }, started: false };
      place = mine;
      setImmediate(() => {
        mine.started = true;
        flush();
      });
      return { session, epoch, seq: mine.cursor.seq, ...(!continued && { snapshot }) };
    },
    flush,
    end() {
      place = undefined;
      cancelFlush?.();
      cancelFlush = undefined;
    },
  };
}
