// An editor of a history: a scripted client of the real server, with its own copy of the session. Guarantees: the copy is made of what it
// was told and nothing else; a server that ends by itself is a problem; a killed server is started again, as editors do. Must not know: other editors, what is sent when.
import { type ChildProcess, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { EditorAttachResult } from '../../server/src/protocol/editor.ts';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { AgentChoice, FactsBatch, Resync } from '../../server/src/protocol/hub.ts';
import { program } from '../support/language-server.ts';
import { type Copy, createCopy } from './copy.ts';

export interface Editor {
  readonly slot: number;
  readonly copy: Copy | undefined;
  /** It follows the session now. */
  readonly attached: boolean;
  readonly pid: number | undefined;
  /** Sends an intent; resolves when the hub has accepted it. */
  intent(id: string, command: string, params: object): Promise<unknown>;
  /** It reads what it is told, or does not. */
  reads(reading: boolean): void;
  /** Ends it. The process of its server ends later, or with `shutdown` when the editor has seen that. */
  leave(how: 'shutdown' | 'drop'): void;
}
export interface EditorParts {
  slot: number;
  env: Readonly<Record<string, string>>;
  workspace: string;
  agent: AgentChoice;
  problem(sentence: string): void;
  heard(fact: Fact): void;
  /** Something may be another than before. */
  changed(): void;
}

/** How often an editor tries to join while hubs die, and the milliseconds in between. */
const tries = { count: 100, pause: 100 };

export function createEditor(parts: EditorParts): Editor {
  const { slot, problem } = parts;
  let child: ChildProcess;
  let connection: MessageConnection;
  const copy = createCopy({ whose: `editor ${slot}`, problem, heard: parts.heard });
  let attached = false;
  let gone = false;

  const join = async (link: MessageConnection): Promise<void> => {
    await link.sendRequest('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(parts.workspace).href,
      capabilities: {},
      clientInfo: { name: `Editor ${slot}` },
      initializationOptions: {
        agent: { ...parts.agent },
        client: { name: `Editor ${slot}`, events: true },
      },
    });
    await link.sendNotification('initialized', {});
    for (let attempt = 1; ; attempt += 1) {
      const before = copy.now;
      try {
        const cursor = before && { epoch: before.epoch, seq: before.seq };
        const joined = await link.sendRequest<EditorAttachResult>('atomic/attach', {
          ...(cursor && { cursor }),
        });
        if (link === connection) copy.joined(joined, before);
        return;
      } catch (error) {
        if (attempt === tries.count || link !== connection || gone || isOver(child)) throw error;
        await new Promise((resolve) => setTimeout(resolve, tries.pause));
      }
    }
  };
  const start = () => {
    const mine = spawn(process.execPath, [program, '--stdio'], {
      env: parts.env,
      cwd: parts.workspace,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const link = createMessageConnection(
      new StreamMessageReader(mine.stdout),
      new StreamMessageWriter(mine.stdin),
    );
    child = mine;
    connection = link;
    attached = false;
    mine.stdin.on('error', () => {});
    let words = '';
    mine.stderr.on('data', (chunk) => (words += chunk));
    link.onError(() => {});
    // A person who dismisses whatever is asked.
    link.onRequest(() => null);
    link.onNotification('atomic/events', (batch: FactsBatch) => {
      if (link === connection && !gone) copy.told(batch);
      parts.changed();
    });
    link.onNotification('atomic/resync', (all: Resync) => {
      if (link === connection && !gone) copy.anew(all);
      parts.changed();
    });
    link.listen();
    mine.on('exit', (code, signal) => {
      link.dispose();
      if (words !== '') problem(`the server of editor ${slot} printed: ${words}`);
      if (link !== connection || gone) return;
      if (signal !== 'SIGKILL') problem(`the server of editor ${slot} ended by itself (${signal ?? code})`);
      start();
      parts.changed();
    });
    join(link).then(
      () => {
        attached = link === connection;
        parts.changed();
      },
      (error: Error) => {
        if (link === connection && !gone && !isOver(mine))
          problem(`editor ${slot} could not join: ${error.message}`);
      },
    );
  };
  start();

  return {
    slot,
    get copy() {
      return copy.now;
    },
    get attached() {
      return attached && !gone;
    },
    get pid() {
      return child.pid;
    },
    intent: (id, command, params) => connection.sendRequest('atomic/intent', { id, command, params }),
    reads(reading) {
      if (reading) child.stdout!.resume();
      else child.stdout!.pause();
    },
    leave(how) {
      gone = true;
      attached = false;
      child.stdout!.resume();
      if (how === 'drop') {
        child.stdin!.destroy();
        child.stdout!.destroy();
        return;
      }
      const link = connection;
      link
        .sendRequest('shutdown')
        .then(() => link.sendNotification('exit'))
        .catch(() => {});
    },
  };
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
