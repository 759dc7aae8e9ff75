// Facts as text: the answer alone goes to the output, whatever else happens; on a terminal nothing of the agent's has power.
import { expect, it } from 'vitest';
import { createRenderer, oneLine, type Piece, type RenderOptions } from '../../../server/src/cli/render.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { assistant, begun, delta, said, toolEnd, toolStart, user } from '../session/fold-support.ts';

const piped: RenderOptions = { outTty: false, errTty: false };
const screen: RenderOptions = { outTty: true, errTty: true };
function shown(options: RenderOptions, ...facts: Fact[]) {
  const render = createRenderer(options);
  const pieces: Piece[] = [...facts.flatMap(render.fact), ...render.end()];
  const of = (to: 'out' | 'err') =>
    pieces
      .filter((piece) => piece.to === to)
      .map(({ text }) => text)
      .join('');
  return { out: of('out'), err: of('err'), all: pieces.map(({ text }) => text).join('') };
}
const started: Fact[] = [begun(), delta('One '), delta('two.')];

it('an answer is the output, to its letter, and ends with its line', () => {
  expect(shown(piped, ...started, said(assistant('One two.')))).toEqual({
    out: 'One two.\n',
    err: '',
    all: 'One two.\n',
  });
  expect(shown(piped, begun(), said(assistant('Never streamed'))).out).toBe('Never streamed\n');
});

it('tools are a line each beside it, thinking is for screens', () => {
  const facts = [begun(), delta('hm', 0, 'thinking'), ...started, toolStart('t'), toolEnd('t', 'x', true)];
  expect(shown(piped, ...facts)).toMatchObject({ out: 'One two.\n', err: '✗ bash ls\n' });
  const { all } = shown(screen, ...facts);
  expect(all).toContain('\u001b[2mhm\u001b[22m\n');
  expect(all).toContain('One two.\n… bash ls\r\u001b[K✗ bash ls\n');
});

it('control characters of the agent reach a file but no screen', () => {
  const evil = [begun(), delta('\u001b]52;c;x\u0007red\u001b[31m')];
  expect(shown(piped, ...evil).out).toContain('\u001b]52');
  expect(shown(screen, ...evil).out).toBe(']52;c;xred[31m\n');
});

it('who follows sees what people say and why an agent ended', () => {
  const exited: Fact = { type: 'agent_exited', code: 1, signal: null, expected: false, message: 'It fell.' };
  const facts: Fact[] = [{ type: 'message_start', message: user('hello') }, exited];
  expect(shown({ ...piped, users: true }, ...facts).err).toBe('› hello\nIt fell.\n');
  expect(shown(piped, ...facts).err).toBe('');
});

it('after a gap shows what was not shown, and says where the rest is', () => {
  const render = createRenderer(piped);
  for (const fact of started) render.fact(fact);
  const block = (text: string) => ({
    role: 'assistant' as const,
    startedAt: 0,
    blocks: [{ kind: 'text' as const, text, done: false }],
  });
  expect(render.resync(block('One two. Three.'))).toEqual([{ to: 'out', text: ' Three.' }]);
  expect(render.resync(block('Another answer'))).toEqual([
    { to: 'err', text: expect.stringContaining('it is in the chat') },
    { to: 'out', text: 'Another answer' },
  ]);
});

it('a line is one line of bearable length, by letters and not by bytes', () => {
  expect(oneLine('\n  a\n b')).toBe('a …');
  expect([...oneLine('🙂'.repeat(200))]).toHaveLength(100);
});
