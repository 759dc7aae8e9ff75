// Listening alone: a place that is taken, left over, removed, or freed by a hub that stops.
import fs from 'node:fs';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HubAddress, hubAddress } from '../../../server/src/hub/address.ts';
import { connectSocket, type Listener, listenAlone, socketCheck } from '../../../server/src/hub/listen.ts';
import { silentLog } from '../../../server/src/hub/log.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { testFolders } from './support.ts';

const folders = testFolders();
const never = new AbortController().signal;
const open: Listener[] = [];
afterEach(async () => {
  for (const listener of open.splice(0)) {
    await listener.close();
    await listener.release();
  }
});

const place = (): HubAddress =>
  hubAddress({ platform: process.platform, uid: process.getuid?.(), runtimeDir: folders.make('run') });
const listen = async (address: HubAddress, clock = fakeClock(), signal = never) => {
  const listener = await listenAlone({
    address,
    clock,
    log: silentLog,
    signal,
    onConnection: (socket) => void socket.on('error', () => {}).end('hub'),
  });
  if (listener !== 'running') open.push(listener);
  return listener;
};
/** What is said by whoever listens; undefined when nobody does. */
async function heard(address: HubAddress): Promise<string | undefined> {
  const socket = await connectSocket(address);
  if (!socket) return undefined;
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

describe('listening', () => {
  it('is for one', async () => {
    const address = place();
    expect(await heard(address)).toBeUndefined();
    await listen(address);
    expect(await listen(address)).toBe('running');
    expect(await heard(address)).toBe('hub');
  });

  it('takes the place of a socket that nobody listens on', async () => {
    const address = place();
    await connectSocket(address);
    // A socket whose file outlives its listener, as after SIGKILL: closing removes only the first name.
    const other = net.createServer().listen(`${address.socket}.dead`);
    await new Promise((resolve) => other.once('listening', resolve));
    fs.linkSync(`${address.socket}.dead`, address.socket);
    await new Promise((resolve) => other.close(resolve));
    expect(fs.lstatSync(address.socket).isSocket()).toBe(true);
    await listen(address);
    expect(await heard(address)).toBe('hub');
  });

  it('does not take the place of a file, and frees the lock when it refuses', async () => {
    const address = place();
    await connectSocket(address);
    fs.writeFileSync(address.socket, 'precious');
    await expect(listen(address)).rejects.toMatchObject({ code: 'SocketRefused' });
    expect(fs.readFileSync(address.socket, 'utf8')).toBe('precious');
    fs.unlinkSync(address.socket);
    expect(await listen(address)).not.toBe('running');
  });

  it('begins anew within a minute where the socket was removed, or another lies in its place', async () => {
    const address = place();
    const clock = fakeClock();
    await listen(address, clock);
    for (const spoil of [
      () => fs.unlinkSync(address.socket),
      () => {
        fs.unlinkSync(address.socket);
        const other = net.createServer().listen(address.socket);
        return new Promise<void>((resolve) =>
          other.once('listening', () => {
            fs.renameSync(address.socket, `${address.socket}.moved`);
            other.close(() => {
              fs.renameSync(`${address.socket}.moved`, address.socket);
              resolve();
            });
          }),
        );
      },
    ]) {
      await spoil();
      expect(await heard(address)).toBeUndefined();
      // A new socket appears with its name, and is listened on by the time a watcher hears of it.
      const back = new Promise<void>((resolve) => {
        const watcher = fs.watch(address.folder!, async () => {
          if ((await heard(address)) !== 'hub') return;
          watcher.close();
          resolve();
        });
      });
      clock.advance(socketCheck);
      await back;
      expect(await heard(address)).toBe('hub');
      expect(fs.lstatSync(address.socket).mode & 0o777).toBe(0o600);
    }
  });

  it('waits for a hub that stops, until it has let go or for as long as it is allowed to', async () => {
    const address = place();
    const first = (await listen(address)) as Listener;
    await first.close();
    expect(await heard(address)).toBeUndefined();
    const limit = new AbortController();
    const refused = listen(address, fakeClock(), limit.signal);
    limit.abort();
    await expect(refused).rejects.toMatchObject({
      code: 'HubUnreachable',
      message: expect.stringMatching(/holds the lock.*does not answer/),
    });
    const second = listen(address);
    await first.release();
    expect(await second).not.toBe('running');
    expect(await heard(address)).toBe('hub');
  });
});
