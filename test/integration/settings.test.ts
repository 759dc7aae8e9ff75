// Wrong settings over the real server: whichever way they come, each is named in one sentence with its cure, and the others hold.
import { afterEach, describe, expect, it } from 'vitest';
import { program, startLanguageServer } from '../support/language-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What is wrong, and the sentence about it. */
const wrong: [settings: Record<string, unknown>, sentence: RegExp][] = [
  [
    { whileBussy: 'steer' },
    /^There is no setting "whileBussy"; it is ignored: there are "agent", .*"whileBusy"/,
  ],
  [
    { whileBusy: 'later' },
    /^The setting "whileBusy" is wrong \(.*"steer"\|"followUp"\) and ignored: correct it in the editor/,
  ],
  [
    { agent: 'pi --fast' },
    /^The setting "agent" is wrong \(.*expected object, received string\) so no agent is started in its place: correct/,
  ],
  [
    { agent: { command: 'pi', arguments: [] } },
    /^The setting "agent" has an unknown key "arguments": remove it/,
  ],
  [{ agent: { command: 'pi', args: '--fast' } }, /^The setting "agent.args" is wrong \(.*expected array/],
  [{ start: { model: 3 } }, /^The setting "start.model" is wrong \(.*expected string, received number\)/],
];
const all = (server: { notified(method: string): unknown[] }) =>
  (server.notified('window/showMessage') as { type: number; message: string }[]).filter(({ message }) =>
    /setting/.test(message),
  );

describe('a wrong setting is named with its cure', () => {
  it('when it comes with initialize, and all others hold', async () => {
    const settings = Object.assign({}, ...wrong.slice(0, 3).map(([it]) => it));
    const server = await startLanguageServer({ initializationOptions: { ...settings, session: 'kept ü' } });
    closing.push(() => server.close());
    for (const [, sentence] of wrong.slice(0, 3))
      await server.notification('window/showMessage', ({ message }) => sentence.test(message));
    expect(all(server).map(({ type }) => type)).toEqual([1, 1, 1]);
    const { tabs } = await server.execute<{ tabs: { name: string }[] }>('atomic.listTabs');
    expect(tabs.map(({ name }) => name)).toEqual(['kept ü']);
  });

  it('when it is changed later, under "atomic" or at the top, and nothing is said of what belongs to others', async () => {
    const server = await startLanguageServer();
    closing.push(() => server.close());
    const changed = (settings: unknown) => server.notify('workspace/didChangeConfiguration', { settings });
    for (const [settings, sentence] of wrong) {
      await changed({ atomic: settings, python: { path: 3 } });
      await server.notification('window/showMessage', ({ message }) => sentence.test(message));
    }
    await changed({ python: { path: 3 }, whileBussy: 'steer', restart: 'atonce' });
    await server.notification('window/showMessage', ({ message }) => /"restart" is wrong/.test(message));
    for (const table of ['steer', { atomic: true }]) {
      await changed(table);
      await server.notification('window/showMessage', ({ message }) =>
        (typeof table === 'string'
          ? /^The configuration is not a table/
          : /^The setting "atomic" is not a table/
        ).test(message),
      );
    }
    await changed({ atomic: [] });
    await changed(null);
    await server.execute('atomic.listTabs');
    expect(all(server)).toHaveLength(wrong.length + 3);
  });

  it('and no other agent is started for one that was wrongly named, until it is right', async () => {
    const server = await startLanguageServer({ initializationOptions: { agent: 'pi --fast' } });
    closing.push(() => server.close());
    const prompted = async () => {
      const { intent } = await server.execute<{ intent: string }>('atomic.prompt', 'Hello ü');
      return server.fact((fact) => fact.type === 'intent_settled' && fact.intent === intent);
    };
    expect(await prompted()).toMatchObject({
      outcome: 'failed',
      error: expect.stringMatching(/^The setting "agent" is wrong .* so no agent is started in its place/),
    });
    expect(server.facts().some(({ type }) => type === 'agent_started')).toBe(false);
    const agent = { command: process.execPath, args: [program, 'demo-agent'] };
    await server.notify('workspace/didChangeConfiguration', { settings: { atomic: { agent } } });
    expect(await prompted()).toMatchObject({ outcome: 'done' });
  });
});
