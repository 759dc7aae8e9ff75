// A program around the hub, for tests that need real processes. Guarantees the real daemon and the real starter with
// sessions that have no agent. Must not know the verbs of the product.
//
// argv: a verb (`hub`, `start`, `broken`) and the options as JSON. `start` prints the hub's pid. A hub writes its own pid
// as a line into `started`, and with `holdStop` its sessions end only when SIGUSR2 comes. A starter whose hub is lost begins again,
// as every client does.
import fs from 'node:fs';
import { hubAddress } from '../../server/src/hub/address.ts';
import { systemClock } from '../../server/src/hub/clock.ts';
import { runHub } from '../../server/src/hub/daemon.ts';
import type { HubProgram } from '../../server/src/hub/ensure.ts';
import { openHub } from '../../server/src/hub/open.ts';
import { fakeSessions } from './fake-session.ts';

export interface EntryOptions {
  runtimeDir: string;
  state: string;
  started: string;
  version?: string;
  holdStop?: boolean;
  /** Whether somebody waits on descriptor 3. */
  ready?: boolean;
}

const [, entry, verb, json] = process.argv as [string, string, string, string];
const options = JSON.parse(json) as EntryOptions;
const address = hubAddress({
  platform: process.platform,
  uid: process.getuid?.(),
  runtimeDir: options.runtimeDir,
});

if (verb === 'hub') {
  fs.appendFileSync(options.started, `${process.pid}\n`);
  const { create } = fakeSessions();
  const held: (() => void)[] = [];
  process.on('SIGUSR2', () => held.forEach((release) => void release()));
  const { exitCode, error } = await runHub({
    address,
    createSession: (parts) => {
      const session = create(parts) as ReturnType<typeof fakeSessions>['all'][number];
      if (options.holdStop) session.onStop = () => new Promise((resolve) => void held.push(resolve));
      return session;
    },
    startAgent: () => Promise.reject(new Error('no agent here')),
    folder: options.state,
    logFolder: `${options.state}/log`,
    version: options.version ?? '1.0.0',
    ...(options.ready && { readyDescriptor: 3 }),
  });
  if (error) process.stderr.write(`${error.message}\n`);
  process.exit(exitCode);
} else if (verb === 'start') {
  const program: HubProgram = {
    command: process.execPath,
    args: [entry, 'hub', JSON.stringify({ ...options, ready: true })],
    env: { PATH: process.env.PATH ?? '' },
  };
  const hello = { version: options.version ?? '1.0.0', name: 'starter', env: {}, pid: process.pid };
  const pidOfHub = async (): Promise<number> => {
    const client = await openHub({ address, program, clock: systemClock, hello });
    const lost = new Promise<undefined>((resolve) => client.onClose(() => resolve(undefined)));
    const said = await Promise.race([client.status().catch(() => undefined), lost]);
    return said?.pid ?? pidOfHub();
  };
  process.stdout.write(`${await pidOfHub()}\n`);
  process.exit(0);
} else {
  process.stderr.write('the last words of a broken hub\n');
  process.exit(3);
}
