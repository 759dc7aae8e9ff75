// A hub inside this process (`--no-hub`). Guarantees: the same code path as over a socket, with the same limits on what may
// wait for a slow reader; it ends with its one client. Must not know: sockets.
import { Duplex } from 'node:stream';
import { connectHubClient, type Hello, type HubClient } from './client.ts';
import { createHub, type Hub, type HubOptions } from './hub.ts';

/** Two streams, each of which reads what is written to the other. */
export function streamPair(): [Duplex, Duplex] {
  // A write is done when the other side has asked for more: so a reader that does not read is felt by the writer.
  const waiting: (undefined | (() => void))[] = [undefined, undefined];
  const release = (side: 0 | 1) => {
    const done = waiting[side];
    waiting[side] = undefined;
    done?.();
  };
  const make = (self: 0 | 1, other: 0 | 1): Duplex =>
    new Duplex({
      allowHalfOpen: false,
      decodeStrings: true,
      read: () => release(other),
      write(chunk: Buffer, _encoding, done) {
        if (pair[other]!.destroyed) return done();
        if (pair[other]!.push(chunk)) process.nextTick(done);
        else waiting[self] = done;
      },
      final(done) {
        pair[other]!.push(null);
        done();
      },
      destroy(error, done) {
        const there = pair[other]!;
        if (!there.destroyed) process.nextTick(() => there.destroy());
        release(other);
        release(self);
        done(error);
      },
    });
  const pair: Duplex[] = [];
  pair.push(make(0, 1), make(1, 0));
  return [pair[0]!, pair[1]!];
}

/** A client of a hub in this process. */
export async function connectInMemory(hub: Hub, hello: Hello): Promise<HubClient> {
  const [ours, theirs] = streamPair();
  hub.accept(theirs);
  return connectHubClient(ours, hello);
}

/**
 * A hub for this process alone, and its client. Closing the client ends the hub and its agents; `hub.closed` tells when
 * that is done.
 */
export async function privateHub(
  options: HubOptions,
  hello: Hello,
): Promise<{ client: HubClient; hub: Hub }> {
  const hub = createHub({ ...options, idleExit: false });
  const client = await connectInMemory(hub, hello);
  client.onClose(() => void hub.stop({ force: true }));
  return { client, hub };
}
