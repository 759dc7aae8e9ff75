// The whole length: a language server process, the hub process, the real pi.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { processesWithEnvironment } from '../editors/processes.ts';
import { type LanguageServer, peakMemory, startLanguageServer } from '../support/language-server.ts';
import { gate, type ModelScript, startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { scriptedAgent } from '../support/scripted.ts';

beforeAll(ensurePi, 600_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function withPi(script: ModelScript, args?: string[]): Promise<LanguageServer> {
  const model = await startModelServer(script);
  const agent = await piAgent({ model });
  const server = await startLanguageServer({ agent, ...(args && { args }) });
  closing.push(
    () => model.close(),
    () => agent.dispose(),
    () => server.close(),
  );
  return server;
}

const tokens = 20_000;

it('brings 20,000 tokens without a gap, within 200 MB of server and hub together', async () => {
  const server = await withPi([[{ tokens }]]);
  await server.execute('atomic.prompt', 'Go');
  await server.fact((fact) => fact.type === 'agent_settled');
  let text = '';
  let previous = server.batches[0]!.from - 1;
  for (const batch of server.batches) {
    expect(batch.from).toBe(previous + 1);
    previous = batch.to;
    for (const fact of batch.facts)
      if (fact.type === 'message_update' && fact.assistantMessageEvent.type === 'text_delta')
        text += fact.assistantMessageEvent.delta;
  }
  const { messages } = await server.execute<{ messages: { role: string; content: { text: string }[] }[] }>(
    'atomic.getMessages',
  );
  expect(text).toBe(messages.findLast(({ role }) => role === 'assistant')!.content[0]!.text);
  expect(text.split(/\s+/).filter(Boolean)).toHaveLength(tokens);
  const hub = processesWithEnvironment(`ATOMIC_TEST_HOME=${server.home.path}`).filter(
    (pid) => pid !== server.child.pid && commandLine(pid).includes('main.js\0hub'),
  );
  expect(hub).toHaveLength(1);
  expect(peakMemory(server.child.pid!) + peakMemory(hub[0]!)).toBeLessThan(200 * 1024 * 1024);
});

it('writes no more than 12 bytes a character for an answer whose agent repeats it all in every line', async () => {
  const deltas = Array.from({ length: 2000 }, (_, n) => `${n} twenty letters, ä.\n`.padEnd(20, '.'));
  const agent = scriptedAgent({ dialect: 'D1', on: { prompt: [{ started: true }, { say: deltas }] } });
  const server = await startLanguageServer({ agent });
  closing.push(
    () => agent.dispose(),
    () => server.close(),
  );
  const before = server.written();
  await server.execute('atomic.prompt', 'Go');
  await server.fact((fact) => fact.type === 'agent_settled');
  const said = server
    .facts()
    .flatMap((fact) =>
      fact.type === 'message_update' && fact.assistantMessageEvent.type === 'text_delta'
        ? [fact.assistantMessageEvent.delta]
        : [],
    );
  expect(said.join('')).toBe(deltas.join(''));
  expect(server.written() - before).toBeLessThan(12 * deltas.join('').length);
});

it('two sessions run side by side, and both go on after the hub was killed', async () => {
  const server = await withPi(['One.', 'Two.', 'Three.', 'Four.']);
  const { session: review } = await server.request<{ session: string }>('atomic/attach', {
    session: 'review',
  });
  const sessions = [server.attached.session, review];
  const ended = (of: string) =>
    server.batches
      .filter(({ session }) => session === of)
      .flatMap(({ facts }) => facts)
      .filter(({ type }) => type === 'agent_settled').length;
  const ask = async (session: string, message: string) => {
    const before = ended(session);
    const id = `${session} ${message}`;
    await server.request('atomic/intent', { id, session, command: 'prompt', params: { message } });
    await server.notification('atomic/events', () => ended(session) > before);
  };
  for (const session of sessions) await ask(session, `first of ${session}`);
  const [hub] = processesWithEnvironment(`ATOMIC_TEST_HOME=${server.home.path}`).filter(
    (pid) => pid !== server.child.pid && commandLine(pid).includes('main.js\0hub'),
  );
  process.kill(hub!, 'SIGKILL');
  for (const session of sessions)
    await server.notification('atomic/resync', (resync: { session: string }) => resync.session === session);
  for (const session of sessions) await ask(session, `second of ${session}`);
  for (const session of sessions) {
    const { messages } = await server.request<{ messages: { role: string; content: unknown }[] }>(
      'atomic/read',
      {
        session,
        command: 'get_messages',
      },
    );
    const said = JSON.stringify(messages.filter(({ role }) => role === 'user'));
    for (const each of sessions)
      expect([said.includes(`first of ${each}`), said.includes(`second of ${each}`)]).toEqual(
        each === session ? [true, true] : [false, false],
      );
  }
});

it('leaves nothing behind when the editor is killed and nothing was shared', async () => {
  const server = await withPi([['Begun ', { hang: true }]], ['--stdio', '--no-hub']);
  await server.execute('atomic.prompt', 'Go');
  await server.fact((fact) => fact.type === 'message_update');
  const exited = once(server.child, 'exit');
  server.child.stdin!.destroy();
  await exited;
  // The model hears that the agent hung up only when that is gone.
  await expect.poll(() => server.home.processes(), { timeout: 10_000 }).toEqual([]);
});

it('lets the run go on in the hub when the editor is killed', async () => {
  const wait = gate();
  const server = await withPi([['First half, ', { gate: wait }, 'second half.']]);
  await server.execute('atomic.prompt', 'Go');
  await server.fact((fact) => fact.type === 'message_update');
  server.child.kill('SIGKILL');
  await once(server.child, 'exit');
  const second = await startLanguageServer({ home: server.home });
  closing.push(() => second.close());
  expect(second.attached.snapshot?.run).toMatchObject({ turns: 1 });
  expect(second.attached.snapshot?.message?.blocks[0]?.text).toBe('First half, ');
  wait.open();
  await second.fact((fact) => fact.type === 'agent_settled');
  const text = await second.execute<{ text: string }>('atomic.getLastAssistantText');
  expect(text.text).toBe('First half, second half.');
});

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};
