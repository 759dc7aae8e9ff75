// Where a history happens: a private home with real servers, one hub, its agents and a disk for the logs. Guarantees: does what a step
// says without waiting for its effect; remembers what was sent and what was told of it; after `close` no process is left. Must
// not know: what is right.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Fact } from '../../server/src/protocol/facts.ts';
import type { AgentChoice } from '../../server/src/protocol/hub.ts';
import { createEditorHome, type EditorHome } from '../editors/home.ts';
import { signalled } from '../editors/processes.ts';
import { projectFolder } from '../editors/project.ts';
import { createDisk } from './disk.ts';
import { createEditor, type Editor } from './editor.ts';
import type { Planned, Step } from './history.ts';

/** What an editor wanted, and what it heard of that. */
export interface Sent {
  id: string;
  editor: number;
  command: string;
  /** Of a prompt; no two are the same. */
  text?: string;
  /** Of an answer. */
  dialog?: string;
  index?: number;
  reply?: 'accepted' | { error: string };
  outcome?: string;
  why?: string;
}

export interface World {
  readonly home: EditorHome;
  readonly workspace: string;
  readonly editors: ReadonlyMap<number, Editor>;
  readonly sent: readonly Sent[];
  readonly problems: string[];
  /** What was done, for whoever has to understand a failure. */
  readonly story: string[];
  /** What was told of questions: by id, each different text once. */
  readonly settledDialogs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Prompts whose runs came to their own end. */
  readonly finished: ReadonlySet<string>;
  /** Waits as planned, then does the step. */
  play(step: Planned): Promise<void>;
  /** Nothing is stopped, stalled or full any more, and somebody is here. */
  calm(): void;
  intent(editor: Editor, command: string, params: Record<string, unknown>, text?: string): Promise<Sent>;
  /** Resolves when it holds; false when it does not in time. It is asked again whenever an editor hears something. */
  until(holds: () => boolean, milliseconds: number): Promise<boolean>;
  processes(kind: Kind): number[];
  close(): Promise<void>;
}
/** Milliseconds that a step waits for its editor to have joined, and for a question. */
const joining = 3000;
const asking = 1000;

export type Kind = 'server' | 'hub' | 'agent';

/** What an agent's command line has in it. */
export interface ChaosAgent {
  choice: AgentChoice;
  mark: string;
  /** The text that makes it say so many words, after a question where one is wanted. */
  prompt(number: number, say: number, ask: boolean): string;
}

export function createWorld(agentOf: (home: EditorHome) => ChaosAgent): World {
  const home = createEditorHome();
  const agent = agentOf(home);
  const workspace = projectFolder(home, undefined);
  const disk = createDisk(path.join(home.env.XDG_STATE_HOME!, 'atomic-lsp', 'log'));
  const socketFolder = path.join(home.env.XDG_RUNTIME_DIR!, 'atomic-lsp');
  const editors = new Map<number, Editor>();
  const sent: Sent[] = [];
  const problems: string[] = [];
  const story: string[] = [];
  const settledDialogs = new Map<string, Set<string>>();
  const finished = new Set<string>();
  const listeners = new Set<() => void>();
  /** By editor: prompts of the run that goes on, which are finished when it settles. */
  const running = new Map<number, string[]>();
  const began = Date.now();
  let heardFacts = 0;
  let prompts = 0;

  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  const tell = (what: string) => story.push(`${String(Date.now() - began).padStart(6)} ${what}`);
  const processes = (kind: Kind) => home.processes().filter((pid) => kindOf(pid, agent.mark) === kind);

  const heard = (slot: number) => (fact: Fact) => {
    heardFacts += 1;
    if (fact.type === 'intent_settled') {
      const known = sent.find(({ id }) => id === fact.intent);
      if (!known) return;
      if (known.outcome !== undefined && known.outcome !== fact.outcome)
        problems.push(
          `${known.command} ${known.text ?? ''} was told as ${known.outcome} and as ${fact.outcome}`,
        );
      known.outcome = fact.outcome;
      if (fact.error !== undefined) known.why = fact.error;
    }
    if (fact.type === 'dialog_settled') {
      const { id, outcome, answer } = fact;
      const texts = settledDialogs.get(id) ?? new Set();
      settledDialogs.set(id, texts.add(`${outcome} ${answer ?? ''}`.trim()));
    }
    if (fact.type === 'agent_start' || fact.type === 'agent_exited' || fact.type === 'session_replaced')
      running.delete(slot);
    if (fact.type === 'message_end' && fact.message.role === 'user')
      running.set(slot, [...(running.get(slot) ?? []), textOf(fact.message.content)]);
    if (fact.type === 'agent_settled' && fact.outcome.stopReason === 'stop')
      for (const text of running.get(slot) ?? []) finished.add(text);
  };
  const come = (slot: number) => {
    if (editors.has(slot)) return;
    const editor = createEditor({
      slot,
      env: home.env,
      workspace,
      agent: agent.choice,
      problem: (sentence) => {
        tell(`PROBLEM ${sentence}`);
        problems.push(sentence);
        changed();
      },
      heard: heard(slot),
      changed,
    });
    editors.set(slot, editor);
  };
  const intent: World['intent'] = async (editor, command, params, text) => {
    const it: Sent = { id: randomUUID(), editor: editor.slot, command, ...(text !== undefined && { text }) };
    if (command === 'answer') Object.assign(it, { dialog: params.dialog, index: params.index });
    sent.push(it);
    try {
      await editor.intent(it.id, command, params);
      it.reply = 'accepted';
    } catch (error) {
      it.reply = { error: (error as Error).message };
    }
    changed();
    return it;
  };
  const victims = (step: Extract<Step, { whom: unknown }>): number[] => {
    if (step.whom !== 'server') return processes(step.whom);
    const pid = editors.get(step.editor)?.pid;
    return pid === undefined ? [] : [pid];
  };
  const asked = (slot: number) => editors.get(slot)?.copy?.snapshot.dialogs[0];
  const signals = { kill: 'SIGKILL', stop: 'SIGSTOP', continue: 'SIGCONT' } as const;

  const perform = (step: Step) => {
    const editor = 'editor' in step ? editors.get(step.editor) : undefined;
    switch (step.do) {
      case 'come':
        return come(step.editor);
      case 'leave':
        editor?.leave(step.how);
        editors.delete(step.editor);
        return running.delete(step.editor);
      case 'prompt': {
        prompts += 1;
        const text = agent.prompt(prompts, step.say, step.ask);
        return editor && void intent(editor, 'prompt', { message: text }, text);
      }
      case 'answer':
        return step.editors.forEach((slot, index) => {
          const asked = editors.get(slot)?.copy?.snapshot.dialogs[0];
          if (asked)
            void intent(editors.get(slot)!, 'answer', { dialog: asked.id, index: (slot + index) % 3 });
        });
      case 'abort':
        return editor && void intent(editor, 'abort', {});
      case 'stall':
      case 'read':
        return editor?.reads(step.do === 'read');
      case 'kill':
      case 'stop':
      case 'continue':
        for (const pid of victims(step)) signalled(pid, signals[step.do]);
        return;
      case 'unlink':
        for (const name of fs.existsSync(socketFolder) ? fs.readdirSync(socketFolder) : [])
          fs.rmSync(path.join(socketFolder, name));
        return;
      case 'fill':
        return disk.fill();
      case 'free':
        return disk.free();
    }
  };
  const until: World['until'] = (holds, milliseconds) =>
    new Promise((resolve) => {
      const end = (result: boolean) => {
        clearTimeout(timer);
        clearInterval(again);
        listeners.delete(look);
        resolve(result);
      };
      const look = () => holds() && end(true);
      const timer = setTimeout(() => end(holds()), milliseconds);
      // The end of a process that is no child has no event.
      const again = setInterval(look, 50);
      listeners.add(look);
      look();
    });

  return {
    home,
    workspace,
    editors,
    sent,
    problems,
    story,
    settledDialogs,
    finished,
    async play({ facts, most, ready, ...step }) {
      if (ready && 'editor' in step && step.do !== 'come')
        await until(() => editors.get(step.editor)?.attached !== false, joining);
      if (ready && step.do === 'answer') await until(() => asked(step.editors[0]!) !== undefined, asking);
      const goal = heardFacts + facts;
      await until(() => heardFacts >= goal, most);
      tell(JSON.stringify(step));
      perform(step as Step);
    },
    calm() {
      tell('calm');
      disk.free();
      for (const pid of home.processes()) signalled(pid, 'SIGCONT');
      for (const editor of editors.values()) editor.reads(true);
      if (editors.size === 0) come(0);
    },
    intent,
    until,
    processes,
    async close() {
      disk.close();
      await home.close();
    },
  };
}

function kindOf(pid: number, mark: string): Kind | undefined {
  try {
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (words.some((word) => word.includes(mark))) return 'agent';
    const main = words.findIndex((word) => word.endsWith('/dist/main.js'));
    return main < 0 ? undefined : words[main + 1] === 'hub' ? 'hub' : 'server';
  } catch {
    return undefined;
  }
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((block) => (block as { text?: string }).text ?? '').join('')
    : '';
}
