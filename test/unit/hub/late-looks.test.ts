// What the hub knows of changes when it is behind its agent: whatever it looks at may show work that it is told of later.
import fs from 'node:fs';
import { createTwoFilesPatch, structuredPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { type Random, randomOf } from '../../chaos/random.ts';
import { fileWork, numbered } from './file-work.ts';

const { accept, append, at, begin, listed, put, read, revert } = fileWork();

/** As many as take a second or two; a thousand have been played. */
const seeds = 10;

/** What one call does with the text, and what it tells of that. */
interface Done {
  tool: 'edit' | 'write';
  args: object;
  details?: object;
  after: string;
}

const accounts = {
  'its arguments': () => ({}),
  'a patch': (before: string, after: string) => ({
    patch: createTwoFilesPatch('a', 'a', before, after, '', '', { context: 4 }),
  }),
  'what is shown to people': (before: string, after: string) => ({ diff: numberedDiff(before, after) }),
};
type Account = (before: string, after: string) => object;

/** As agents without a patch tell it: a sign, a number and the line, dots between. */
function numberedDiff(before: string, after: string): string {
  const plain = (text: string) => text.replaceAll('\r\n', '\n');
  const { hunks } = structuredPatch('a', 'a', plain(before), plain(after), '', '', { context: 4 });
  const shown = hunks.map(({ oldStart, newStart, lines }) => {
    let [from, to] = [oldStart, newStart];
    return lines.map((line) => {
      const number = String(line[0] === '+' ? to : from).padStart(3);
      if (line[0] !== '+') from += 1;
      if (line[0] !== '-') to += 1;
      return `${line[0]}${number} ${line.slice(1)}`;
    });
  });
  return ['     ...', ...shown.flatMap((lines) => [...lines, '     ...'])].join('\n');
}

function edited(text: string, oldText: string, newText: string, account: Account): Done {
  const ended = (part: string) => (text.includes('\r\n') ? part.replaceAll('\n', '\r\n') : part);
  const after = text.replace(ended(oldText), () => ended(newText));
  const plain = (it: string) => it.replaceAll('\r\n', '\n');
  return {
    tool: 'edit',
    args: { path: 'a', edits: [{ oldText, newText }] },
    details: account(plain(text), plain(after)),
    after,
  };
}

type Step = { fact: Parameters<typeof append>[0] } | { disk: string };

/** A message with these calls, and their work, in the order in which the agent tells and does it. */
function steps(calls: readonly Done[], { atOnce }: { atOnce: boolean }): Step[] {
  const named = calls.map((call, index) => ({ ...call, id: `${call.tool} ${index} ${Math.random()}` }));
  const announced = named.flatMap(({ id, tool, args }, contentIndex): Step[] => {
    const update = (
      assistantMessageEvent: Extract<Fact, { type: 'message_update' }>['assistantMessageEvent'],
    ) => ({
      fact: { type: 'message_update' as const, assistantMessageEvent },
    });
    const toolCall = { type: 'toolCall' as const, id, name: tool, arguments: { ...args } };
    return [
      update({ type: 'toolcall_start', contentIndex }),
      update({ type: 'toolcall_delta', contentIndex, delta: JSON.stringify(args) }),
      update({ type: 'toolcall_end', contentIndex, toolCall }),
    ];
  });
  const starts = named.map(
    ({ id, tool, args }): Step => ({
      fact: { type: 'tool_execution_start', toolCallId: id, toolName: tool, args: { ...args } },
    }),
  );
  const ends = named.map(({ id, tool, details, after }): Step[] => [
    { disk: after },
    {
      fact: {
        type: 'tool_execution_end',
        toolCallId: id,
        toolName: tool,
        isError: false,
        result: { content: [], ...(details && { details }) },
      },
    },
  ]);
  if (atOnce) return [...announced, ...starts, ...ends.flat()];
  return [...announced, ...starts.flatMap((start, index) => [start, ...ends[index]!])];
}

/** The agent does the steps, and the hub hears of them when it comes to it. */
function played(all: readonly Step[], random: Random) {
  const told: Step[] = [];
  const patience = random.pick([0, 0.1, 0.5, 0.9]);
  const hear = () => append((told.shift() as { fact: Parameters<typeof append>[0] }).fact);
  for (const step of all) {
    if ('disk' in step) put('a', step.disk);
    else told.push(step);
    while (told.length > 0 && random.chance(patience)) hear();
  }
  while (told.length > 0) hear();
}

describe.each(Object.entries(accounts))('an agent that is ahead, told by %s', (_, account) => {
  it.each(['\n', '\r\n'])('loses no hunk of its edits (lines end in %j)', async (end) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = randomOf(seed);
      begin();
      await accept();
      const first = numbered(40).join('').replaceAll('\n', end);
      put('a', first);
      if (random.chance(0.5)) fs.utimesSync(at('a'), 1, 1);
      let text = first;
      const left = Array.from({ length: 40 }, (_line, index) => index);
      const all: Step[] = [];
      for (let message = 0; message < 3; message += 1) {
        const calls: Done[] = [];
        for (let count = 1 + random.below(3); count > 0; count -= 1) {
          const [line] = left.splice(random.below(left.length), 1);
          const [oldText, newText] = random.pick([
            [`\n${line}\n`, `\nchanged ${line}\n`],
            [`\n${line}\n`, `\n${line}\nadded ${line}\nand more\n`],
            [`${line}\n`, `gone ${line}`],
          ] as const);
          // Agents refuse what they do not find once.
          if (text.replaceAll('\r\n', '\n').split(oldText).length !== 2) continue;
          calls.push(edited(text, oldText, newText, account));
          text = calls.at(-1)!.after;
        }
        all.push(...steps(calls, { atOnce: random.chance(0.5) }));
      }
      played(all, random);
      expect(read('a')).toBe(text);
      if (text === first) continue;
      const [file] = await listed();
      expect(file, `seed ${seed}`).toMatchObject({ status: 'modified' });
      expect(file!.note, `seed ${seed}`).toBeUndefined();
      await revert({ path: 'a' });
      expect(read('a'), `seed ${seed}`).toBe(first);
    }
  });

  it('says that it is unknown what was there before a write, or says the truth', async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = randomOf(seed);
      begin();
      await accept();
      const first = numbered(20).join('');
      put('a', first);
      if (random.chance(0.5)) fs.utimesSync(at('a'), 1, 1);
      let text = first;
      const all: Step[] = [];
      for (let message = 0; message < 3; message += 1) {
        const calls: Done[] = [];
        for (let count = 1 + random.below(3); count > 0; count -= 1) {
          const line = `line of ${message} and ${count}\n`;
          if (text.split('end\n').length === 2 && random.chance(0.5))
            calls.push(edited(text, 'end\n', `${line}end\n`, account));
          else {
            const content = `${text.slice(0, random.below(text.length))}\n${line}end\n`;
            calls.push({ tool: 'write', args: { path: 'a', content }, after: content });
          }
          text = calls.at(-1)!.after;
        }
        all.push(...steps(calls, { atOnce: random.chance(0.5) }));
      }
      played(all, random);
      const [file] = await listed();
      expect(file, `seed ${seed}`).toMatchObject({ status: 'modified' });
      if (file!.note === undefined) {
        await revert({ path: 'a' });
        expect(read('a'), `seed ${seed}`).toBe(first);
      } else await expect(revert({ path: 'a' })).rejects.toMatchObject({ code: 'RevertRefused' });
    }
  });

  it('leaves to a person what that person changed meanwhile', async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = randomOf(seed);
      begin();
      await accept();
      const lines = numbered(60);
      put('a', lines.join(''));
      const mine = lines.slice();
      let text = lines.join('');
      const all: Step[] = [];
      for (let message = 0; message < 4; message += 1) {
        const place = 4 + 10 * message;
        const calls = [edited(text, `\n${place}\n`, `\n${place}\nadded after ${place}\n`, account)];
        calls.push(edited(calls[0]!.after, `\n${place + 2}\n`, `\nchanged ${place}\n`, account));
        all.push(...steps(calls, { atOnce: random.chance(0.5) }));
        text = calls[1]!.after;
        const line = 47 + 3 * message;
        mine[line] = `of a person ${line}\n`;
        text = text.replace(`\n${line}\n`, `\n${mine[line]}`);
        if (message < 3) all.push({ disk: text });
      }
      played(all, random);
      await revert({ path: 'a' });
      mine[56] = lines[56]!;
      expect(read('a'), `seed ${seed}`).toBe(mine.join(''));
    }
  });
});
