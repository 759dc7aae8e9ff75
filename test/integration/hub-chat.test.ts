// chat.md: what a hub leaves on disk, with a real core and scripted agents, over restarts, full files and failures.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createStartAgent } from '../../server/src/agent/index.ts';
import { chatFile, chatPositionFile, startChat } from '../../server/src/hub/chat.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { silentLog } from '../../server/src/hub/log.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import type { Snapshot } from '../../server/src/protocol/snapshot.ts';
import { emptySnapshot, folded } from '../../server/src/session/fold.ts';
import { createJournal } from '../../server/src/session/journal.ts';
import { createSession } from '../../server/src/session/session.ts';
import { wholeTranscript } from '../../server/src/session/transcript-whole.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { startModelServer } from '../support/model-server.ts';
import { ensurePi, piAgent } from '../support/pi.ts';
import { type ScriptedAgent, scriptedAgent } from '../support/scripted.ts';
import { hubStarter, testFolders } from '../unit/hub/support.ts';

beforeAll(ensurePi, 600_000);

const folders = testFolders();
const startHub = hubStarter(folders);
const agents: ScriptedAgent[] = [];
afterEach(() => {
  for (const agent of agents.splice(0)) agent.dispose();
});

/** A hub with the real core. */
const realHub = (folder: string) =>
  startHub({
    folder,
    clock: systemClock,
    createSession,
    startAgent: createStartAgent({
      demo: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
      clock: systemClock,
      log: silentLog,
    }),
  });

/** Lets a hub run prompts one after the other, then stops it; gives the chat file. */
async function talked(state: string, workspace: string, agent: AgentChoice, prompts: string[]) {
  const { hub, join } = realHub(state);
  const client = await join('Helix', { PATH: process.env.PATH ?? '' });
  let snapshot = emptySnapshot();
  let settled = () => {};
  client.onFacts(({ facts }) => {
    for (const fact of facts) {
      snapshot = folded(snapshot, fact);
      if (fact.type === 'agent_settled') settled();
    }
  });
  const { session } = await client.attach({ workspace, agent: { ...agent } });
  for (const message of prompts) {
    const run = new Promise<void>((resolve) => {
      settled = resolve;
    });
    await client.intent({ session, id: message, command: 'prompt', params: { message } });
    await run;
  }
  hub.stop({ force: true });
  await hub.closed;
  const folder = path.join(state, ...fs.readdirSync(state).slice(0, 1), 'default');
  return { folder, text: fs.readFileSync(path.join(folder, chatFile), 'utf8') };
}

describe('a hub', () => {
  it('leaves the whole conversation, for its user alone, and the next one goes on under a rule', async () => {
    const state = folders.make('state');
    const workspace = folders.make('work');
    const agent = scriptedAgent({
      on: {
        prompt: [
          [{ started: true }, { say: ['Hello ', 'you.'], thinking: 'Hm.' }],
          [
            { started: true },
            {
              say: 'Done.',
              tools: [{ name: 'bash', args: { command: 'ls' }, output: ['a\n', 'b\n'] }],
            },
          ],
        ],
      },
    });
    agents.push(agent);
    const { folder, text } = await talked(state, workspace, agent, ['Hi', 'List']);
    const plain = text.replace(/(◈) [-0-9: ]{16}$/gm, '$1');
    expect(plain).toContain('## You ◈\n\nHi\n\n## Atomic ◈\n\n> *Thinking*\n>\n> Hm.\n\nHello you.\n');
    expect(plain).toContain(
      '## You ◈\n\nList\n\n## Atomic ◈\n\n### bash `ls` ◈\n\n```\na\nb\n```\n\nDone.\n',
    );
    expect(fs.statSync(path.join(folder, chatFile)).mode & 0o777).toBe(0o600);

    const again = await talked(state, workspace, agent, ['Once more']);
    expect(again.text.startsWith(text)).toBe(true);
    const added = again.text.slice(text.length);
    expect(added).toMatch(/^\n---\n\n/);
    expect(added).toContain('Once more');
    expect(added).not.toContain('\nHi\n');
  }, 30_000);

  it('goes on with the same conversation of the real pi without repeating it', async () => {
    const model = await startModelServer(['First answer.', 'Second answer.']);
    const agent = await piAgent({ model });
    const state = folders.make('state');
    const workspace = folders.make('work');
    try {
      await talked(state, workspace, agent, ['First question']);
      const { text } = await talked(state, workspace, agent, ['Second question']);
      const order = ['First question', 'First answer.', '---', 'Second question', 'Second answer.'];
      expect(order.map((part) => text.split(`\n${part}\n`).length - 1)).toEqual([1, 1, 1, 1, 1]);
      const places = order.map((part) => text.indexOf(`\n${part}\n`));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    } finally {
      agent.dispose();
      await model.close();
    }
  }, 60_000);
});

/** A session of facts that the test makes. */
function told(folder: string, limits?: Parameters<typeof startChat>[0]['limits']) {
  const journal = createJournal('e');
  const clock = fakeClock();
  let snapshot: Snapshot = emptySnapshot();
  const chat = startChat({
    session: {
      journal,
      snapshot: () => snapshot,
      notice: (level, message) => tell({ type: 'notice', level, message }),
    },
    folder,
    clock,
    log: silentLog,
    ...(limits && { limits }),
  });
  const tell = (...facts: Fact[]) => {
    for (const fact of facts) {
      snapshot = folded(snapshot, fact);
      journal.append(fact);
    }
  };
  const notices = () => journal.facts(1, journal.last).filter(({ type }) => type === 'notice').length;
  return { chat, clock, tell, notices, snapshot: () => snapshot };
}

const user = (text: string, timestamp = 1): Fact => ({
  type: 'message_end',
  message: { role: 'user', content: text, timestamp },
});
const piece = (delta: string): Fact => ({
  type: 'message_update',
  assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta },
});
const read = (folder: string, name = chatFile): string => fs.readFileSync(path.join(folder, name), 'utf8');

describe('the chat file', () => {
  it('is what the snapshot says, and holds a piece of a stream before its end', async () => {
    const folder = folders.make('session');
    const { chat, tell, snapshot } = told(folder);
    await chat.flush();
    tell(user('one'), piece('Hel'), piece('lo'));
    await chat.flush();
    expect(read(folder).endsWith('\n\nHello')).toBe(true);
    tell({
      type: 'message_end',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello you' }], timestamp: 2 },
    });
    await chat.close();
    expect(read(folder)).toContain('Hello you\n');
    expect(read(folder).replace(/◈.*/g, '◈')).toBe(wholeTranscript(snapshot()).replace(/◈.*/g, '◈'));
  });

  it('closes what a killed hub left open, and knows what was written', async () => {
    const folder = folders.make('session');
    const first = told(folder);
    const messages = [user('one', 1), user('two', 2)].flatMap((fact) =>
      fact.type === 'message_end' ? [fact.message] : [],
    );
    const replaced = (count: number): Fact => ({
      type: 'session_replaced',
      state: { sessionId: 's' },
      messages: messages.slice(0, count),
      olderMessages: 0,
      reason: 'resumed',
    });
    first.tell(replaced(1), piece('```js\nlet a'));
    await first.chat.flush();
    const before = read(folder);
    expect(before.endsWith('let a')).toBe(true);

    const next = told(folder);
    next.tell(replaced(2));
    await next.chat.close();
    const added = read(folder).slice(before.length);
    expect(added).toMatch(
      /^\n```\n\n---\n\n◈ The conversation goes on \(resumed\)\.\n\n## You ◈.*\n\ntwo\n$/,
    );
    expect(JSON.parse(read(folder, chatPositionFile))).toMatchObject({ session: 's' });
  });

  it('is put aside when it is full, and nothing is lost', async () => {
    const folder = folders.make('session');
    const { chat, tell } = told(folder, { size: 100, waiting: 1e6, retry: 10, patience: 200 });
    for (const name of ['a', 'b', 'c']) {
      tell(user(name.repeat(120)));
      await chat.flush();
    }
    await chat.close();
    expect(read(folder, 'chat.1.md')).toContain('a'.repeat(120));
    expect(read(folder, 'chat.2.md')).toContain('b'.repeat(120));
    expect(read(folder)).toMatch(/^◈ Before this: chat\.2\.md\n/);
    expect(read(folder)).toContain('c'.repeat(120));
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.md'))).toHaveLength(3);
  });

  it('costs one notice when it cannot be written, and is written later', async () => {
    const folder = folders.make('session');
    fs.mkdirSync(path.join(folder, chatFile));
    const { chat, clock, tell, notices } = told(folder);
    tell(user('one'));
    await chat.flush();
    tell(user('two'));
    await chat.flush();
    expect(notices()).toBe(1);
    expect(clock.pending).toBe(1);
    fs.rmdirSync(path.join(folder, chatFile));
    clock.advance(5000);
    await chat.flush();
    const text = read(folder);
    expect(text.indexOf('one')).toBeGreaterThan(0);
    expect(text.indexOf('two')).toBeGreaterThan(text.indexOf('one'));
    expect(text.match(/cannot be written/g)).toHaveLength(1);
    await chat.close();
  });

  it('keeps a bounded amount for a file that cannot be written, and says what was given up', async () => {
    const folder = folders.make('session');
    fs.mkdirSync(path.join(folder, chatFile));
    const { chat, tell } = told(folder, { size: 1e6, waiting: 1000, retry: 10, patience: 200 });
    for (let n = 0; n < 5; n++) {
      tell(user(`${n}`.repeat(600)));
      await chat.flush();
    }
    fs.rmdirSync(path.join(folder, chatFile));
    await chat.close();
    const text = read(folder);
    expect(text).toMatch(/◈ \d+ bytes were given up here/);
    expect(text).toContain('4'.repeat(600));
    expect(text).not.toContain('1'.repeat(600));
  });

  it('survives a fact that cannot be shown', async () => {
    const folder = folders.make('session');
    const { chat, tell } = told(folder);
    tell({ type: 'queue_returned', texts: [1, 2] } as unknown as Fact, user('one'));
    await chat.close();
    expect(read(folder)).toContain('one');
  });
});
