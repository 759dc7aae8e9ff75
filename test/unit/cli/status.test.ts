// What is shown of a hub: a table that a person can read, whatever names are in it.
import { expect, it } from 'vitest';
import { duration, statusLines, table } from '../../../server/src/cli/status.ts';
import type { StatusResult } from '../../../server/src/protocol/hub.ts';

const status: StatusResult = {
  pid: 12,
  version: '1.2.3',
  protocol: 1,
  startedAt: 1_000,
  memory: 61_400_000,
  log: '/state/log/hub.log',
  editors: [{ origin: { id: 'p1', name: 'Neovim' }, pid: 34, sessions: ['1'] }],
  sessions: [
    {
      session: '1',
      workspace: '/home/me/Projekt ü',
      name: 'default',
      epoch: 'e',
      seq: 9,
      editors: [
        { origin: { id: 'p1', name: 'Neovim' }, lag: 0 },
        { origin: { id: 'p2', name: 'He\u001b[31mlix' }, lag: 70 },
      ],
      agent: {
        status: 'running',
        pid: 56,
        identity: { command: 'pi', name: 'pi', demo: false },
        unavailable: [],
      },
      agentMemory: 140_000_000,
      busy: true,
      dialogs: 2,
      outdated: ['environment'],
      journal: { facts: 9, bytes: 100 },
    },
  ],
};

it('names editors with what they have not read, questions, memory, and what a restart would change', () => {
  expect(statusLines(status, 3_661_000)).toEqual([
    'hub 1.2.3, process 12, up 1 h 1 min, 61 MB',
    'log /state/log/hub.log',
    'editors: Neovim (34)',
    'workspace           session  agent    state     memory  editors',
    '/home/me/Projekt ü  default  pi (56)  asks (2)  140 MB  Neovim, He[31mlix (70 facts behind)  restart for another environment',
  ]);
  expect(statusLines({ ...status, editors: [], sessions: [] }, 1_000).slice(2)).toEqual([
    'no editors',
    'no sessions',
  ]);
});

it('puts columns side by side by letters, and gives times in two units', () => {
  expect(
    table([
      ['ü', 'x'],
      ['ab', ''],
    ]),
  ).toEqual(['ü   x', 'ab']);
  expect([0, 61_000, 3_600_000, 90_000_000].map(duration)).toEqual([
    '0 s',
    '1 min 1 s',
    '1 h 0 min',
    '1 d 1 h',
  ]);
});
