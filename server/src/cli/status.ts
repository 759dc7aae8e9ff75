// What the hub of this user is doing. Guarantees: nothing is started; exit code 0 when a hub runs, 1 when none does. Must
// not know: how the hub knows.
import { AtomicError } from '../protocol/errors.ts';
import type { StatusResult } from '../protocol/hub.ts';
import { harmless } from './render.ts';
import { exitCodes, jsonLine, line, type Terminal } from './terminal.ts';

/** Shows the hub, its editors and its sessions. Rejects with `HubUnreachable` when a hub is there and does not answer. */
export async function runStatus(terminal: Terminal, { json }: { json: boolean }): Promise<number> {
  const connection = await terminal.open('running').catch((error: unknown) => {
    if (error instanceof AtomicError && error.code === 'HubUnreachable') return undefined;
    throw error;
  });
  if (!connection) {
    if (json) jsonLine(terminal.output, { running: false });
    else
      line(
        terminal.output,
        'No hub is running: it starts with the first editor or with "atomic-lsp prompt".',
      );
    return exitCodes.failed;
  }
  try {
    const status = await connection.client.status();
    const own = connection.client.origin.id;
    const others = { ...status, editors: status.editors.filter(({ origin }) => origin.id !== own) };
    if (json) jsonLine(terminal.output, { running: true, ...others });
    else for (const text of statusLines(others, terminal.clock.now())) line(terminal.output, text);
    return exitCodes.done;
  } finally {
    await connection.end();
  }
}

/** The status in lines for a person. `now`: milliseconds since the epoch. */
export function statusLines(status: StatusResult, now: number): string[] {
  const { pid, version, startedAt, memory, editors, sessions, log } = status;
  const lines = [
    `hub ${version}, process ${pid}, up ${duration(now - startedAt)}, ${megabytes(memory)}`,
    ...(log ? [`log ${log}`] : []),
    editors.length > 0
      ? `editors: ${editors.map(({ origin, pid: of }) => `${harmless(origin.name)}${of === undefined ? '' : ` (${of})`}`).join(', ')}`
      : 'no editors',
  ];
  if (sessions.length === 0) return [...lines, 'no sessions'];
  const rows = sessions.map(
    ({ workspace, name, agent, busy, dialogs, agentMemory, outdated, editors: watching }) => [
      harmless(workspace),
      harmless(name),
      agent.status === 'running'
        ? `${agent.identity?.demo ? 'built-in demo' : harmless(agent.identity?.name ?? 'agent')}${agent.pid === undefined ? '' : ` (${agent.pid})`}`
        : agent.status === 'exited'
          ? 'agent ended'
          : 'agent not started',
      dialogs > 0 ? `asks (${dialogs})` : busy ? 'works' : 'idle',
      agentMemory === undefined ? '' : megabytes(agentMemory),
      watching
        .map(({ origin, lag }) => harmless(origin.name) + (lag > 0 ? ` (${lag} facts behind)` : ''))
        .join(', '),
      outdated?.length ? `restart for another ${outdated.join(', ')}` : '',
    ],
  );
  return [...lines, ...table([['workspace', 'session', 'agent', 'state', 'memory', 'editors', ''], ...rows])];
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** Columns side by side; lines do not end in blanks. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (wide, row) => row.map((cell, at) => Math.max(wide[at] ?? 0, [...cell].length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
}

/** A length of time in its two largest units. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  if (minutes > 0) return `${minutes} min ${seconds % 60} s`;
  return `${seconds} s`;
}
