// An editor that sends anything in any order: one answer to each request, and the server goes on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runLanguageServer } from '../../server/src/editor/server.ts';
import { frame, frameSplitter } from '../../server/src/hub/frames.ts';
import { streamPair } from '../../server/src/hub/memory.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeHub } from '../unit/editor/support.ts';
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

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ä fuzz-'));
  for (const name of ['prompt.md', 'chat.md', 'a.ts']) writeFileSync(join(folder, name), 'one\ntwo 😀\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const uri = fc.oneof(
  fc
    .constantFrom('prompt.md', 'chat.md', 'a.ts', 'missing.ts', '')
    .map((name) => pathToFileURL(join(folder, name)).href),
  fc.constantFrom(
    'untitled:1',
    'file:///%E4',
    'file:////',
    'file://host/x',
    'http://[',
    '1:/',
    '%',
    ':',
    'file:///c%3A/x#y',
  ),
  text,
);
const position = fc.oneof(
  fc.record({ line: number, character: number }),
  fc.record({ line: fc.nat(3), character: fc.nat(8) }),
);
const range = fc.record({ start: position, end: position });
const textDocument = fc.record({ uri, version: fc.oneof(number, fc.constant(null)) });

const wellFormed: Record<string, fc.Arbitrary<unknown>> = {
  'textDocument/didOpen': fc.record({
    textDocument: fc.record({
      uri,
      languageId: fc.constantFrom('markdown', 'atomic-prompt', ''),
      version: number,
      text,
    }),
  }),
  'textDocument/didChange': fc.record({
    textDocument,
    contentChanges: fc.array(fc.oneof(fc.record({ text }), fc.record({ range, text })), { maxLength: 2 }),
  }),
  'textDocument/didClose': fc.record({ textDocument }),
  'textDocument/didSave': fc.record({ textDocument, text }),
  'workspace/didChangeConfiguration': fc.record({
    settings: fc.oneof(
      value,
      fc.record({ atomic: fc.record({ whileBusy: fc.constantFrom('steer', 'x'), agent: value }) }),
    ),
  }),
  'workspace/didChangeWorkspaceFolders': fc.record({
    event: fc.record({
      added: fc.array(fc.record({ uri, name: text }), { maxLength: 2 }),
      removed: fc.constant([]),
    }),
  }),
  'window/workDoneProgress/cancel': fc.record({ token: fc.oneof(text, fc.constant('atomic-1')) }),
  '$/cancelRequest': fc.record({ id: fc.oneof(fc.nat(10), text) }),
  '$/setTrace': fc.record({ value: text }),
};
const asked: Record<string, fc.Arbitrary<unknown>> = {
  'workspace/executeCommand': fc.oneof(
    fc.record({ command: commandId }),
    fc.record({ command: commandId, arguments: fc.array(value, { maxLength: 2 }) }),
  ),
  'textDocument/hover': fc.record({ textDocument, position }),
  'textDocument/completion': fc.record({ textDocument, position, context: value }),
  'textDocument/codeAction': fc.record({
    textDocument,
    range,
    context: fc.record({ diagnostics: fc.array(value, { maxLength: 2 }) }),
  }),
  'textDocument/codeLens': fc.record({ textDocument }),
  'textDocument/documentLink': fc.record({ textDocument }),
  'textDocument/documentSymbol': fc.record({ textDocument }),
  'textDocument/foldingRange': fc.record({ textDocument }),
  'textDocument/inlayHint': fc.record({ textDocument, range }),
  'atomic/attach': fc.record({ session: text }, { requiredKeys: [] }),
  'atomic/detach': fc.record({ session: text }, { requiredKeys: [] }),
  'atomic/intent': fc.record({ id: text, command: commandId, params: value }),
  'atomic/read': fc.record({ command: commandId, params: value }, { requiredKeys: ['command'] }),
  'atomic/tabs': fc.constant({}),
};
const paramsOf = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 6, arbitrary },
    { weight: 3, arbitrary: changed(arbitrary) },
    { weight: 1, arbitrary: value },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
type Message = { method: string; params: unknown; request: boolean };
const either = (table: Record<string, fc.Arbitrary<unknown>>, request: boolean): fc.Arbitrary<Message> =>
  fc.oneof(
    ...Object.entries(table).map(([method, arbitrary]) =>
      fc.record({ method: fc.constant(method), params: paramsOf(arbitrary), request: fc.constant(request) }),
    ),
  );
const message = fc.oneof(
  { weight: 5, arbitrary: either(asked, true) },
  { weight: 5, arbitrary: either(wellFormed, false) },
  { weight: 1, arbitrary: either(asked, false) },
  { weight: 1, arbitrary: either(wellFormed, true) },
  {
    weight: 1,
    arbitrary: fc.record({
      method: fc.oneof(
        text,
        fc.constantFrom('$/unknown', 'textDocument/definition', 'initialized', 'initialize'),
      ),
      params: value,
      request: fc.boolean(),
    }),
  },
);
/** What the server asks of the editor is answered with anything, an error, or not at all. */
const answer = fc.oneof(
  fc.record({ result: value }),
  fc.record({ error: fc.record({ code: fc.integer(), message: text }) }),
  fc.constant(undefined),
);

async function serves(
  messages: readonly Message[],
  answers: readonly ({ result?: unknown; error?: unknown } | undefined)[],
  how: { initializeAt: number; params: unknown; cut: readonly number[] },
): Promise<void> {
  const hub = fakeHub();
  hub.folder = folder;
  hub.data = {
    get_state: { isStreaming: false },
    get_commands: { commands: [] },
    get_messages: { messages: [] },
  };
  const clock = fakeClock();
  const [ours, theirs] = streamPair();
  const failures: unknown[] = [];
  const log = {
    debug() {},
    info() {},
    warn: (about: unknown, what?: string) => void (what === 'a feature failed' && failures.push(about)),
    error: (about: unknown) => void failures.push(about),
  };
  const exit = runLanguageServer({
    connect: hub.connect,
    input: theirs,
    output: theirs,
    log,
    version: '1.2.3',
    folder,
    clock,
    // Nothing is asked of the system's processes.
    isAlive: () => true,
  });
  let over: number | undefined;
  void exit.then((code) => {
    over = code;
  });
  const responses = new Map<unknown, unknown[]>();
  let served = 0;
  ours.on(
    'data',
    frameSplitter((json) => {
      const { id, method, ...rest } = JSON.parse(json) as Record<string, unknown>;
      if (method === undefined) responses.set(id, [...(responses.get(id) ?? []), rest]);
      else if (id !== undefined) {
        const given = answers[served % Math.max(1, answers.length)];
        served += 1;
        if (given) ours.write(frame(JSON.stringify({ jsonrpc: '2.0', id, ...given })));
      }
    }),
  );
  const send = (it: object) => frame(JSON.stringify({ jsonrpc: '2.0', ...it }));
  const initialize = { rootUri: pathToFileURL(folder).href, capabilities: {}, processId: null };
  const frames = messages.map(({ method, params, request }, n) =>
    send({ method, ...(params !== undefined && { params }), ...(request && { id: n }) }),
  );
  frames.splice(
    how.initializeAt % (frames.length + 1),
    0,
    send({ id: 'first', method: 'initialize', params: { ...initialize, ...(how.params as object) } }),
    send({ method: 'initialized', params: {} }),
  );
  for (const piece of pieces(Buffer.concat(frames), how.cut)) {
    ours.write(piece);
    await turn();
  }
  await turns(20);
  // What is waited for comes or is given up.
  for (let n = 0; n < 8; n += 1) {
    clock.advance(10_000);
    await turns(10);
  }
  expect(over).toBeUndefined();
  ours.write(send({ id: 'initialize', method: 'initialize', params: initialize }));
  ours.write(
    send({ id: 'last', method: 'workspace/executeCommand', params: { command: 'atomic.getState' } }),
  );
  for (let n = 0; n < 200 && !responses.has('last'); n += 1) {
    clock.advance(1_000);
    await turn();
  }
  const requests = messages.flatMap(({ request }, n) => (request ? [n] : []));
  const unanswered = [...requests, 'first', 'last'].filter((id) => !responses.has(id));
  expect(unanswered.map((id) => messages[id as number] ?? id)).toEqual([]);
  for (const [id, given] of responses) expect([id, given.length]).toEqual([id, 1]);
  expect(responses.get('last')).toEqual([{ jsonrpc: '2.0', result: { isStreaming: false } }]);
  // A fault of ours has a line of its own in the log.
  expect(failures).toEqual([]);
  ours.destroy();
  await exit;
  // Nothing of it goes on.
  expect(hub.open).toBe(0);
}

it('the server answers each request once, whatever comes in whatever order', { timeout: limit }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { maxLength: 12 }),
      fc.array(answer, { minLength: 1, maxLength: 5 }),
      fc.record({
        initializeAt: fc.nat(6),
        params: fc.oneof(
          fc.constant({}),
          fc.record({
            initializationOptions: value,
            clientInfo: fc.record({ name: text }),
            capabilities: value,
          }),
        ),
        cut: cuts,
      }),
      serves,
    ),
    runs(300),
  );
});
