// Kinds of bugs that others had with questions of an agent, with agents that bring them about; the list is test/bug-kinds.md.
import { afterEach, describe, expect, it } from 'vitest';
import { type Script, scriptedAgent } from '../support/scripted.ts';
import { type TestSession, testSession } from '../support/sessions.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function withScript(script: Script): { session: TestSession } {
  const agent = scriptedAgent(script);
  closing.push(() => agent.dispose());
  const session = testSession(agent);
  closing.push(() => session.close());
  return { session };
}
const ask = (title: string, more: object = {}) => ({
  ask: { method: 'select', title, options: ['yes', 'no'], ...more },
});

describe('questions', () => {
  it('that are open at once are answered in any order, each with its own', async () => {
    const { session } = withScript({
      on: {
        prompt: [
          { ...ask('First', { id: 'agent-1' }), wait: false },
          { ...ask('Second', { id: 'agent-2' }), wait: false },
          { accept: true },
        ],
        extension_ui_response: [
          [{ emit: { type: 'session_info_changed', name: 'one answered' } }],
          [{ emit: { type: 'session_info_changed', name: 'both answered' } }],
        ],
      },
    });
    const second = session.next('dialog_opened', ({ dialog }) => dialog.title === 'Second');
    await session.did('prompt', { message: '/ask' });
    const ids = [session.snapshot().dialogs[0]!.id, (await second).dialog.id];
    expect(ids).toEqual(['agent-1', 'agent-2']);
    const both = session.next('session_info_changed', ({ name }) => name === 'both answered');
    expect((await session.did('answer', { dialog: 'agent-2', index: 1 })).outcome).toBe('done');
    expect((await session.did('answer', { dialog: 'agent-1', index: 0 })).outcome).toBe('done');
    await both;
    const settled = session.facts().filter((fact) => fact.type === 'dialog_settled');
    expect(settled).toMatchObject([
      { id: 'agent-2', outcome: 'answered', answer: 'no' },
      { id: 'agent-1', outcome: 'answered', answer: 'yes' },
    ]);
  });

  it('that come before the command that asks is answered do not wait for it', async () => {
    const { session } = withScript({
      commands: [{ name: 'ask', source: 'extension' }],
      on: { prompt: [ask('Really?'), { accept: true }] },
    });
    const opened = session.next('dialog_opened');
    const command = session.did('prompt', { message: '/ask' });
    await opened;
    // Everything else is served meanwhile, too.
    expect((await session.did('set_session_name', { name: 'x' })).outcome).toBe('done');
    expect((await session.did('answer1')).outcome).toBe('done');
    expect((await command).outcome).toBe('done');
  });

  it('are withdrawn by a stop, and the agent hears it', async () => {
    const { session } = withScript({
      on: { prompt: [{ started: true }, ask('Run it?'), { say: 'Not run.' }] },
    });
    const opened = session.next('dialog_opened');
    await session.did('prompt', { message: 'go' });
    await opened;
    const heard = session.next('extension_ui_request', ({ method }) => method === 'notify');
    const settled = session.next('agent_settled');
    expect((await session.did('abort')).outcome).toBe('done');
    expect(await heard).toMatchObject({ message: 'select: {"cancelled":true}' });
    expect(session.dialogs).toBe(0);
    await settled;
  });

  it('in forms that nobody expects are refused or shown, and never left waiting', async () => {
    const strange = [
      { method: 'select', title: 7, options: [{ toString: 1 }, null, ['x']] },
      { method: { toString: 1 }, title: 'T' },
      { method: 'oauth_select', provider: { toString: null }, prompt: 'no object' },
      { method: 'custom', title: 'A component of the terminal' },
    ];
    const { session } = withScript({
      on: {
        prompt: [
          { accept: true },
          ...strange.map((request) => ({ ask: request as never, wait: false as const })),
          ask('Last'),
        ],
      },
    });
    const last = session.next('dialog_opened', ({ dialog }) => dialog.title === 'Last');
    await session.did('prompt', { message: 'go' });
    await last;
    const [first] = session.snapshot().dialogs;
    expect(first).toMatchObject({ title: '', options: ['{"toString":1}', 'null', '["x"]'] });
    expect((await session.did('answer', { dialog: first!.id, index: 0 })).outcome).toBe('done');
    const told = session.facts().filter((fact) => fact.type === 'extension_ui_request');
    expect(told.map(({ method }) => method)).toContain('custom');
  });
});
