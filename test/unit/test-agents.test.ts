// The real pi with a scripted model, as the tests of the product use it.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentChoice } from '../../server/src/protocol/hub.ts';
import { type Line, type Talk, talkTo } from '../agents/talk.ts';
import { gate, type ModelScript, type ModelServer, startModelServer } from '../support/model-server.ts';
import { ensurePi, ensurePi058, type PiAgent, type PiOptions, pi058Agent, piAgent } from '../support/pi.ts';

// The first run on a machine downloads the agents.
beforeAll(async () => {
  await Promise.all([ensurePi(), ensurePi058()]);
}, 600_000);

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'atomic-lsp-agents-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Started {
  talk: Talk;
  model: ModelServer;
  agent: PiAgent;
}

async function start(
  script: ModelScript,
  options: Omit<PiOptions, 'model'> = {},
  make: typeof piAgent = piAgent,
): Promise<Started> {
  const model = await startModelServer(script);
  cleanups.push(model.close);
  const agent = await make({ model, ...options });
  cleanups.push(agent.dispose);
  return { talk: talking(agent), model, agent };
}

function talking(agent: { command: string; args: string[]; env: Record<string, string> }): Talk {
  const talk = talkTo(agent, { cwd });
  cleanups.push(talk.kill);
  return talk;
}

const deltas = (talk: Talk): string[] =>
  talk.lines.flatMap(({ assistantMessageEvent: event }) =>
    event?.type === 'text_delta' ? [event.delta] : [],
  );
const lastMessage = (talk: Talk): Line =>
  talk.lines.findLast(({ type, message }) => type === 'message_end' && message.role === 'assistant')!.message;

describe('real pi', () => {
  it('says its state, with the models of the server', async () => {
    const { talk } = await start([]);
    expect((await talk.call({ type: 'get_state' })).data).toMatchObject({
      model: { provider: 'local', id: 'scripted' },
      isStreaming: false,
    });
    const { models } = (await talk.call({ type: 'get_available_models' })).data;
    expect(models.map(({ id }: Line) => id)).toEqual(['scripted', 'thinker']);
    talk.close();
    expect((await talk.end).code).toBe(0);
  });

  it('is an agent choice, and nothing besides', async () => {
    const { agent } = await start([]);
    expect(agentChoice.parse(agent)).toEqual({ command: agent.command, args: agent.args, env: agent.env });
    expect(agent.home).not.toBe('');
  });

  it('streams what the model writes, when the model writes it', async () => {
    const middle = gate();
    const { talk, model } = await start([['Hello ', { gate: middle }, 'wörld 😀']]);
    expect((await talk.call({ type: 'prompt', message: 'greet' })).data).toEqual({ disposition: 'started' });
    await middle.reached;
    await talk.until(({ assistantMessageEvent }) => assistantMessageEvent?.delta === 'Hello ');
    expect((await talk.call({ type: 'get_state' })).data.isStreaming).toBe(true);
    expect(deltas(talk)).toEqual(['Hello ']);
    middle.open();
    await talk.until('agent_settled');
    expect(deltas(talk)).toEqual(['Hello ', 'wörld 😀']);
    expect(model.requests.map(({ prompt }) => prompt)).toEqual(['greet']);
  });

  it('thinks', async () => {
    const { talk } = await start([[{ reasoning: 'Let me ' }, { reasoning: 'see.' }, 'Yes.']]);
    await talk.call({ type: 'set_model', provider: 'local', modelId: 'thinker' });
    await talk.call({ type: 'prompt', message: 'think' });
    await talk.until('agent_settled');
    expect(lastMessage(talk).content).toMatchObject([
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });

  it('runs a tool in its folder and goes on with the result', async () => {
    const { talk, model } = await start([
      [{ toolCall: 'bash', arguments: { command: 'pwd; echo "done" > made.txt' } }],
      'Ready.',
    ]);
    await talk.call({ type: 'prompt', message: 'make it' });
    const { result, toolName } = await talk.until('tool_execution_end');
    expect(toolName).toBe('bash');
    expect(result.content[0].text).toContain(cwd);
    await talk.until('agent_settled');
    expect(readdirSync(cwd)).toContain('made.txt');
    expect(lastMessage(talk).content).toMatchObject([{ type: 'text', text: 'Ready.' }]);
    const told = model.requests[1]!.body.messages.find(({ role }) => role === 'tool');
    expect(JSON.stringify(told)).toContain(cwd);
  });

  it('aborts, and the model hears it', async () => {
    const { talk, model } = await start([['Once ', { hang: true }]]);
    await talk.call({ type: 'prompt', message: 'tell a story' });
    await talk.until('message_update');
    talk.send({ id: 'stop', type: 'abort' });
    await talk.until(({ id }) => id === 'stop');
    await (await model.request(0)).aborted;
    expect(lastMessage(talk)).toMatchObject({ stopReason: 'aborted', content: [{ text: 'Once ' }] });
  });

  it('tries again after errors of the provider', async () => {
    const { talk, model } = await start([
      { status: 429, body: { error: { message: 'slow down' } } },
      { status: 500 },
      ['cut', { cut: true }],
      'At last.',
    ]);
    await talk.call({ type: 'prompt', message: 'try' });
    await talk.until('agent_settled');
    expect(talk.lines.filter(({ type }) => type === 'auto_retry_start')).toHaveLength(3);
    expect(model.requests).toHaveLength(4);
    expect(lastMessage(talk).content).toMatchObject([{ text: 'At last.' }]);
  });

  it('says it when the model has nothing more to say', async () => {
    const { talk } = await start([]);
    await talk.call({ type: 'prompt', message: 'x' });
    await talk.until('agent_settled');
    expect(lastMessage(talk).errorMessage).toContain('the script has no reply number 1');
  });

  it('passes on 20,000 tokens', async () => {
    const { talk } = await start([[{ tokens: 20_000 }]]);
    await talk.call({ type: 'prompt', message: 'much' });
    await talk.until('agent_settled');
    expect(deltas(talk).length).toBe(20_000);
    expect(deltas(talk).at(-1)).toBe('word19999 ');
  });

  it('finds its sessions again in the same home', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atomic-lsp-home-'));
    cleanups.push(() => rmSync(home, { recursive: true, force: true }));
    const first = await start(['One.'], { home });
    await first.talk.call({ type: 'prompt', message: 'remember' });
    await first.talk.until('agent_settled');
    const { sessionId } = (await first.talk.call({ type: 'get_state' })).data;
    await first.talk.kill();
    first.agent.dispose();
    const second = await start([], { home, args: ['--continue'] });
    expect((await second.talk.call({ type: 'get_state' })).data.sessionId).toBe(sessionId);
  });

  it('is a program named pi in a folder for PATH', async () => {
    const { agent } = await start([]);
    const talk = talking({ command: join(agent.bin, 'pi'), args: [], env: agent.env });
    expect((await talk.call({ type: 'get_state' })).data.model.id).toBe('scripted');
    talk.close();
    expect((await talk.end).code).toBe(0);
  });
});

describe('real pi with the extension of dialogs', () => {
  const withDialogs = (script: ModelScript = []) => start(script, { extensions: ['dialogs'] });

  it.each([
    [
      '/ask-select',
      { method: 'select', options: ['Allow', 'Block', 'Always — «ünï» 😀'] },
      { value: 'Block' },
      'select="Block"',
    ],
    [
      '/ask-confirm',
      { method: 'confirm', message: 'All messages are lost.' },
      { confirmed: true },
      'confirm=true',
    ],
    ['/ask-input', { method: 'input', placeholder: 'feature/…' }, { value: 'x' }, 'input="x"'],
    [
      '/ask-editor',
      { method: 'editor', prefill: 'First line\n\nBody\n' },
      { cancelled: true },
      'editor=undefined',
    ],
  ])('%s is asked and answered', async (command, request, answer, told) => {
    const { talk } = await withDialogs();
    talk.send({ id: 'p', type: 'prompt', message: command });
    const { id, ...asked } = await talk.until('extension_ui_request');
    expect(asked).toMatchObject(request);
    talk.send({ type: 'extension_ui_response', id, ...answer });
    expect((await talk.until(({ method }) => method === 'notify')).message).toBe(told);
    expect((await talk.until('response')).data).toEqual({ disposition: 'handled' });
  });

  it('a question with a time limit is given up in silence', async () => {
    const { talk } = await withDialogs();
    talk.send({ id: 'p', type: 'prompt', message: '/ask-confirm 50' });
    expect((await talk.until('extension_ui_request')).timeout).toBe(50);
    expect((await talk.until('extension_ui_request')).message).toBe('confirm=false');
  });

  it('two questions are open at once', async () => {
    const { talk } = await withDialogs();
    talk.send({ id: 'p', type: 'prompt', message: '/ask-two' });
    const first = await talk.until('extension_ui_request');
    const second = await talk.until('extension_ui_request');
    talk.send({ type: 'extension_ui_response', id: second.id, value: 'b' });
    talk.send({ type: 'extension_ui_response', id: first.id, value: '1' });
    expect((await talk.until('extension_ui_request')).message).toBe('two=["1","b"]');
  });

  it('shows what needs no answer', async () => {
    const { talk } = await withDialogs();
    await talk.call({ type: 'prompt', message: '/say' });
    await talk.call({ type: 'prompt', message: '/say clear' });
    const shown = talk.lines.filter(({ type }) => type === 'extension_ui_request');
    const methods = ['setStatus', 'setWidget', 'setTitle', 'set_editor_text', 'notify', 'notify', 'notify'];
    expect(shown.map(({ method }) => method)).toEqual([...methods, ...methods]);
    expect(shown[0]?.statusText).toContain('green');
    expect(shown[1]).toMatchObject({ widgetLines: ['one', 'two'], widgetPlacement: 'belowEditor' });
    expect(shown[7]?.statusText).toBeUndefined();
  });

  it('replaces the session without a word', async () => {
    const { talk } = await withDialogs();
    const before = (await talk.call({ type: 'get_state' })).data.sessionId;
    await talk.call({ type: 'prompt', message: '/replace-session' });
    expect(talk.lines.some(({ message }) => message === 'replaced')).toBe(true);
    expect((await talk.call({ type: 'get_state' })).data.sessionId).not.toBe(before);
  });

  it('asks in the middle of a run', async () => {
    const { talk, model } = await withDialogs([
      [{ toolCall: 'bash', arguments: { command: 'echo ask-first' } }],
      'Then not.',
    ]);
    await talk.call({ type: 'prompt', message: 'do it' });
    const { id } = await talk.until('extension_ui_request');
    talk.send({ type: 'extension_ui_response', id, value: 'Block' });
    await talk.until('agent_settled');
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('Blocked by the user');
  });

  it('fails and leaves as asked', async () => {
    const { talk } = await withDialogs();
    await talk.call({ type: 'prompt', message: '/fail' });
    expect(talk.lines.find(({ type }) => type === 'extension_error')?.error).toContain('failed as asked');
    talk.send({ type: 'prompt', message: '/leave' });
    expect((await talk.end).code).toBe(0);
  });
});

describe('real pi 0.58', () => {
  it('streams cumulative messages and settles nothing', async () => {
    const { talk } = await start([['Hello ', 'there']], {}, pi058Agent);
    await talk.call({ type: 'prompt', message: 'greet' });
    await talk.until('agent_end');
    await talk.call({ type: 'get_state' });
    const updates = talk.lines.filter(({ type }) => type === 'message_update');
    expect(updates.at(-1)?.message.content[0].text).toBe('Hello there');
    expect(updates.every(({ assistantMessageEvent }) => 'partial' in assistantMessageEvent)).toBe(true);
    expect(talk.lines.some(({ type }) => type === 'agent_settled')).toBe(false);
  });

  it('runs a tool', async () => {
    const { talk } = await start(
      [[{ toolCall: 'bash', arguments: { command: 'echo old' } }], 'Done.'],
      {},
      pi058Agent,
    );
    await talk.call({ type: 'prompt', message: 'go' });
    expect((await talk.until('tool_execution_end')).result.content[0].text).toContain('old');
    await talk.until('agent_end');
    expect(lastMessage(talk).content).toMatchObject([{ text: 'Done.' }]);
  });
});
