// The command line as data: what is understood, and what is refused with a cure.
import { expect, it } from 'vitest';
import { parsedCommand, UsageError } from '../../../server/src/cli/arguments.ts';

const words = (text: string) => text.split(' ').filter(Boolean);

it.each([
  ['', { verb: 'server', stream: { kind: 'stdio' }, noHub: false }],
  ['--stdio --clientProcessId=12', { verb: 'server', stream: { kind: 'stdio' }, noHub: false }],
  ['--pipe=/tmp/x --no-hub', { verb: 'server', stream: { kind: 'pipe', path: '/tmp/x' }, noHub: true }],
  ['--socket=4711', { verb: 'server', stream: { kind: 'socket', port: 4711 }, noHub: false }],
  ['-v', { verb: 'version' }],
  ['status --help', { verb: 'help' }],
  ['hub --ready-descriptor=3', { verb: 'hub', readyDescriptor: 3 }],
  ['status --json', { verb: 'status', json: true }],
  ['stop --when-idle', { verb: 'stop', whenIdle: true, force: false }],
  ['logs -f -n 5', { verb: 'logs', json: false, follow: true, lines: 5 }],
  ['attach --session review', { verb: 'attach', json: false, messages: 10, session: 'review' }],
  [
    'prompt what is this --model m --workspace ../x',
    {
      verb: 'prompt',
      text: 'what is this',
      json: false,
      noHub: false,
      start: { model: 'm' },
      workspace: '../x',
    },
  ],
  ['demo-agent --mode rpc --anything', { verb: 'demo-agent', argv: ['--mode', 'rpc', '--anything'] }],
])('understands "%s"', (text, command) => {
  expect(parsedCommand(words(text))).toEqual(command);
});

it.each([
  ['stauts', /no verb "stauts": use one of hub, status/],
  ['status now', /atomic-lsp status takes no "now"/],
  ['status --jsn', /'--jsn'.*--help/],
  ['prompt', /needs the text/],
  ['--stdio --pipe=/x', /exclude each other/],
  ['--socket=0', /--socket needs a number from 1 to 65535, and not "0"/],
  ['logs -n many', /--lines needs a number from 0/],
  ['attach --messages=401', /from 0 to 400/],
])('refuses "%s" with its cure', (text, sentence) => {
  expect(() => parsedCommand(words(text))).toThrow(sentence);
  expect(() => parsedCommand(words(text))).toThrow(UsageError);
});
