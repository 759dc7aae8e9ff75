// The rules of the source tree that no ready-made tool holds: which room may import which, who reads the environment, how long a
// file may be and how it begins. Guarantees: pure functions from files to problems, one sentence each, so that the check script
// and the tests share them. Must not know: who asks.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = 'server/src/';

/** What each room may import besides itself; `main` is every file directly under server/src. */
export const rooms = {
  protocol: [],
  session: ['protocol'],
  agent: ['protocol', 'session'],
  hub: ['protocol', 'session'],
  prompt: ['protocol', 'session'],
  chat: ['protocol', 'session'],
  editor: ['protocol', 'session', 'hub', 'prompt', 'chat'],
  cli: ['protocol', 'session', 'hub', 'agent'],
  main: ['protocol', 'session', 'hub', 'agent', 'prompt', 'chat', 'editor', 'cli'],
};

/** Packages that only these rooms may import; `node:` in the core would be input or output. */
const reserved = [
  {
    match: /^node:/,
    rooms: ['agent', 'hub', 'prompt', 'editor', 'cli', 'main'],
    why: 'is free of input and output',
  },
  { match: /^vscode-language/, rooms: ['editor', 'main'], why: 'must not know LSP' },
  { match: /^vscode-jsonrpc/, rooms: ['hub', 'editor', 'main'], why: 'speaks to nobody' },
];

const importing =
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
const environment =
  /\bprocess\s*(?:\.\s*|\?\.\s*|\[\s*['"])(?:argv|env)\b|=\s*process\s*[;,)]|\bimport\(['"]node:process/;

const withoutComments = (text) => text.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Who may read argv and the environment: the program's beginning, and what loads the program. */
const readers = [`${source}main.ts`, `${source}start.ts`];

const roomOf = (path) => {
  const inside = path.slice(source.length);
  return inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : 'main';
};

/** Every import that crosses a border, and every reader of argv or the environment besides main.ts. */
export function importProblems(files) {
  const problems = [];
  for (const { path, text } of files) {
    if (!path.startsWith(source) || !path.endsWith('.ts')) continue;
    const room = roomOf(path);
    const allowed = rooms[room];
    if (!allowed) {
      problems.push(`${path} lies in a room that has no rule: add "${room}" to scripts/rules.mjs`);
      continue;
    }
    const code = withoutComments(text);
    for (const [, from, bare, loaded] of code.matchAll(importing)) {
      const target = from ?? bare ?? loaded;
      if (target.startsWith('.')) {
        const file = posix.join(posix.dirname(path), target);
        if (!file.startsWith(source))
          problems.push(`${path} imports ${target}, which is not part of the product`);
        else if (roomOf(file) !== room && !allowed.includes(roomOf(file)))
          problems.push(`${path} imports ${target}: ${room} may not import ${roomOf(file)}`);
        continue;
      }
      const rule = reserved.find(({ match }) => match.test(target));
      if (rule && !rule.rooms.includes(room)) problems.push(`${path} imports ${target}: ${room} ${rule.why}`);
      if (room === 'protocol' && target !== 'zod' && !rule)
        problems.push(`${path} imports ${target}: protocol imports nothing but zod`);
      if (target === 'node:process' && !readers.includes(path))
        problems.push(`${path} imports node:process: only main.ts reads argv and the environment`);
    }
    if (!readers.includes(path) && environment.test(code))
      problems.push(
        `${path} reads process.argv or process.env: only main.ts may, and hands on what is needed`,
      );
  }
  return problems;
}

/** Lines that fit on three screens. */
export const longest = 300;

/** Files that may be longer, each with the reason. */
export const longFiles = {};

const generated = new Set([
  'clients/neovim/lua/atomic/commands.lua',
  'clients/neovim/lua/atomic/schema.lua',
  'clients/emacs/atomic-lsp-commands.el',
]);

/** Files that are too long, and exceptions that are not needed any more. */
export function lengthProblems(files, exceptions = longFiles) {
  const problems = [];
  for (const { path, text } of files) {
    if (!/\.(?:ts|mjs|lua|el|vim|sh)$/.test(path) || generated.has(path)) continue;
    const lines = text.split('\n').length - 1;
    if (lines > longest && !exceptions[path])
      problems.push(
        `${path} has ${lines} lines: split it at a border that can be named (at most ${longest})`,
      );
    if (lines <= longest && exceptions[path])
      problems.push(
        `${path} has only ${lines} lines: take it off the list of long files in scripts/rules.mjs`,
      );
  }
  return problems;
}

/** Files of the product whose first comment does not say what they guarantee. */
export function headerProblems(files) {
  const problems = [];
  for (const { path, text } of files) {
    if (!path.startsWith(source) || !path.endsWith('.ts')) continue;
    const [header] = /^(?:#!.*\n)?(?:\/\/.*\n)+/.exec(text) ?? [];
    if (!header?.includes('uarantee'))
      problems.push(`${path} does not begin with a comment that says what it guarantees and must not know`);
  }
  return problems;
}

/** Every text file that is or will be in the repository, by path. */
export function projectFiles() {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(list.split('\0'))]
    .filter(
      (path) => /^(?:server|scripts|clients|test)\//.test(path) && /\.(?:ts|mjs|lua|el|vim|sh)$/.test(path),
    )
    .flatMap((path) => {
      try {
        return [{ path, text: readFileSync(`${root}/${path}`, 'utf8') }];
      } catch {
        return []; // Deleted, but still in the index.
      }
    });
}
