// The player of recordings plays each of them to its end.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Talk, talkTo } from '../agents/talk.ts';
import { replayAgent, traceFiles, tracePath } from '../support/replay.ts';

interface TraceLine {
  t: number;
  dir: 'in' | 'out';
  line: string;
  note?: string;
}

const running: Talk[] = [];
const start = (...agent: Parameters<typeof replayAgent>): Talk => {
  const talk = talkTo(replayAgent(...agent), { rpc: false });
  running.push(talk);
  return talk;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((talk) => talk.kill()));
});

const recorded = (trace: string, full = false): TraceLine[] => {
  const raw = readFileSync(tracePath(trace, full));
  const lines = (full ? gunzipSync(raw) : raw)
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TraceLine)
    .sort((a, b) => a.t - b.t);
  const exit = lines.findIndex(({ note }) => note?.startsWith('exit'));
  return exit < 0 ? lines : lines.slice(0, exit + 1);
};

const asRecord = (line: string): { type: unknown; id?: unknown } | undefined => {
  try {
    const value = JSON.parse(line) as { type: unknown } | null;
    return typeof value?.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Does what the recorded client did, each time after the lines that it had seen by then. */
async function playClient(talk: Talk, lines: TraceLine[]): Promise<void> {
  let heard = 0;
  for (const { dir, line, note } of lines) {
    if (dir === 'out' && !note) heard += 1;
    else if (note === 'stdin closed') {
      await talk.count(heard);
      talk.close();
    } else if (note?.startsWith('signal ')) {
      await talk.count(heard);
      talk.child.kill(note.slice(7) as NodeJS.Signals);
    } else if (dir === 'in') {
      await talk.count(heard);
      talk.send(line);
    }
  }
}

describe('a recording is played to its end, byte for byte', () => {
  it.each(traceFiles())('%s', async (trace) => {
    const lines = recorded(trace);
    const talk = start(trace);
    await playClient(talk, lines);
    const { code, signal } = await talk.end;
    expect(`exit code=${code} signal=${signal}`).toBe(lines.at(-1)?.note);
    const said = lines.filter(({ dir, note }) => dir === 'out' && !note).map(({ line }) => `${line}\n`);
    expect(talk.output().toString('utf8')).toBe(said.join(''));
    expect(talk.errors()).toBe('');
  });
});

describe('a recording', () => {
  it('says nothing before the client said what came first', async () => {
    const talk = start('pi-1.6.0/prompt-simple');
    expect(await talk.call({ type: 'not_recorded' })).toMatchObject({
      success: false,
      error: 'Unknown command: not_recorded',
    });
    expect(talk.lines).toHaveLength(1);
  });

  it('gives up aloud when its client leaves early', async () => {
    const talk = start('pi-1.6.0/prompt-simple');
    talk.close();
    expect((await talk.end).code).toBe(70);
    expect(talk.errors()).toContain('waits for {"id":"c1","type":"get_state"}');
  });

  it('answers with the ids of its client, whatever their order', async () => {
    const talk = start('atomic-0.9.15/bash-concurrent');
    const commands = recorded('atomic-0.9.15/bash-concurrent').filter(
      ({ dir, note }) => dir === 'in' && !note,
    );
    for (const [index, { line }] of [...commands.entries()].reverse())
      talk.send({ ...(JSON.parse(line) as object), id: `mine-${index}` });
    talk.close();
    await talk.end;
    const named = talk.lines.filter(({ id }) => id !== undefined);
    expect(named.length).toBeGreaterThan(commands.length);
    for (const { id } of named) expect(id).toMatch(/^mine-/);
    const answers = recorded('atomic-0.9.15/bash-concurrent')
      .filter(({ dir, line }) => dir === 'out' && line.includes('"response"'))
      .map(({ line }) => JSON.parse(line) as { id: string; data?: unknown });
    for (const { id, data } of answers) {
      const index = commands.findIndex(({ line }) => (JSON.parse(line) as { id: string }).id === id);
      expect(
        talk.lines.find((line) => line.type === 'response' && line.id === `mine-${index}`)?.data,
      ).toEqual(data);
    }
  });

  it('comes in pieces of so many bytes, the same in all', async () => {
    const lines = recorded('pi-1.6.0/unicode');
    const talk = start('pi-1.6.0/unicode', { chunk: 7 });
    const sizes: number[] = [];
    talk.child.stdout.on('data', (chunk: Buffer) => sizes.push(chunk.length));
    await playClient(talk, lines);
    await talk.end;
    const said = lines.filter(({ dir, note }) => dir === 'out' && !note).map(({ line }) => `${line}\n`);
    expect(talk.output().toString('utf8')).toBe(said.join(''));
    expect(sizes.length).toBeGreaterThan(said.length);
  });

  it('has its full lines of five megabytes', async () => {
    const lines = recorded('pi-1.6.0/big-5mb-from-model', true);
    const talk = start('pi-1.6.0/big-5mb-from-model', { full: true });
    await playClient(talk, lines);
    await talk.end;
    expect(Math.max(...talk.lines.map((line) => JSON.stringify(line).length))).toBeGreaterThan(5_242_880);
  });
});

describe('for a client with a mind of its own, a recording', () => {
  // This one dies of a line that no correct client writes, so there is nothing left to play.
  const playable = traceFiles().filter((trace) => trace !== 'pi-1.6.0/parse-null-line');
  it.each(playable)('%s is told whole, with reads at the wrong time', async (trace) => {
    const lines = recorded(trace);
    const talk = start(trace, { client: 'bridge' });
    const reads = ['get_state', 'get_commands'].map((type) => talk.call({ type }));
    const answers = new Map<string, string>();
    let acted = false;
    for (const { dir, line, note } of lines) {
      if (dir !== 'in' || note) continue;
      const record = asRecord(line);
      if (!record || String(record.type).startsWith('get_')) continue;
      if (record.type !== 'extension_ui_response') {
        talk.send(line);
        acted = true;
      } else if (!answers.has(String(record.id))) answers.set(String(record.id), line);
    }
    // Where there was nothing to do, the recorded signal may strike first.
    const signalled = lines.some(({ note }) => note?.startsWith('signal'));
    if (!acted && signalled) await Promise.allSettled(reads);
    else for (const { id } of await Promise.all(reads)) expect(id).toMatch(/^talk-/);
    // Answers each question as it comes, and leaves when everything was said.
    const events = lines.filter(
      ({ dir, line, note }) => dir === 'out' && !note && !line.includes('"response"'),
    );
    for (let at = 0, heard = 0; heard < events.length; at += 1) {
      await talk.count(at + 1);
      const line = talk.lines[at];
      expect(line, `only ${heard} of ${events.length}`).toBeDefined();
      if (line?.type === 'response') continue;
      expect(line).toEqual(JSON.parse(events[heard]!.line));
      heard += 1;
      const answer = line?.type === 'extension_ui_request' ? answers.get(String(line.id)) : undefined;
      if (answer) talk.send(answer);
    }
    talk.close();
    const { code, signal } = await talk.end;
    expect(`exit code=${code} signal=${signal}`).toBe(lines.at(-1)?.note);
  });

  it('answers reads at any time from what the agent said, and acts when asked to', async () => {
    const talk = start('pi-1.6.0/prompt-simple', { client: 'bridge' });
    expect((await talk.call({ type: 'get_commands' })).data).toEqual({ commands: [] });
    expect((await talk.call({ type: 'get_state' })).data).toMatchObject({
      model: { id: 'fake-1' },
      isStreaming: false,
    });
    expect((await talk.call({ type: 'prompt', message: 'hello there' })).data).toEqual({
      disposition: 'started',
    });
    await talk.until('agent_settled');
    expect((await talk.call({ type: 'get_last_assistant_text' })).data).toEqual({
      text: 'You said: hello there',
    });
    talk.close();
    expect(await talk.end).toEqual({ code: 0, signal: null });
  });

  it('asks its questions and goes on after the first answer only', async () => {
    const talk = start('atomic-0.9.15/ui-dialogs', { client: 'bridge' });
    talk.send({ id: 'p1', type: 'prompt', message: '/ui-select' });
    const { id, method } = await talk.until((line) => line.options !== undefined);
    expect(method).toBe('select');
    expect((await talk.call({ type: 'get_state' })).success).toBe(true);
    expect(talk.lines.at(-1)?.command).toBe('get_state');
    talk.send({ type: 'extension_ui_response', id, value: 'Allow' });
    await talk.until((line) => line.method === 'notify' && line.message === 'select="Allow"');
    expect((await talk.until('response')).id).toBe('p1');
  });

  it('lets a client that waits for each answer through what was sent in one burst', async () => {
    const talk = start('atomic-0.9.15/pipelined-abort-prompt', { client: 'bridge' });
    const commands = recorded('atomic-0.9.15/pipelined-abort-prompt').flatMap(({ dir, line }) => {
      const command = dir === 'in' && line ? (JSON.parse(line) as { type: string }) : undefined;
      return command && !command.type.startsWith('get_') ? [command] : [];
    });
    expect(commands.length).toBeGreaterThan(2);
    for (const command of commands) {
      const { id: _, ...rest } = command as { id?: string; type: string };
      expect((await talk.call(rest)).command).toBe(command.type);
    }
  });

  it('is struck by the recorded signal', async () => {
    const talk = start('pi-1.6.0/sigkill-mid-stream', { client: 'bridge' });
    talk.send({ type: 'prompt', id: 'p', message: 'x' });
    expect(await talk.end).toEqual({ code: null, signal: 'SIGKILL' });
    expect(talk.lines.some(({ type }) => type === 'message_update')).toBe(true);
  });

  it('refuses without an id where the recorded agent did', async () => {
    const talk = start('pi-0.58.3/prompt-simple', { client: 'bridge' });
    talk.send({ id: 'x', type: 'clone' });
    expect(await talk.until('response')).toEqual({
      type: 'response',
      command: 'clone',
      success: false,
      error: 'Unknown command: clone',
    });
  });
});
