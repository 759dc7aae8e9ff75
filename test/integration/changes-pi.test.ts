// What the real pi changes in files, as the hub tells it and takes it back. The file that is overwritten has been read before, and
// the new one waits until its call was seen, as a write does not tell what was there; edits come as fast as they can.
import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { createStartAgent } from '../../server/src/agent/index.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { silentLog } from '../../server/src/hub/log.ts';
import type { FileChange } from '../../server/src/protocol/changes.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import { undone } from '../../server/src/session/files.ts';
import { createSession } from '../../server/src/session/session.ts';
import { gate, startModelServer } from '../support/model-server.ts';
import { ensurePi, ensurePi058, pi058Agent, piAgent } from '../support/pi.ts';
import { hubStarter, testFolders } from '../unit/hub/support.ts';

beforeAll(() => Promise.all([ensurePi(), ensurePi058()]), 600_000);

const folders = testFolders();
const startHub = hubStarter(folders);

/** A hub with the real core, and what an editor does with it. */
async function hubAt(state: string, workspace: string, agent: Awaited<ReturnType<typeof piAgent>>) {
  const startAgent = createStartAgent({
    demo: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
    clock: systemClock,
    log: silentLog,
  });
  const { hub, join } = startHub({ folder: state, clock: systemClock, createSession, startAgent });
  const client = await join('Helix', { PATH: process.env.PATH ?? '' });
  const facts: Fact[] = [];
  const waiting = new Set<() => void>();
  client.onFacts((batch) => {
    facts.push(...batch.facts);
    for (const look of [...waiting]) look();
  });
  const { session } = await client.attach({ workspace, agent: { ...agent } });
  let count = 0;
  const seen = (matches: (fact: Fact) => boolean): Promise<Fact> =>
    new Promise((resolve) => {
      const look = () => {
        const found = facts.find(matches);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    facts,
    seen,
    async did(command: string, params: object = {}) {
      count += 1;
      const id = `intent ${count}`;
      await client.intent({ session, id, command, params: { ...params } });
      return (await seen((fact) => fact.type === 'intent_settled' && fact.intent === id)) as Extract<
        Fact,
        { type: 'intent_settled' }
      >;
    },
    async listed() {
      const answer = await client.read({ session, command: 'list_changes', params: {} });
      return (answer as { files: FileChange[] }).files;
    },
    async stop() {
      hub.stop({ force: true });
      await hub.closed;
    },
  };
}

it.each([
  ['pi 1.6', piAgent],
  ['pi 0.58', pi058Agent],
])(
  '%s edits, writes and runs a shell: all of it is listed, kept over hubs, and taken back',
  async (_, make) => {
    const workspace = folders.make('ä workspace');
    const at = (name: string) => path.join(workspace, name);
    const before = Array.from({ length: 30 }, (_line, number) => `line ${number} ü\r\n`);
    const edited = before.with(3, 'edited\r\n').with(25, 'edited, too\r\n').join('');
    fs.writeFileSync(at('e d.txt'), before.join(''));
    fs.writeFileSync(at('w.txt'), 'as it was\n');
    fs.writeFileSync(at('other.txt'), 'not of the agent\n');
    const [read, announced] = [gate(), gate()];
    const edit = (from: string, to: string) => [
      {
        toolCall: 'edit',
        // The forms of both.
        arguments: {
          path: 'e d.txt',
          ...(make === piAgent
            ? { edits: [{ oldText: from, newText: to }] }
            : { oldText: from, newText: to }),
        },
      },
    ];
    const model = await startModelServer([
      [{ toolCall: 'read', arguments: { path: 'w.txt' } }],
      [{ gate: read }, { toolCall: 'write', arguments: { path: 'w.txt', content: 'overwritten\n' } }],
      edit('line 3 ü', 'edited'),
      edit('line 25 ü', 'edited, too'),
      [{ toolCall: 'write', arguments: { path: 'sub/nëu.txt', content: 'new\n' } }, { gate: announced }],
      [{ toolCall: 'bash', arguments: { command: 'echo more >> w.txt; echo by nobody > shell.txt' } }],
      'Done.',
    ]);
    const agent = await make({ model });
    const state = folders.make('state');
    const first = await hubAt(state, workspace, agent);
    await first.did('prompt', { message: 'Go' });
    await first.seen((fact) => fact.type === 'tool_execution_end' && fact.toolName === 'read');
    read.open();
    let written = '';
    await first.seen((fact) => {
      if (fact.type === 'message_start') written = '';
      if (fact.type === 'message_update' && fact.assistantMessageEvent.type === 'toolcall_delta')
        written += fact.assistantMessageEvent.delta;
      return written.includes('nëu.txt"');
    });
    announced.open();
    await first.seen((fact) => fact.type === 'agent_settled');
    expect(fs.readFileSync(at('e d.txt'), 'utf8')).toBe(edited);
    const listed = [
      { path: at('w.txt'), status: 'modified', added: 2, removed: 1 },
      { path: at('e d.txt'), status: 'modified', added: 2, removed: 2, hunks: [{}, {}] },
      { path: at('sub/nëu.txt'), status: 'added', added: 1, removed: 0 },
    ];
    expect(await first.listed()).toMatchObject(listed);
    // What we fall back on when the agent is faster: its own account of the edit.
    const end = first.facts.findLast(
      (fact) => fact.type === 'tool_execution_end' && fact.toolName === 'edit',
    ) as Extract<Fact, { type: 'tool_execution_end' }>;
    expect(undone({}, end.result, edited)).toBe(before.with(3, 'edited\r\n').join(''));
    await first.stop();

    const second = await hubAt(state, workspace, agent);
    expect(await second.listed()).toMatchObject(listed);
    expect(await second.did('revert_file', { path: 'e d.txt', hunk: 1 })).toMatchObject({ outcome: 'done' });
    expect(fs.readFileSync(at('e d.txt'), 'utf8')).toBe(before.with(3, 'edited\r\n').join(''));
    for (const { path: file } of listed) {
      const { outcome, error } = await second.did('revert_file', { path: file });
      expect({ outcome, error }).toEqual({ outcome: 'done', error: undefined });
    }
    expect(fs.readFileSync(at('e d.txt'), 'utf8')).toBe(before.join(''));
    expect(fs.readFileSync(at('w.txt'), 'utf8')).toBe('as it was\n');
    expect(fs.existsSync(at('sub/nëu.txt'))).toBe(false);
    expect(await second.listed()).toEqual([]);
    expect(await second.did('revert_file', { path: 'w.txt' })).toMatchObject({
      outcome: 'refused',
      error: expect.stringContaining('changed nothing in w.txt'),
    });
    expect(second.facts.filter(({ type }) => type === 'agent_started')).toEqual([]);
    await second.stop();
    await model.close();
    agent.dispose();
  },
);
