// What is published: the tarball holds what is needed and nothing else, and runs from an empty folder on every Node that is
// promised, without another package.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensurePi } from '../support/pi.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let files: string[];
let installed: string;

/** Node programs by major version; those besides our own come with the real agents. */
const nodes: Record<string, string | undefined> = {
  [process.versions.node.split('.')[0]!]: process.execPath,
};

beforeAll(async () => {
  await ensurePi();
  const modules = join(root, 'test/agents/node_modules');
  for (const name of readdirSync(modules).filter((entry) => entry.startsWith('node-'))) {
    const program = join(modules, name, 'bin/node');
    if (!existsSync(program)) continue;
    const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
    nodes[version.split('.')[0]] ??= program;
  }
  folder = mkdtempSync(join(tmpdir(), 'a release-'));
  installed = join(folder, 'empty');
  mkdirSync(installed);
  // Without scripts: other tests run what is built.
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  files = packed.files.map(({ path }: { path: string }) => path);
  execFileSync(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', '--prefix', installed, join(folder, packed.filename)],
    { cwd: installed, stdio: 'ignore' },
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the tarball', () => {
  it('holds the program, the clients, the pages and the licences, and nothing else', () => {
    const wanted = [
      /^(package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/,
      /^dist\/(main\.js|program\.js|package\.json|THIRD-PARTY\.txt)$/,
      /^docs\/[a-z-]+\.md$/,
      /^clients\/neovim\/(README\.md|doc\/(atomic\.txt|tags)|(lua|plugin|ftplugin|syntax|queries)\/.*)$/,
      /^clients\/emacs\/[^/]+\.(el|md|org|texi|info)$/,
      /^clients\/emacs\/NEWS$/,
      /^clients\/helix\/[^/]+\.(toml|md)$/,
    ];
    expect(files.filter((file) => !wanted.some((pattern) => pattern.test(file)))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/main.js', 'dist/THIRD-PARTY.txt', 'LICENSE', 'clients/emacs/atomic.el']),
    );
  });

  it('brings no other package with it', () => {
    expect(readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'atomic-lsp',
    ]);
  });
});

// Only where the real agents bring the Node of that version.
describe.each(['20', '22', '24'])('installed in an empty folder, on Node %s', (major) => {
  it('answers a prompt with the demo agent, without a hub and without a trace on the standard error', (context) => {
    const node = nodes[major];
    if (!node) return context.skip(`Node ${major} is not at hand`);
    const home = mkdtempSync(join(folder, 'home-'));
    const said = execFileSync(
      node,
      [join(installed, 'node_modules/atomic-lsp/dist/main.js'), 'prompt', '--no-hub', '--json', 'hello'],
      {
        cwd: installed,
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin', HOME: home, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const facts = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(JSON.stringify(facts)).toMatch(/demo/i);
    expect(JSON.stringify(facts)).toContain('agent_settled');
  });
});
