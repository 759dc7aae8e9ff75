import { describe, expect, it } from 'vitest';
import { createCalls } from '../../../server/src/agent/calls.ts';
import { AtomicError } from '../../../server/src/protocol/errors.ts';
import type { ResponseRecord } from '../../../server/src/protocol/records.ts';

function calls() {
  const lines: string[] = [];
  return {
    lines,
    sent: () => lines.map((line) => JSON.parse(line) as { id: string; type: string }),
    ...createCalls((line) => lines.push(line)),
  };
}
const response = (fields: object): ResponseRecord => ({ type: 'response', success: true, ...fields });

describe('calls', () => {
  it('are answered by id, in any order, refusals included', async () => {
    const { call, answered, sent } = calls();
    const first = call({ type: 'get_state' });
    const second = call({ type: 'get_state' });
    const [a, b] = sent();
    expect(answered(response({ id: b!.id, command: 'get_state', data: 2 }))?.type).toBe('get_state');
    answered(response({ id: a!.id, command: 'get_state', success: false, error: 'no' }));
    expect(await second).toMatchObject({ data: 2 });
    expect(await first).toMatchObject({ success: false, error: 'no' });
    expect(answered(response({ id: a!.id }))).toBeUndefined();
  });

  it('use the id that they bring, so that shell output can be told apart', async () => {
    const { call, answered, sent } = calls();
    const one = call({ type: 'bash', command: 'ls', id: 'intent-1' });
    const twin = call({ type: 'bash', command: 'ls', id: 'intent-1' });
    const numeric = call({ type: 'bash', command: 'ls', id: 5 });
    const ids = sent().map(({ id }) => id);
    expect(ids[0]).toBe('intent-1');
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) answered(response({ id }));
    await Promise.all([one, twin, numeric]);
  });

  it('are matched by command where an old agent leaves the id out', async () => {
    const { call, answered } = calls();
    const clone = call({ type: 'clone' });
    const later = call({ type: 'clone' });
    const state = call({ type: 'get_state' });
    answered(response({ command: 'clone', success: false, error: 'Unknown command: clone' }));
    expect(await clone).toMatchObject({ success: false });
    answered(response({ command: 'clone', success: false, error: 'Unknown command: clone' }));
    await later;
    answered(response({ command: 'get_state' }));
    await state;
  });

  it('take a parse error only where it can be theirs', async () => {
    const { call, answered } = calls();
    const parse = response({ command: 'parse', success: false, error: 'Failed to parse command: x' });
    expect(answered(parse)).toBeUndefined();
    const only = call({ type: 'prompt' });
    expect(answered(parse)?.type).toBe('prompt');
    await only;
    void call({ type: 'get_state' });
    void call({ type: 'get_messages' });
    expect(answered(parse)).toBeUndefined();
    const large = call({ type: 'prompt', message: 'x'.repeat(1_100_000) });
    expect(answered(parse)?.type).toBe('prompt');
    expect(await large).toMatchObject({ success: false });
  });

  it('are written as one line each, lone surrogates escaped', () => {
    const { call, lines } = calls();
    void call({ type: 'prompt', message: 'a\nb\u2028\ud83d' });
    expect(lines[0]).toMatch(/^[^\n]*\n$/);
    expect(lines[0]).toContain('\\ud83d');
  });

  it('fail with the end, before and after', async () => {
    const { call, end, answered, sent } = calls();
    const gone = new AtomicError('AgentGone', 'gone');
    const before = call({ type: 'get_state' });
    end(gone);
    await expect(before).rejects.toBe(gone);
    await expect(call({ type: 'get_state' })).rejects.toBe(gone);
    expect(sent()).toHaveLength(1);
    expect(answered(response({ id: sent()[0]!.id }))).toBeUndefined();
  });
});
