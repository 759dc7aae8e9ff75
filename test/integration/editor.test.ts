// The language server over the real core with agent processes that misbehave: each time one sentence in the editor, and the next
// prompt works; questions, aborts and the end of a private hub.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createStartAgent } from '../../server/src/agent/index.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import type { Hub } from '../../server/src/hub/hub.ts';
import { silentLog } from '../../server/src/hub/log.ts';
import { connectInMemory, privateHub } from '../../server/src/hub/memory.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import { createSession } from '../../server/src/session/session.ts';
import { type Script, scriptedAgent } from '../support/scripted.ts';
import { type EditorHow, type FakeEditor, startEditor } from '../unit/editor/support.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function agentFor(script: Script) {
  const agent = scriptedAgent(script);
  closing.push(() => agent.dispose());
  return agent;
}

type Watched = FakeEditor & { facts: Fact[] };

/** An editor whose server has a private hub with the real core, where somebody else watches, too. */
async function withAgent(agent: object, how: EditorHow = {}): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'editor-'));
  const hubs: Hub[] = [];
  const facts: Fact[] = [];
  const ended = () => Promise.all(hubs.map(({ closed }) => closed));
  const editor = await startEditor({
    ...how,
    options: { agent, ...how.options },
    params: { rootUri: `file://${folder}`, ...how.params },
    server: {
      clock: systemClock,
      ended,
      async connect(_, name) {
        const startAgent = createStartAgent({
          demo: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
          clock: systemClock,
          log: silentLog,
        });
        const { client, hub } = await privateHub(
          { createSession, startAgent, clock: systemClock, log: silentLog, folder, version: '1.0.0' },
          { version: '1.0.0', name, env: { PATH: process.env.PATH ?? '' } },
        );
        hubs.push(hub);
        const watcher = await connectInMemory(hub, { version: '1.0.0', name: 'watcher', env: {} });
        watcher.onFacts((batch) => void facts.push(...batch.facts));
        await watcher.attach({ workspace: folder, agent: agent as never });
        return client;
      },
    },
  });
  closing.push(async () => {
    editor.stream.destroy();
    await editor.exit;
    rmSync(folder, { recursive: true, force: true });
  });
  return Object.assign(editor, { facts });
}

const errors = (editor: FakeEditor) =>
  editor
    .of('window/showMessage')
    .filter(({ type }) => type === 1)
    .map(({ message }) => message);
const ends = (editor: Watched) => editor.facts.filter(({ type }) => type === 'agent_settled').length;
const prompted = async (editor: Watched, message: string) => {
  const before = ends(editor);
  await editor.execute('atomic.prompt', message);
  await editor.when(() => ends(editor) > before);
};
const progress = (editor: Watched) => editor.of('$/progress').map(({ value }) => value.kind);
const change = (editor: FakeEditor, agent: object) =>
  editor.connection.sendNotification('workspace/didChangeConfiguration', { settings: { atomic: { agent } } });

it('shows a run from its begin to its end, and reads what was said', async () => {
  const agent = agentFor({ on: { prompt: [{ started: true }, { say: ['Hel', 'lo'], gate: 'go' }] } });
  const editor = await withAgent(agent);
  await editor.execute('atomic.prompt', 'hello');
  await editor.when(() => progress(editor).length > 0);
  agent.open('go');
  await editor.when(() => progress(editor).includes('end'));
  expect(progress(editor).filter((kind) => kind !== 'report')).toEqual(['begin', 'end']);
  const { messages } = (await editor.execute('atomic.getMessages')) as { messages: { role: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(errors(editor)).toEqual([]);
});

it('names an agent that is not there, and works with the next one', async () => {
  const editor = await withAgent({ command: '/nowhere/agent' });
  expect(await editor.execute('atomic.prompt', 'hi')).toEqual({ intent: expect.any(String) });
  await editor.when(() => errors(editor).length > 0);
  expect(errors(editor)).toEqual([expect.stringContaining('/nowhere/agent')]);
  await change(editor, agentFor({}));
  await prompted(editor, 'hi');
  expect(errors(editor)).toHaveLength(1);
});

it('says once why an agent died at its start', async () => {
  const editor = await withAgent(agentFor({ start: [{ stderr: 'no such licence\n' }, { exit: 3 }] }));
  await editor.execute('atomic.prompt', 'hi');
  await editor.when(() => errors(editor).length > 0);
  await change(editor, agentFor({}));
  await prompted(editor, 'hi');
  expect(errors(editor)).toEqual([expect.stringContaining('no such licence')]);
});

it('asks in the editor, and the answer reaches the agent', async () => {
  const ask = { ask: { method: 'select', title: 'Which?', options: ['One', 'Two', 'Two'] } };
  const agent = agentFor({ on: { prompt: [ask, { started: true }, { say: 'Done' }] } });
  const editor = await withAgent(agent, {
    answers: { 'window/showMessageRequest': ({ actions }) => actions[2] },
  });
  await editor.execute('atomic.prompt', 'hi');
  await editor.when(() => editor.of('window/showMessageRequest').length === 1);
  expect(editor.of('window/showMessageRequest')[0].message).toBe('Which?');
  await editor.when(() => ends(editor) === 1);
  expect(errors(editor)).toEqual([]);
});

it('stops a run, and the next prompt works', async () => {
  const run: Script['on'] = {
    prompt: [
      [{ started: true }, { say: ['One', ' two'], gate: 'never' }],
      [{ started: true }, { say: 'Again' }],
    ],
  };
  const editor = await withAgent(agentFor({ on: run }));
  await editor.execute('atomic.prompt', 'hi');
  await editor.when(() => progress(editor).length > 0);
  await editor.execute('atomic.abort');
  await editor.when(() => ends(editor) === 1);
  await prompted(editor, 'again');
  expect(errors(editor)).toEqual([]);
});

it('ends its agent before it says that it has ended', async () => {
  const editor = await withAgent(agentFor({ start: [{ pid: true }] }), {
    options: { client: { name: 'x', events: true } },
  });
  await editor.connection.sendRequest('atomic/attach', {});
  await editor.execute('atomic.prompt', 'hi');
  const told = () =>
    editor
      .of('atomic/events')
      .flatMap(({ facts }) => facts)
      .find(({ type }) => type === 'session_info_changed');
  await editor.when(() => told() !== undefined);
  const pid = Number(/\d+/.exec(told().name)![0]);
  expect(process.kill(pid, 0)).toBe(true);
  editor.stream.destroy();
  await editor.exit;
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});
