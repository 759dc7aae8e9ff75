// The output of a tool in the transcript while it runs: its beginning at once, nothing twice, and a look at its end now and then.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missingIn } from '../../../server/src/chat/tail.ts';
import type { Fact } from '../../../server/src/protocol/facts.ts';
import { emptySnapshot } from '../../../server/src/session/fold.ts';
import { createTranscript } from '../../../server/src/session/transcript.ts';
import { begunTranscript, wholeTranscript } from '../../../server/src/session/transcript-whole.ts';
import { foldedAll, settled } from './fold-support.ts';
import { at, call, ends, text, toolFacts, user, written } from './transcript-support.ts';

const start = (id: string, command: string): Fact => ({
  type: 'tool_execution_start',
  toolCallId: id,
  toolName: 'bash',
  args: { command },
  at,
});
const puts = (id: string, delta: string, reset = false): Fact => ({
  type: 'tool_execution_update',
  toolCallId: id,
  delta,
  ...(reset && { reset: true as const }),
});
const end = (id: string, output: string, isError = false): Fact => ({
  type: 'tool_execution_end',
  toolCallId: id,
  toolName: 'bash',
  result: { content: [text(output)] },
  isError,
});
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `line ${from + n}\n`).join('');
/** What each fact adds. */
const pieces = (facts: Fact[]) => {
  const transcript = createTranscript();
  return facts.map((fact) => transcript.appended(fact, emptySnapshot()));
};

describe('the output of a running tool', () => {
  it('is shown line by line, and goes on to what is shown of a finished one', () => {
    const shown = pieces([
      start('a', 'x'),
      puts('a', 'one\ntw'),
      puts('a', 'o\r'),
      puts('a', '\n\n'),
      puts('a', 'three'),
      end('a', 'one\ntwo\r\n\nthree\n\nExit code 1', true),
    ]);
    expect(shown.slice(1)).toEqual([
      '\n```\none\n',
      '',
      'two\n',
      '',
      '\nthree\n\nExit code 1\n```\n\n◈ **Failed**\n',
    ]);
  });

  it('is the same as that of a finished one, however it came', () => {
    const line = fc.stringMatching(/^[a `\t\r\u001b[m◈]{0,12}$/);
    const output = fc.array(line, { maxLength: 60 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(output, fc.array(fc.nat(400), { maxLength: 8 }), (whole, cuts) => {
        const finished = written([start('a', 'x'), end('a', whole)]);
        fc.pre(!finished.includes('````'));
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const updates = places.slice(1).map((to, n) => puts('a', whole.slice(places[n], to)));
        expect(written([start('a', 'x'), ...updates, end('a', whole)])).toBe(finished);
      }),
      { numRuns: 1000 },
    );
  });

  it('is bounded while it comes, and at its end has its last lines', () => {
    const whole = numbered(0, 5000);
    const shown = pieces([
      start('a', 'x'),
      puts('a', numbered(0, 3000)),
      puts('a', numbered(3000, 5000)),
      end('a', whole),
    ]);
    expect(shown[1]).toBe(`\n\`\`\`\n${numbered(0, 20)}`);
    expect(shown[2]).toBe('');
    expect(shown[3]).toBe(`… 4960 lines left out\n${numbered(4980, 5000)}\`\`\`\n`);
  });

  it('costs no more than its size, also where it is one line', () => {
    const piece = 'x'.repeat(1000);
    const shown = pieces([start('a', 'x'), ...Array.from({ length: 20_000 }, () => puts('a', piece))]);
    expect(shown.slice(1).join('')).toBe('');
  });

  it('leaves no block open over anything else, and stands whole where something came in between', () => {
    const page = written([
      start('a', 'first'),
      puts('a', '1\n'),
      start('b', 'second'),
      puts('b', '2\n'),
      puts('a', 'more\n'),
      end('a', '1\nmore\n'),
      { type: 'queue_update', steering: ['also this'], followUp: [] },
      end('b', '2\n'),
    ]);
    expect(page.replace(/^## .*\n\n/, '')).toBe(
      '### bash `first` ◈\n\n```\n1\n```\n\n### bash `second` ◈\n\n```\n2\n```\n\n' +
        '### bash `first` ◈\n\n```\n1\nmore\n```\n\n◈ Queued: also this\n\n### bash `second` ◈\n\n```\n2\n```\n',
    );
  });

  it('is given up where it begins anew, and where it would end its own block', () => {
    expect(
      written([start('a', 'x'), puts('a', '10 %\n'), puts('a', '20 %\n', true), end('a', 'Done.')]),
    ).toContain('```\n10 %\n```\n\n```\nDone.\n```\n');
    expect(written([start('a', 'x'), puts('a', 'a\n```\nb\n'), end('a', 'a\n```\nb\n')])).toContain(
      '\n```\na\n```\n\n````\na\n```\nb\n````\n',
    );
  });

  it('is closed when the run is stopped', () => {
    const page = written([
      { type: 'agent_start' },
      start('a', 'x'),
      puts('a', 'half\n'),
      { ...settled, aborted: true } as Fact,
    ]);
    expect(page).toContain('```\nhalf\n```\n\n◈ **Failed**\n\n◈ Stopped.\n');
    expect(page.match(/half/g)).toHaveLength(1);
  });

  it('is known to a reader that comes while it runs', () => {
    const facts: Fact[] = [user('Go.'), ends([call('a', 'x')]), start('a', 'x'), puts('a', 'one\ntwo\nth')];
    const { text: before, transcript } = begunTranscript(foldedAll(facts));
    expect(before).toBe(written(facts));
    expect(transcript.atRest).toBe(false);
    const after = transcript.appended(end('a', 'one\ntwo\nthree'), emptySnapshot());
    expect(after).toBe('three\n```\n');
  });
});

describe('a look at a running tool', () => {
  const facts: Fact[] = [user('Go.'), ends([call('a', 'npm test')]), start('a', 'npm test')];

  it('shows its newest lines, ever less often, and nothing where there is nothing new', () => {
    const transcript = createTranscript();
    written([...facts, puts('a', numbered(0, 30))], transcript);
    expect(transcript.looked(at + 4999)).toBe('');
    expect(transcript.looked(at + 5000)).toBe(
      `\`\`\`\n\n◈ \`npm test\` has run for 5 s, its last lines:\n\n\`\`\`\n${numbered(25, 30)}\`\`\`\n`,
    );
    written([puts('a', numbered(30, 32))], transcript);
    expect(transcript.looked(at + 14_999)).toBe('');
    expect(transcript.looked(at + 15_000)).toContain(`15 s, its last lines:\n\n\`\`\`\n${numbered(30, 32)}`);
    expect(transcript.looked(at + 35_000)).toBe('');
    written([puts('a', 'late\n')], transcript);
    expect(transcript.looked(at + 74_999)).toBe('');
    expect(transcript.looked(at + 75_000)).toContain('```\nlate\n```');
    written([end('a', numbered(0, 32))], transcript);
    expect(transcript.looked(at + 1_000_000)).toBe('');
  });

  it('is no part of the transcript for a document that shows it', () => {
    const transcript = createTranscript();
    const ended: Fact[] = [
      ...toolFacts('a', 'npm test', numbered(0, 30)).slice(2),
      ends([text('All well.')]),
    ];
    const document =
      written([...facts, puts('a', numbered(0, 30))], transcript) + transcript.looked(at + 5000);
    const whole = wholeTranscript(foldedAll([...facts, ...ended]));
    expect(document).toContain('has run for');
    expect(missingIn(document, whole)!.text).toBe(
      whole.slice(whole.indexOf('… ') < 0 ? whole.indexOf('line 20') : whole.indexOf('… ')),
    );
  });
});
