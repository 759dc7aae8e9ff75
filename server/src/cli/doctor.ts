// What is there, what is missing, and what to do about it. Guarantees: every finding is one line; exit code 1 only where
// something that is needed is wrong; nothing is changed, but for the private folders that a hub would make. Must not know: how
// the parts that are looked at do their work.
import fs from 'node:fs';
import path from 'node:path';
import { forwardedEnvironment } from '../agent/environment.ts';
import { secureFolder } from '../hub/address.ts';
import { AtomicError } from '../protocol/errors.ts';
import { agentFindings } from './doctor-agent.ts';
import { firstLine, programOnPath } from './programs.ts';
import { harmless } from './render.ts';
import { exitCodes, jsonLine, line, type Terminal } from './terminal.ts';

export interface Finding {
  check: string;
  level: 'ok' | 'warn' | 'missing';
  /** Without it nothing works. */
  needed?: true;
  text: string;
  /** What to do, where `text` does not say it. */
  cure?: string;
  /** For programs. */
  data?: Record<string, unknown>;
}

/** Node's oldest release that is supported: the package's `engines`. */
const oldestNode = [20, 19];

/** Looks at everything; the exit code. */
export async function runDoctor(terminal: Terminal, { json }: { json: boolean }): Promise<number> {
  const found = await Promise.all([
    [{ check: 'atomic-lsp', level: 'ok', text: `version ${terminal.version}` } satisfies Finding],
    nodeFindings(process.versions.node),
    agentFindings(terminal),
    hubFindings(terminal),
    folderFindings(terminal),
    editorFindings(terminal),
  ]);
  const findings: Finding[] = found.flat();
  const wrong = findings.some(({ level, needed }) => level === 'missing' && needed);
  if (json) jsonLine(terminal.output, { ok: !wrong, findings });
  else for (const finding of findings) line(terminal.output, findingLine(finding));
  return wrong ? exitCodes.failed : exitCodes.done;
}

/** A finding as a person reads it. */
export const findingLine = ({ level, check, text, cure }: Finding): string =>
  harmless(`${level.padEnd(7)} ${check}: ${text}${cure ? `; ${cure}` : ''}`);

export function nodeFindings(version: string): Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [least = 0, lesser = 0] = oldestNode;
  return major > least || (major === least && minor >= lesser)
    ? [{ check: 'Node', level: 'ok', text: `version ${version}` }]
    : [
        {
          check: 'Node',
          level: 'missing',
          needed: true,
          text: `version ${version} is too old`,
          cure: `install Node ${oldestNode.join('.')} or newer`,
        },
      ];
}

async function hubFindings(terminal: Terminal): Promise<Finding[]> {
  let socket: string;
  try {
    const address = terminal.places.address();
    secureFolder(address);
    socket = address.socket;
  } catch (error) {
    return [{ check: 'hub', level: 'missing', needed: true, text: (error as Error).message }];
  }
  try {
    const { client, end } = await terminal.open('running');
    const { pid, sessions } = await client.status();
    await end();
    const text = `version ${client.version} runs as process ${pid} at ${socket}, sessions: ${sessions.length}`;
    return client.version === terminal.version
      ? [{ check: 'hub', level: 'ok', text, data: { socket, pid } }]
      : [
          {
            check: 'hub',
            level: 'warn',
            text: `${text}, and this is ${terminal.version}`,
            cure: 'end it with "atomic-lsp stop --when-idle"; the next need starts the new one',
            data: { socket, pid },
          },
        ];
  } catch (error) {
    if (error instanceof AtomicError && error.code === 'HubUnreachable')
      return [
        {
          check: 'hub',
          level: 'ok',
          text: `does not run now, and starts when it is needed, at ${socket}`,
          data: { socket },
        },
      ];
    const text = error instanceof Error ? error.message : String(error);
    return [{ check: 'hub', level: 'missing', needed: true, text }];
  }
}

function folderFindings({ places }: Terminal): Finding[] {
  return [['state', places.state] as const, ['log', places.log] as const].map(([check, folder]) => {
    const there = nearest(folder);
    try {
      if (!fs.statSync(there).isDirectory()) throw new Error(`${there} is a file`);
      fs.accessSync(there, fs.constants.W_OK | fs.constants.X_OK);
      const { bavail, bsize } = fs.statfsSync(there);
      if (bavail * bsize < leastRoom)
        return {
          check,
          level: 'warn',
          text: `${folder} is on a full disk (${bavail * bsize} bytes left)`,
          cure: 'free some space: transcripts, drafts and logs cannot be written until then',
        };
      return { check, level: 'ok', text: folder };
    } catch (error) {
      return {
        check,
        level: 'missing',
        needed: true,
        text: `${folder} cannot be written (${(error as Error).message})`,
        cure: `make ${there} writable, or set XDG_STATE_HOME to another folder`,
      };
    }
  });
}

/** Bytes that a few turns of a conversation need. */
const leastRoom = 1_000_000;

/** The folder, or what is there of the way to it. */
const nearest = (folder: string): string =>
  fs.existsSync(folder) || path.dirname(folder) === folder ? folder : nearest(path.dirname(folder));

const editors = [
  {
    program: 'nvim',
    name: 'Neovim',
    least: [0, 10],
    how: 'vim.lsp.start with cmd = {"atomic-lsp", "--stdio"}',
  },
  {
    program: 'emacs',
    name: 'Emacs',
    least: [29, 1],
    how: 'eglot-server-programs with ("atomic-lsp" "--stdio")',
  },
  {
    program: 'hx',
    name: 'Helix',
    least: [23, 10],
    how: 'languages.toml: [language-server.atomic] command = "atomic-lsp"',
  },
  {
    program: 'helix',
    name: 'Helix',
    least: [23, 10],
    how: 'languages.toml: [language-server.atomic] command = "atomic-lsp"',
  },
  { program: 'vim', name: 'Vim', least: [9, 0], how: 'an LSP plugin with the command atomic-lsp --stdio' },
  {
    program: 'code',
    name: 'VS Code',
    least: [1, 80],
    how: 'a generic LSP extension with the command atomic-lsp --stdio',
  },
] as const;

async function editorFindings({ env, cwd }: Terminal): Promise<Finding[]> {
  const looked = await Promise.all(
    editors.map(async ({ program, name, least, how }): Promise<Finding[]> => {
      const file = programOnPath(program, env.PATH);
      if (file === undefined) return [];
      const said = await firstLine(file, ['--version'], { env: forwardedEnvironment(env), cwd });
      const version = /\d+(?:\.\d+)+/.exec(said ?? '')?.[0];
      const data = { program, path: file, ...(version && { version }) };
      if (version === undefined)
        return [
          {
            check: name,
            level: 'warn',
            text: `${file} tells no version`,
            cure: `point it at the server by ${how}`,
            data,
          },
        ];
      return [
        isAtLeast(version, least)
          ? {
              check: name,
              level: 'ok',
              text: `version ${version} (${file})`,
              cure: `point it at the server by ${how}`,
              data,
            }
          : {
              check: name,
              level: 'warn',
              text: `version ${version} (${file}) is older than ${least.join('.')}`,
              cure: 'use a newer one',
              data,
            },
      ];
    }),
  );
  const findings = looked.flat();
  if (findings.length > 0) return findings;
  return [
    {
      check: 'editors',
      level: 'warn',
      text: `none of ${[...new Set(editors.map(({ name }) => name))].join(', ')} is on PATH`,
      cure: 'any editor that speaks LSP can start "atomic-lsp --stdio"',
    },
  ];
}

/** Whether a version like "0.10.4" is the given one or a later one. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const numbers = version.split('.').map(Number);
  for (const [at, wanted] of least.entries()) {
    const have = numbers[at] ?? 0;
    if (have !== wanted) return have > wanted;
  }
  return true;
}
