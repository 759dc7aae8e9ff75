// The hub's address: the same place for everyone, and every unsafe place refused with its own sentence.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AddressSettings,
  hubAddress,
  secureFolder,
  socketPathLimit,
  socketPresent,
} from '../../../server/src/hub/address.ts';

const uid = process.getuid?.() ?? 0;
let root: string;
const settings = (more: Partial<AddressSettings> = {}): AddressSettings => ({
  platform: 'linux',
  uid,
  runRoot: path.join(root, 'run'),
  tempRoot: path.join(root, 'tmp'),
  ...more,
});
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ code: 'SocketRefused' });
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hub-'));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

describe('the place', () => {
  it('is the runtime folder, with the number of the protocol in its name', () => {
    expect(hubAddress(settings({ runtimeDir: '/run/user/7' })).socket).toBe(
      '/run/user/7/atomic-lsp/hub-1.sock',
    );
  });
  it('does not depend on a runtime folder that is no absolute path', () => {
    expect(hubAddress(settings({ runtimeDir: 'run' })).socket).toBe(
      path.join(root, 'tmp', `atomic-lsp-${uid}`, 'hub-1.sock'),
    );
  });
  it('is the system’s runtime folder for a program that was not told of it', () => {
    const system = path.join(root, 'run', String(uid));
    fs.mkdirSync(system, { recursive: true, mode: 0o700 });
    expect(hubAddress(settings()).folder).toBe(path.join(system, 'atomic-lsp'));
    fs.chmodSync(system, 0o755);
    expect(hubAddress(settings()).folder).toBe(path.join(root, 'tmp', `atomic-lsp-${uid}`));
  });
  it('is a pipe of the user on Windows', () => {
    const [one, two] = ['anna', 'bob'].map((user) => hubAddress({ platform: 'win32', uid: undefined, user }));
    expect(one!.socket).toMatch(/^\\\\\.\\pipe\\atomic-lsp-1-[0-9a-f]{16}$/);
    expect(one!.socket).not.toBe(two!.socket);
  });
  it('counts bytes, not characters, and names the cure', () => {
    const at = (bytes: number) => `/${'ü'.repeat((bytes - 1) / 2)}`;
    expect(socketPathLimit('linux')).toBe(107);
    expect(hubAddress(settings({ override: at(107) })).socket).toBe(at(107));
    expect(refusal(() => hubAddress(settings({ override: at(109) })))).toMatch(
      /has 109 bytes .* takes 107 .*set ATOMIC_LSP_SOCKET to a shorter path/,
    );
    expect(refusal(() => hubAddress(settings({ platform: 'darwin', override: at(105) })))).toMatch(
      /takes 103/,
    );
  });
  it('refuses a chosen path that depends on the current folder', () => {
    expect(refusal(() => hubAddress(settings({ override: 'x.sock' })))).toMatch(/not an absolute path/);
  });
});

describe('its folder', () => {
  const address = () => hubAddress(settings({ runtimeDir: root }));

  it('is made for its user alone', () => {
    secureFolder(address());
    expect(fs.statSync(path.join(root, 'atomic-lsp')).mode & 0o777).toBe(0o700);
    secureFolder(address());
  });
  it('is refused when it is a link', () => {
    fs.mkdirSync(path.join(root, 'real'), { mode: 0o700 });
    fs.symlinkSync('real', path.join(root, 'atomic-lsp'));
    expect(refusal(() => secureFolder(address()))).toMatch(/symbolic link.*remove it/);
  });
  it('is refused when it dangles, is a file, or cannot be made', () => {
    fs.symlinkSync('nowhere', path.join(root, 'atomic-lsp'));
    expect(refusal(() => secureFolder(address()))).toMatch(/symbolic link|cannot be made/);
    fs.rmSync(path.join(root, 'atomic-lsp'));
    fs.writeFileSync(path.join(root, 'atomic-lsp'), '');
    expect(refusal(() => secureFolder(address()))).toMatch(/is a file: remove it/);
    expect(
      refusal(() => secureFolder(hubAddress(settings({ runtimeDir: path.join(root, 'atomic-lsp') })))),
    ).toMatch(/cannot be made .*writable/);
  });
  it('is refused when others may look into it, with the command that closes it', () => {
    fs.mkdirSync(path.join(root, 'atomic-lsp'));
    fs.chmodSync(path.join(root, 'atomic-lsp'), 0o750);
    expect(refusal(() => secureFolder(address()))).toMatch(/mode 750\).*chmod 700 "/);
  });
  it('is refused when it is somebody else’s', () => {
    secureFolder(address());
    expect(refusal(() => secureFolder({ ...address(), uid: uid + 1 }))).toMatch(
      new RegExp(`belongs to user ${uid} and not to you`),
    );
  });
  it('is refused when others could swap it', () => {
    fs.chmodSync(root, 0o777);
    expect(refusal(() => secureFolder(address()))).toMatch(/could swap.*chmod go-w/);
    fs.chmodSync(root, 0o1777);
    secureFolder(address());
  });
  it('may be looked into, but not written to, where the user chose it', () => {
    fs.mkdirSync(path.join(root, 'mine'));
    fs.chmodSync(path.join(root, 'mine'), 0o755);
    const chosen = hubAddress(settings({ override: path.join(root, 'mine', 'x.sock') }));
    secureFolder(chosen);
    fs.chmodSync(path.join(root, 'mine'), 0o775);
    expect(refusal(() => secureFolder(chosen))).toMatch(/open to other users/);
  });
  it('holds no file in place of the socket', () => {
    secureFolder(address());
    expect(socketPresent(address())).toBe(false);
    fs.writeFileSync(address().socket, '');
    expect(refusal(() => socketPresent(address()))).toMatch(/is something else: remove it/);
  });
});
