// Agents that are small scripts of a test, run as real processes.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createStartAgent } from '../../../server/src/agent/index.ts';
import type { AgentSpec, Clock } from '../../../server/src/session/ports.ts';
import { factsOf, type Heard, realClock, recorder, recordingLog } from './support.ts';

export let workspace: string;
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'atomic-lsp-process-')));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** What every script below begins with: lines in, records out. */
const prelude = `
const say = (record) => process.stdout.write(JSON.stringify(record) + '\\n');
const answer = (call, fields = {}) => say({ id: call.id, type: 'response', command: call.type, success: true, ...fields });
process.stdin.setEncoding('utf8');
let held = '';
let onLine = () => {};
process.stdin.on('data', (chunk) => {
  held += chunk;
  const lines = held.split('\\n');
  held = lines.pop();
  for (const line of lines) onLine(JSON.parse(line));
});
`;

export async function started(script: string, clock: Clock = realClock, more: Partial<AgentSpec> = {}) {
  const waiting: { wanted: (heard: Heard) => boolean; found: (heard: Heard) => void }[] = [];
  const events = recorder((heard) => {
    for (const entry of waiting) if (entry.wanted(heard)) entry.found(heard);
  });
  const log = recordingLog();
  const start = createStartAgent({ demo: { command: process.execPath, args: [] }, clock, log });
  const agent = await start(
    {
      workspace,
      choice: { command: process.execPath, args: ['-e', prelude + script, '--'] },
      env: { PATH: process.env.PATH ?? '', HOME: workspace },
      ...more,
    },
    events,
  );
  const until = <T extends Heard>(wanted: (heard: Heard) => heard is T): Promise<T> => {
    const already = events.heard.find(wanted);
    return already
      ? Promise.resolve(already as T)
      : new Promise((found) => waiting.push({ wanted, found: found as (heard: Heard) => void }));
  };
  const isExit = (heard: Heard): heard is Extract<Heard, { exit: unknown }> => 'exit' in heard;
  return {
    agent,
    heard: events.heard,
    facts: () => factsOf(events.heard),
    log,
    exit: async () => (await until(isExit)).exit,
    fact: (type: string) => until((heard): heard is Heard => 'fact' in heard && heard.fact.type === type),
    dialog: () => until((heard): heard is Extract<Heard, { dialog: unknown }> => 'dialog' in heard),
  };
}

export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that has ended but was not yet collected by its parent is a zombie, and dead.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Resolves once the process is gone; the test's own time limit is the limit. */
export const gone = async (pid: number): Promise<void> => {
  while (alive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
};

export const childOf = (facts: { type: string }[]): number =>
  Number((facts.find(({ type }) => type === 'session_info_changed') as unknown as { name: string }).name);
