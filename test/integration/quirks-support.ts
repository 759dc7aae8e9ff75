// What the tests of oddities share: an editor of a kind, with a session's folder of its own. Must not know what is tested.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Fact } from '../../server/src/protocol/facts.ts';
import { attached, type FakeEditor, fakeHub, opened, startEditor, turn } from '../unit/editor/support.ts';
import type { Quirky } from './quirks-clients.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The session's folder is `editor.hub.folder`. */
export async function started(client: Quirky, options?: object): Promise<FakeEditor> {
  const hub = fakeHub();
  hub.folder = mkdtempSync(join(tmpdir(), 'a ßession-'));
  folders.push(hub.folder);
  const editor = await startEditor({
    ...client,
    hub,
    ...(options && { options }),
    server: { isAlive: (pid) => pid === process.pid },
  });
  await attached(editor);
  return editor;
}

/** Everything that was sent before has been worked on. */
export const worked = async (editor: FakeEditor) => {
  editor.hub.data.get_state = {};
  await turn();
  await editor.execute('atomic.getState');
};
export const allow = opened({ id: 'd1', title: 'Run rm?', options: ['Allow', 'Deny'] });
export const run: Fact[] = [
  { type: 'agent_start' },
  { type: 'message_start', message: { role: 'assistant', content: [] } },
  { type: 'message_update', assistantMessageEvent: { type: 'text_start', contentIndex: 0 } },
];
export const over: Fact = { type: 'agent_settled', outcome: { stopReason: 'stop' } };
