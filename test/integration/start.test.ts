// How the program is loaded: what Node has compiled of it is kept for the next start, and whatever is wrong with what was kept, the
// program runs as without it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const base = fs.mkdtempSync(path.join(tmpdir(), 'the start ü-'));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let cache: string;
let code: string;
beforeEach(() => {
  cache = fs.mkdtempSync(path.join(base, 'cache-'));
  code = path.join(cache, 'atomic-lsp', 'code');
});

/** Starts the program with arguments; it must say nothing on the standard error. */
function start(args: string[] = ['--version'], env: Record<string, string> = {}): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(root, 'dist/main.js'), ...args], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: base, XDG_CACHE_HOME: cache, ...env },
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout;
}
const kept = () => fs.readdirSync(code);
const only = () => {
  expect(kept()).toHaveLength(1);
  return path.join(code, kept()[0]!);
};

describe('the start of the program', () => {
  it('keeps what was compiled, for its user alone, and takes it the next time', () => {
    expect(start()).toContain(version);
    const file = only();
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(code).mode & 0o777).toBe(0o700);
    const first = fs.statSync(file, { bigint: true });
    expect(start()).toContain(version);
    // Taken as it was: one that is refused is written again.
    expect(fs.statSync(only(), { bigint: true })).toMatchObject({ ino: first.ino, mtimeNs: first.mtimeNs });
  });

  it.each([
    ['damaged', (file: string) => fs.writeFileSync(file, 'nothing that V8 wrote', { mode: 0o600 })],
    ['cut off', (file: string) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2))],
    ['empty', (file: string) => fs.truncateSync(file, 0)],
    ['one that others may write', (file: string) => fs.chmodSync(file, 0o666)],
  ])('writes it again where it is %s', (_, spoil) => {
    start();
    const { size } = fs.statSync(only());
    spoil(only());
    const spoiled = fs.statSync(only()).ino;
    expect(start()).toContain(version);
    expect(fs.statSync(only()).ino).not.toBe(spoiled);
    expect(fs.statSync(only()).mode & 0o777).toBe(0o600);
    expect(fs.statSync(only()).size / size).toBeCloseTo(1, 0);
  });

  it('removes what an earlier build left, and nothing of another way to start', () => {
    start();
    const name = path.basename(only());
    const old = name.replace(/\d+-\d+\.bin$/, '1-2.bin');
    const other = old.replace(/^server-/, 'hub-');
    for (const left of [old, other]) fs.writeFileSync(path.join(code, left), '');
    fs.rmSync(path.join(code, name));
    start();
    expect(kept().sort()).toEqual([name, other].sort());
  });

  it('runs where nothing can be kept, and where nothing shall be', () => {
    fs.writeFileSync(path.join(cache, 'atomic-lsp'), 'a file in its place');
    expect(start()).toContain(version);
    fs.rmSync(path.join(cache, 'atomic-lsp'));
    expect(start(['--version'], { NODE_DISABLE_COMPILE_CACHE: '1' })).toContain(version);
    expect(fs.readdirSync(cache)).toEqual([]);
  });
});
