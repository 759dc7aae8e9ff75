// Peers that send anything to the hub's socket: each request has one answer, others notice nothing, and nothing is left of them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HubClient } from '../../server/src/hub/client.ts';
import { frame, frameSplitter } from '../../server/src/hub/frames.ts';
import { streamPair } from '../../server/src/hub/memory.ts';
import { hubMethods, hubProtocol } from '../../server/src/protocol/hub.ts';
import { hubStarter, type StartedHub, testFolders } from '../unit/hub/support.ts';
import {
  changed,
  commandId,
  cuts,
  limit,
  number,
  pieces,
  runs,
  text,
  turn,
  turns,
  value,
} from './support.ts';

const folders = testFolders();
const started = hubStarter(folders);

type Message = { method: string; params: unknown; request: boolean };
const hello = { protocol: hubProtocol, version: '1.0.0', name: 'Strange', env: {} };
const session = fc.oneof(fc.constantFrom('1', '2', '0'), text);
const asked = (workspace: string): Record<string, fc.Arbitrary<unknown>> => ({
  [hubMethods.hello]: fc.oneof(fc.constant(hello), fc.record({ ...recordOf(hello), protocol: number })),
  [hubMethods.attach]: fc.oneof(
    fc.constant({ workspace }),
    fc.record({
      workspace: fc.constant(workspace),
      session: text,
      cursor: fc.record({ epoch: text, seq: number }),
    }),
    fc.record({ workspace: text }),
  ),
  [hubMethods.detach]: fc.record({ session }),
  [hubMethods.intent]: fc.record({
    session,
    id: text,
    command: fc.oneof(fc.constant('prompt'), commandId),
    params: value,
  }),
  [hubMethods.read]: fc.record({ session, command: commandId, params: value }),
  [hubMethods.sessions]: fc.record({ workspace: text }, { requiredKeys: [] }),
  [hubMethods.status]: value,
});
function recordOf(given: object): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(Object.entries(given).map(([key, it]) => [key, fc.constant(it)]));
}
const message = (workspace: string): fc.Arbitrary<Message> =>
  fc.oneof(
    ...Object.entries(asked(workspace)).map(([method, arbitrary]) =>
      fc.record({
        method: fc.constant(method),
        params: fc.oneof(
          { weight: 4, arbitrary },
          { weight: 2, arbitrary: changed(arbitrary) },
          { weight: 1, arbitrary: value },
        ),
        request: fc.boolean(),
      }),
    ),
    fc.record({
      method: fc.oneof(text, fc.constant('$/cancelRequest')),
      params: value,
      request: fc.boolean(),
    }),
  );

/** A connection that sends this, and what came back. */
async function strange({ hub }: StartedHub, chunks: readonly Buffer[]) {
  const [ours, theirs] = streamPair();
  hub.accept(theirs);
  const responses = new Map<unknown, number>();
  ours.on('error', () => {});
  ours.on(
    'data',
    frameSplitter((json) => {
      const { id, method } = JSON.parse(json) as Record<string, unknown>;
      if (method === undefined) responses.set(id, (responses.get(id) ?? 0) + 1);
    }),
  );
  for (const chunk of chunks) {
    if (ours.destroyed) break;
    ours.write(chunk);
    await turn();
  }
  await turns(15);
  return { ours, responses };
}

/** Resolves when no other peer is there. */
async function alone(good: HubClient): Promise<void> {
  for (let n = 0; (await good.status()).editors.length > 1; n += 1) {
    if (n > 50_000) throw new Error('a peer that has gone is still there');
    await turn();
  }
}

it('each request of a peer has one answer, and others notice nothing', { timeout: limit }, async () => {
  const workspace = folders.make('work');
  const hub = started();
  const good = await hub.join('Neovim');
  const { session: number_ } = await good.attach({ workspace });
  let prompts = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(message(workspace), { maxLength: 12 }),
      fc.boolean(),
      cuts,
      async (messages, polite, cut) => {
        const frames = messages.map(({ method, params, request }, n) =>
          frame(JSON.stringify({ jsonrpc: '2.0', method, params, ...(request && { id: n }) })),
        );
        if (polite)
          frames.unshift(
            frame(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: hubMethods.hello, params: hello })),
          );
        const { ours, responses } = await strange(hub, pieces(Buffer.concat(frames), cut));
        const answered = () =>
          messages.every(({ params, request }, n) => !request || hangs(params) || responses.has(n));
        // Some of it asks the disk.
        for (let n = 0; n < 50_000 && !answered(); n += 1) await turn();
        ours.destroy();
        await alone(good);
        const wrong = messages.filter(
          ({ params, request }, n) => request && !hangs(params) && responses.get(n) !== 1,
        );
        expect(wrong).toEqual([]);
        prompts += 1;
        const id = `good ${prompts}`;
        await good.intent({ session: number_, id, command: 'prompt', params: { message: `${prompts}` } });
        expect(hub.all[0]!.text.endsWith(`${prompts}`)).toBe(true);
      },
    ),
    runs(300),
  );
});

/** The stand-in for a session answers this read only when it is cancelled. */
const hangs = (params: unknown): boolean => (params as { command?: unknown } | null)?.command === 'hang';

it('bytes that are no frames end their connection alone, and leave nothing in memory', {
  timeout: limit,
}, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const hub = started();
  const good = await hub.join('Neovim');
  await good.attach({ workspace: folders.make('work') });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((it) => Buffer.from(it)),
    fc
      .constantFrom(
        'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
        'Content-Length: 999999999999\r\n\r\n{',
        'Content-Length: -1\r\n\r\n{}',
        'Content-Length: 2\r\n\r\n{',
        'Content-Length: 4\r\n\r\nnull',
        'Content-Length: 2\r\n\r\n[]',
        'Content-Length: 3\r\n\r\n"x"',
        'Content-Length: 7\r\n\r\n{"id":1',
        `Content-Length: 20\r\n${'X: y\r\n'.repeat(3_000)}\r\n{}`,
        '\u0000'.repeat(9_000),
      )
      .map((it) => Buffer.from(it)),
  );
  const once = (count: number) =>
    fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 4 }), async (chunks) => {
        const { ours } = await strange(hub, chunks);
        ours.destroy();
        await alone(good);
      }),
      runs(count),
    );
  await once(60);
  collect();
  const before = process.memoryUsage().heapUsed;
  await once(150);
  hub.clock.advance(60_000);
  await turns(5);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(15_000_000);
});
