// What is sent to any editor: nothing that some editor stumbles over.
import { describe, expect, it } from 'vitest';
import { delta, settled } from '../unit/editor/support.ts';
import { clients } from './quirks-clients.ts';
import { allow, over, run, started, worked } from './quirks-support.ts';

describe.each(Object.entries(clients))('to %s', (_, client) => {
  it('nothing is sent that some editor stumbles over', async () => {
    const editor = await started(client);
    editor.hub.append(...run, delta('Hello'), allow);
    await editor.execute('atomic.compose');
    await editor.execute('atomic.open');
    await editor.execute('atomic.prompt', 'go on');
    await worked(editor);
    for (let n = 0; n < 8; n += 1) {
      editor.clock.advance(1_000);
      await worked(editor);
    }
    editor.hub.append(over, settled('d1'));
    await worked(editor);
    editor.clock.advance(70_000);
    await worked(editor);

    const methods = new Set(editor.received.map(({ method }) => method));
    // Registered statically; nothing of our own to somebody who has not asked for it.
    expect([...methods].filter((it) => it.startsWith('client/') || it.startsWith('atomic/'))).toEqual([]);
    for (const { method, params } of editor.received) {
      // Kate drops what has no parameters.
      expect(params, method).toBeTypeOf('object');
      for (const [key, value] of leaves(params))
        if (value === null && key !== 'version') throw new Error(`${method} has a null at ${key}`);
      const said = [params.message, params.title, params.value?.message, params.value?.title];
      for (const text of said.filter((it) => it !== undefined))
        expect(text, method).toMatch(/^[^\n\r]{1,400}$/u);
      if (method === 'window/showMessageRequest') expect(params.actions.length).toBeGreaterThan(0);
      if (method === '$/progress') expect(params.token).toBeTypeOf('string');
    }
    const { capabilities } = editor.initialized;
    expect(capabilities.codeActionProvider?.resolveProvider).toBeFalsy();
    expect(capabilities.textDocumentSync).toMatchObject({ openClose: true, save: { includeText: true } });
    expect(capabilities.positionEncoding ?? 'utf-16').toBe('utf-16');
  });
});

/** Everything in a value that is no object, with its key. */
function* leaves(value: unknown, key = ''): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) yield [key, value];
  else for (const [name, item] of Object.entries(value)) yield* leaves(item, name);
}
