// Earlier prompts: which are kept, over restarts, and how much of them.
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHistory, historyFile, historyLimits } from '../../../server/src/hub/history.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { emptySnapshot } from '../../../server/src/session/fold.ts';
import { createJournal } from '../../../server/src/session/journal.ts';
import { listedHistory } from '../../../server/src/session/prompt-history.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'hïstory '));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function kept() {
  const history = createHistory({ folder, log: silentLog });
  const journal = createJournal('e1');
  history.follow(journal);
  let count = 0;
  const sent = (text: string, outcome: 'done' | 'refused' = 'done', command = 'prompt') => {
    count += 1;
    const facts: Fact[] = [
      { type: 'intent_accepted', intent: `${count}`, command, text, at: count },
      { type: 'intent_settled', intent: `${count}`, command, outcome, at: count },
    ];
    for (const fact of facts) journal.append(fact);
  };
  const texts = async (limit = 100) => (await history.list(limit)).map(({ text }) => text);
  return { history, sent, texts };
}

it('keeps what was taken, the newest first and once, for the user alone', async () => {
  const { sent, texts, history } = kept();
  sent('one');
  sent('zwei\nZeilen 🎉', 'done', 'steer');
  sent('refused', 'refused');
  sent('ls', 'done', 'bash');
  sent('one', 'done', 'follow_up');
  expect(await texts()).toEqual(['one', 'zwei\nZeilen 🎉']);
  expect(await texts(1)).toEqual(['one']);
  expect((await history.list(1))[0]!.at).toBe(5);
  expect(statSync(path.join(folder, historyFile)).mode & 0o777).toBe(0o600);
});

it('has them again after a restart, whatever happened to a line', async () => {
  const first = kept();
  first.sent('one');
  first.sent('two');
  await first.history.flush();
  appendFileSync(path.join(folder, historyFile), '{"text":"half a li');
  const second = kept();
  expect(await second.texts()).toEqual(['two', 'one']);
  second.sent('three');
  await second.history.flush();
  const third = kept();
  third.sent('four');
  expect(await third.texts()).toEqual(['four', 'three', 'two', 'one']);
});

it('is bounded in memory and on disk', async () => {
  const file = path.join(folder, historyFile);
  const many = Array.from(
    { length: 2 * historyLimits.count },
    (_, n) => `${JSON.stringify({ text: `p${n}`, at: n })}\n`,
  );
  writeFileSync(file, many.join(''));
  const { sent, texts, history } = kept();
  sent('x'.repeat(historyLimits.one + 1));
  sent('last');
  const found = await texts(1000);
  await history.flush();
  expect(found.slice(0, 2)).toEqual(['last', `p${2 * historyLimits.count - 1}`]);
  expect(found).toHaveLength(historyLimits.count);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(historyLimits.count);
});

it('goes on in memory where it cannot be written', async () => {
  mkdirSync(path.join(folder, historyFile));
  chmodSync(folder, 0o500);
  const { sent, texts, history } = kept();
  sent('one');
  await history.flush();
  expect(await texts()).toEqual(['one']);
  chmodSync(folder, 0o700);
});

it('has the prompts of the conversation besides, without what was added to them', async () => {
  const user = (content: unknown, timestamp?: number) => ({
    role: 'user',
    content,
    ...(timestamp && { timestamp }),
  });
  const snapshot = {
    ...emptySnapshot(),
    messages: [
      user('from the terminal', 7),
      user([{ type: 'text', text: 'see @a\n\n`a`\n```\nx\n```' }]),
      { role: 'assistant', content: 'no prompt' },
      user('same'),
      user(' '),
    ] as never,
  };
  const history = {
    list: async () => [
      { text: 'same', at: 9 },
      { text: 'see @a', at: 8 },
    ],
  };
  expect((await listedHistory(history, snapshot, 10)).data).toEqual({
    prompts: [
      { text: 'same', at: 9 },
      { text: 'see @a', at: 8 },
      { text: 'from the terminal', at: 7 },
    ],
  });
  expect((await listedHistory(undefined, snapshot, 1)).data).toEqual({ prompts: [{ text: 'same', at: 0 }] });
});
