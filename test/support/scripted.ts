// An agent that does what a test's script says, for faults and for the older dialect. Guarantees: an agent choice; without a script a
// working agent that says "You said: …". Must not know: how the script is carried out (test/agents/scripted.mjs).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { besides } from './pi.ts';

/** A tool call of a scripted run: `output` comes piece by piece, cumulative as agents send it. */
export interface ScriptedTool {
  name: string;
  id?: string;
  args?: Record<string, unknown>;
  output?: string[];
  isError?: boolean;
}

/** A whole run in the form of the dialect, with the prompt's message as the user's when a prompt started it. */
export interface Say {
  /** The text; a list is a list of deltas. */
  say: string | string[];
  thinking?: string | string[];
  /** Done in a turn before the text. */
  tools?: ScriptedTool[];
  /** After the first delta the run waits until the test opens this gate, or for an abort. */
  gate?: string;
  stopReason?: 'stop' | 'length' | 'error';
  errorMessage?: string;
  /** `false`: no `agent_settled`, although the dialect has it. */
  settled?: false;
}

type UiRequest = { method: string; timeout?: number; [key: string]: unknown };

/** One thing to do. Those that answer answer the command that they are listed under. */
export type Step =
  /** A successful response; `true` for one without data. */
  | { accept: true | Record<string, unknown> | null }
  /** The response of the dialect to an accepted prompt. */
  | { started: true }
  /** A refusal, with what else the response holds. */
  | { refuse: string; withoutId?: true; errorCode?: string; errorDetails?: Record<string, unknown> }
  /** "Unknown command" as this dialect says it. */
  | { unknown: true }
  /** Records, in one write. */
  | { emit: object | object[] }
  /** Text as it is: garbage lines, terminal escapes, half a record. */
  | { raw: string }
  /** Bytes in base64 as they are. */
  | { bytes: string }
  | Say
  /** A run of this many deltas, as fast as they are read. */
  | { flood: number }
  /** A question or a show; waits for the answer (not with `wait: false`) and tells it by a notification (not with `settled: false`). */
  | { ask: UiRequest; wait?: false; settled?: false }
  /** One `message_end` with this many letters. */
  | { big: number }
  /** Waits for the next client line of this type. */
  | { line: string }
  /** Waits until the test opens the gate. */
  | { gate: string }
  | { stderr: string }
  /** Starts a child that stays and holds the agent's pipes; its pid is told as a `session_info_changed` name. */
  | { child: true }
  /** Tells the agent's own pid in the same way. */
  | { pid: true }
  /** Reads nothing any more. */
  | { deaf: true }
  /** Does nothing any more here; other commands are still answered. */
  | { stop: true }
  | { exit: number }
  | { kill: NodeJS.Signals };

export interface Script {
  /** D0 and D1: cumulative updates, nothing settled. D0 also refuses without an id. Default D2. */
  dialect?: 'D0' | 'D1' | 'D2' | 'D3';
  /** Done before anything is answered (it does not hold up answers when it waits). */
  start?: Step[];
  /** What to do for a command, by its type. A list of lists: the first time, the second time, …; the last one stays. */
  on?: Record<string, Step[] | Step[][]>;
  /** Commands without an entry: answered as a working agent would (default), refused as unknown, or never answered. */
  otherwise?: 'unknown' | 'silent';
  /** Added to the state. */
  state?: Record<string, unknown>;
  /** What `get_commands` lists. */
  commands?: object[];
  /** When stdin is closed: exit 0 (default), stay, or do something. */
  closed?: 'stay' | Step[];
  sigterm?: 'ignore';
}

export interface ScriptedAgent {
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Opens a gate for every process of this agent, now and later. */
  open(gate: string): void;
  /** Removes what `open` needs. */
  dispose(): void;
}

const folders = new Set<string>();
const removed = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
};
process.once('exit', () => folders.forEach(removed));

const program = fileURLToPath(new URL('../agents/scripted.mjs', import.meta.url));

/** An agent choice that carries out the script. */
export function scriptedAgent(script: Script = {}): ScriptedAgent {
  const gates = mkdtempSync(join(tmpdir(), 'atomic-lsp-gates-'));
  folders.add(gates);
  const choice = {
    command: process.execPath,
    args: [program],
    env: { SCRIPTED_AGENT: JSON.stringify({ ...script, gates }) },
  };
  return besides(choice, {
    open: (gate: string) => writeFileSync(join(gates, gate), ''),
    dispose: () => removed(gates),
  });
}
