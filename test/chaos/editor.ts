// An editor of a history: a scripted client of the real server, with its own copy of the session. Guarantees: the copy is made of what it
// was told and nothing else; a gap in that, a server that ends by itself and a question that is settled twice are problems; a killed
// server is started again, as editors do. Must not know: other editors, what is sent when.
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
import type { Snapshot } from '../../server/src/protocol/snapshot.ts';
import { folded } from '../../server/src/session/fold.ts';
import { program } from '../support/language-server.ts';

export interface Copy {
  epoch: string;
  seq: number;
  snapshot: Snapshot;
}
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
  let copy: Copy | undefined;
  let attached = false;
  let gone = false;
  const settled = new Set<string>();

  const told = ({ epoch, from, to, facts }: FactsBatch) => {
    if (!copy || epoch !== copy.epoch || from !== copy.seq + 1)
      problem(`editor ${slot} stood at ${copy?.epoch}/${copy?.seq} and was told ${epoch}/${from}…${to}`);
    let snapshot = copy!.snapshot;
    for (const fact of facts) {
      snapshot = folded(snapshot, fact);
      if (fact.type === 'dialog_settled') {
        if (settled.has(fact.id)) problem(`editor ${slot} was told twice that ${fact.id} is settled`);
        settled.add(fact.id);
      }
      parts.heard(fact);
    }
    copy = { epoch, seq: to, snapshot };
  };
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
      const before = copy;
      try {
        const cursor = before && { epoch: before.epoch, seq: before.seq };
        const { epoch, seq, snapshot } = await link.sendRequest<EditorAttachResult>('atomic/attach', {
          ...(cursor && { cursor }),
        });
        if (link !== connection) return;
        if (snapshot) copy = { epoch, seq, snapshot };
        else if (before?.epoch !== epoch || before.seq !== seq)
          problem(
            `editor ${slot} came back with ${before?.epoch}/${before?.seq} and was continued at ${epoch}/${seq}`,
          );
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
      if (link === connection && !gone) told(batch);
      parts.changed();
    });
    link.onNotification('atomic/resync', ({ epoch, seq, snapshot }: Resync) => {
      if (link === connection && !gone) copy = { epoch, seq, snapshot };
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
      return copy;
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
