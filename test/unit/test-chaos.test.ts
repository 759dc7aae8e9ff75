// The judges of chaos can say no: for each thing that may go wrong a world in which it did, and the sentence.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../server/src/protocol/facts.ts';
import { emptySnapshot } from '../../server/src/session/fold.ts';
import { type Copy, createCopy } from '../chaos/copy.ts';
import type { Editor } from '../chaos/editor.ts';
import { overlaps, starterProblems } from '../chaos/herds.ts';
import { copyProblems, leftovers, logProblems, sessionProblems } from '../chaos/judge.ts';
import { ended } from '../chaos/play.ts';
import type { Sent, World } from '../chaos/world.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'a judge-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));
const write = (name: string, ...lines: (object | string)[]) => {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(
    file,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
};

describe('the judge of a session file', () => {
  const took = (text: string) => ({ type: 'took', text });
  const said = (text: string) => ({
    type: 'message',
    message: { role: 'user', content: [{ type: 'text', text }] },
  });
  const answered = (value: string) => ({ type: 'answer', dialog: 'd', value });
  const prompt = (text: string, outcome?: string): Sent => ({
    id: text,
    editor: 0,
    command: 'prompt',
    text,
    reply: 'accepted',
    ...(outcome && { outcome }),
  });
  const answer = (index: number, outcome: string): Sent => ({
    id: `${index}`,
    editor: index,
    command: 'answer',
    dialog: 'd',
    index,
    outcome,
  });
  const judged = (sent: Sent[], { finished = [] as string[], told = [] as string[] } = {}) =>
    sessionProblems(
      { sent, finished: new Set(finished), settledDialogs: new Map([['d', new Set(told)]]) },
      folder,
      true,
    );

  it('has nothing to say of what is right', () => {
    write('a.jsonl', took('one'), said('one'), answered('green'), took('lost'));
    const sent = [
      prompt('one', 'done'),
      prompt('two', 'refused'),
      prompt('lost'),
      prompt('never'),
      answer(0, 'refused'),
      answer(1, 'done'),
    ];
    expect(judged(sent, { finished: ['one'], told: ['answered green'] })).toEqual([]);
  });

  it.each<[string, object[], Sent[], Parameters<typeof judged>[1], RegExp]>([
    ['a prompt that was done twice', [took('one'), took('one')], [prompt('one', 'done')], {}, /2 times/],
    ['one of unknown fate that was done twice', [took('one'), took('one')], [prompt('one')], {}, /2 times/],
    ['one that is done and nowhere', [], [prompt('one', 'done')], {}, /is not in the session/],
    ['one that was refused and done', [took('one')], [prompt('one', 'refused')], {}, /is in the session/],
    [
      'one that was finished and not kept',
      [took('one')],
      [prompt('one', 'done')],
      { finished: ['one'] },
      /finished and is 0 times/,
    ],
    [
      'two answers that were taken',
      [],
      [answer(0, 'done'), answer(1, 'done')],
      {},
      /2 answers to the question d were taken/,
    ],
    [
      'two answers that the agent had',
      [answered('red'), answered('red')],
      [answer(0, 'done')],
      {},
      /the agent had 2 answers/,
    ],
    [
      'another answer than the winner’s',
      [answered('blue')],
      [answer(0, 'done')],
      {},
      /told blue, and red had won/,
    ],
    [
      'a question with two ends',
      [],
      [],
      { told: ['answered red', 'answered blue'] },
      /told to have ended as answered red and as answered blue/,
    ],
  ])('tells %s', (_, entries, sent, heard, sentence) => {
    write('a.jsonl', ...entries);
    const problems = judged(sent, heard);
    expect(problems.join('\n')).toMatch(sentence);
  });

  it('tells a damaged entry and a second file', () => {
    write('a.jsonl', took('one'), '{"type":"to');
    write('b.jsonl', said('one'));
    expect(judged([]).join('\n')).toMatch(/a damaged entry: \{"type":"to\n.*lies in 2 files/);
  });
});

describe('the judge of copies', () => {
  const fact = (text: string): Fact => ({ type: 'note', text }) as unknown as Fact;
  const settled = { type: 'dialog_settled', id: 'd', outcome: 'answered' } as Fact;
  const following = () => {
    const problems: string[] = [];
    const copy = createCopy({ whose: 'editor 1', problem: (it) => void problems.push(it), heard() {} });
    copy.joined({ session: '1', epoch: 'e', seq: 4, snapshot: emptySnapshot() }, undefined);
    return { copy, problems };
  };

  it('has nothing to say of ranges that follow each other, a stated beginning anew and a cursor that holds', () => {
    const { copy, problems } = following();
    copy.told({ session: '1', epoch: 'e', from: 5, to: 7, facts: [settled] });
    copy.anew({ session: '1', epoch: 'f', seq: 2, snapshot: emptySnapshot() });
    copy.told({ session: '1', epoch: 'f', from: 3, to: 3, facts: [fact('a')] });
    copy.joined({ session: '1', epoch: 'f', seq: 3 }, copy.now);
    expect(problems).toEqual([]);
  });

  it('tells a fact that was left out, one that came twice, another epoch and a cursor that was moved', () => {
    for (const [epoch, from] of [
      ['e', 6],
      ['e', 4],
      ['f', 5],
    ] as const) {
      const { copy, problems } = following();
      copy.told({ session: '1', epoch, from, to: 6, facts: [fact('a')] });
      expect(problems).toEqual([`editor 1 stood at e/4 and was told ${epoch}/${from}…6`]);
    }
    const { copy, problems } = following();
    copy.joined({ session: '1', epoch: 'e', seq: 5 }, copy.now);
    expect(problems).toEqual(['editor 1 came back with e/4 and was continued at e/5']);
  });

  it('tells a question that is settled twice', () => {
    const { copy, problems } = following();
    copy.told({ session: '1', epoch: 'e', from: 5, to: 6, facts: [settled, settled] });
    expect(problems).toEqual(['editor 1 was told twice that d is settled']);
  });

  it('tells an editor that is behind, and one that sees something else', () => {
    const of = (copy: Copy) => ({ editors: new Map([[0, { slot: 0, copy } as Editor]]) });
    const hub: Copy = { epoch: 'e', seq: 4, snapshot: emptySnapshot() };
    expect(copyProblems(of(structuredClone(hub)), hub)).toEqual([]);
    expect(copyProblems(of({ ...hub, seq: 3 }), hub)).toEqual(['editor 0 is at e/3, the hub at e/4']);
    const other = { ...hub, snapshot: { ...hub.snapshot, statuses: { build: 'green' } } };
    expect(copyProblems(of(other), hub).join()).toMatch(
      /sees another session than the hub: statuses .*green/,
    );
  });
});

describe('the judge of what is left', () => {
  /** Beyond what any system gives. */
  const [server, hub, other, agent] = [2 ** 30, 2 ** 30 + 1, 2 ** 30 + 2, 2 ** 30 + 3] as const;
  const world = (atFirst: number[], inTheEnd: number[]) => {
    let left = atFirst;
    const kinds: Record<string, number[]> = { server: [server], hub: [hub, other], agent: [agent] };
    return {
      editors: new Map(),
      home: { processes: () => left } as World['home'],
      processes: (kind: string) => left.filter((pid) => kinds[kind]!.includes(pid)),
      async until(holds: () => boolean) {
        if (holds()) return true;
        left = inTheEnd;
        return holds();
      },
    };
  };

  it('has nothing to say when all have gone', async () => {
    expect(await ended(world([hub, agent], []))).toEqual([]);
  });
  it.each<[string, number[], number[], RegExp]>([
    [
      'a server that outlives its editor',
      [hub, server],
      [hub, server],
      /^servers outlive their editors: .*1073741824/,
    ],
    ['two hubs', [hub, other], [], /^there are 2 hubs$/],
    ['no hub', [], [], /^there are 0 hubs$/],
    ['an agent that stays', [hub, agent], [agent], /^still running: 1073741827/],
  ])('tells %s', async (_, atFirst, inTheEnd, sentence) => {
    expect((await ended(world(atFirst, inTheEnd))).join('\n')).toMatch(sentence);
  });

  it('tells half written files, sockets and errors in the logs, and nothing else', () => {
    const env = { XDG_STATE_HOME: path.join(folder, 'state'), XDG_RUNTIME_DIR: path.join(folder, 'run') };
    const home = { path: folder, env } as unknown as World['home'];
    write('state/atomic-lsp/w/s/chat.md', '# Chat');
    write('state/atomic-lsp/log/hub.log', { level: 'info', msg: 'fine' });
    expect([...leftovers({ home }), ...logProblems({ home })]).toEqual([]);
    write('state/atomic-lsp/w/sessions.json.new', '{');
    write('run/atomic-lsp/hub-1.sock', '');
    write('state/atomic-lsp/log/hub.log', { level: 'error', msg: 'a request failed' });
    expect(leftovers({ home })).toEqual([
      'left behind: state/atomic-lsp/w/sessions.json.new',
      'left behind: run/atomic-lsp/hub-1.sock',
    ]);
    expect(logProblems({ home }).join('\n')).toMatch(/^hub\.log: .*a request failed/);
  });
});

describe('the judge of herds', () => {
  const starter = (out: number, killed = false) => ({
    child: { killed },
    code: 0,
    out: `${out}\n`,
    error: '',
  });
  const failed = (error: string) => ({ child: { killed: false }, code: 1, out: '', error });

  it('tells a starter that was led elsewhere or failed, and forgives those who met a killed hub', () => {
    const killed = new Map([[8, 1000]]);
    expect(
      starterProblems(
        [starter(9), starter(8), starter(1, true), failed('The connection to the hub was lost: …')],
        9,
        killed,
      ),
    ).toEqual([]);
    expect(
      starterProblems([starter(8), failed('The connection to the hub was lost: …')], 9, new Map()),
    ).toEqual([
      'a starter was led to 8, which was never killed, another to 9',
      'a starter failed: The connection to the hub was lost: …',
    ]);
  });

  it('tells a hub that listens while another lives', () => {
    const listens = (pid: number, time: number) => ({
      pid,
      msg: 'the hub listens',
      time: new Date(time).toISOString(),
    });
    write('hub.log', listens(7, 500), listens(8, 1000), listens(9, 3000));
    const log = path.join(folder, 'hub.log');
    expect(overlaps(log, [8, 9], new Map([[8, 2000]]))).toEqual([]);
    expect(overlaps(log, [8, 9], new Map([[8, 4000]]))).toEqual(['the hub 9 began to listen while 8 lived']);
    expect(overlaps(log, [8, 9], new Map())).toEqual(['the hub 9 began to listen while 8 lived']);
  });
});
