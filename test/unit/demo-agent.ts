// A demo agent over in-memory streams. Guarantees: time moves only while a test waits for a line, so that nothing depends on speed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { runDemoAgent } from '../../server/src/agent/demo/index.ts';
import type { Clock } from '../../server/src/session/ports.ts';

// biome-ignore lint/suspicious/noExplicitAny: records are looked at field by field
export type Line = Record<string, any>;

export const folder = mkdtempSync(join(tmpdir(), 'demo-agent-'));
for (const name of ['b.txt', 'a.txt']) writeFileSync(join(folder, name), 'secret content');
afterAll(() => rmSync(folder, { recursive: true }));

function manualClock() {
  let now = 1_700_000_000_000;
  let timers: { at: number; run: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
  };
  return {
    clock,
    now: clock.now,
    pending: () => timers.length,
    /** Runs the earliest timer. */
    tick() {
      const next = timers.reduce<(typeof timers)[number] | undefined>(
        (first, timer) => (first && first.at <= timer.at ? first : timer),
        undefined,
      );
      if (!next) return;
      timers = timers.filter((timer) => timer !== next);
      now = next.at;
      next.run();
    },
  };
}

/** A demo agent and what a test says to it and waits for. */
export function start({ argv = [] as string[], cwd = folder } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const { clock, tick, pending, now } = manualClock();
  const lines: Line[] = [];
  let held = '';
  output.on('data', (chunk) => {
    held += chunk;
    const parts = held.split('\n');
    held = parts.pop()!;
    lines.push(...parts.map((part) => JSON.parse(part)));
  });
  const exit = runDemoAgent({ input, output, cwd, argv, clock });
  let seen = 0;
  let ids = 0;
  const send = (command: Line) => input.write(`${JSON.stringify(command)}\n`);
  /** The next line that matches, after those already waited for; time goes on until it comes. */
  const until = async (matches: (line: Line) => boolean, what = matches.toString()): Promise<Line> => {
    for (let round = 0; round < 20_000; round += 1) {
      for (; seen < lines.length; seen += 1) if (matches(lines[seen]!)) return lines[seen++]!;
      await nextRound();
      await nextRound();
      if (seen === lines.length) tick();
    }
    throw new Error(`never came: ${what}; last lines ${JSON.stringify(lines.slice(-5))}`);
  };
  const type = (name: string) => until((line) => line.type === name, name);
  const call = async (command: Line): Promise<Line> => {
    const id = `c${++ids}`;
    send({ id, ...command });
    return until((line) => line.type === 'response' && line.id === id, JSON.stringify(command));
  };
  const prompt = (message: string, more: Line = {}) => call({ type: 'prompt', message, ...more });
  const run = async (message: string): Promise<Line[]> => {
    const from = lines.length;
    await prompt(message);
    await type('agent_settled');
    return lines.slice(from);
  };
  return { input, output, exit, lines, send, until, type, call, prompt, run, pending, now };
}

export const ofType = (lines: Line[], type: string) => lines.filter((line) => line.type === type);
export const assistantText = (lines: Line[]) =>
  ofType(lines, 'message_end')
    .filter(({ message }) => message.role === 'assistant')
    .flatMap(({ message }) => message.content)
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('\n');
export const request = (method: string) => (line: Line) =>
  line.type === 'extension_ui_request' && line.method === method;
