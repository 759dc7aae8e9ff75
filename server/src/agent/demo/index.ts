// The built-in demo agent: stands in where no agent is installed. Guarantees: speaks the newest dialect over two streams (bytes in,
// JSON lines out), ends with its input, changes no file, runs nothing, reads nothing but names in the workspace's folder. Must
// not know: the bridge that it talks to.
import type { Readable, Writable } from 'node:stream';
import type { ImageBlock, Message } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { createLineSplitter } from '../lines.ts';
import { createHandlers } from './commands.ts';
import { createCompactor } from './compaction.ts';
import { systemClock } from './pause.ts';
import { createRunner } from './runner.ts';
import { createPlayer, expanded } from './scenes.ts';
import { createSession } from './session.ts';
import { createShell } from './shell.ts';
import { createUi } from './ui.ts';
import { type Command, createWire } from './wire.ts';

export interface DemoOptions {
  input: Readable;
  output: Writable;
  /** The workspace's folder. */
  cwd: string;
  /** Only `--name` and `-n` are looked at; every other argument of a real agent is accepted. */
  argv: readonly string[];
  clock?: Clock;
}

const named = (argv: readonly string[]): string | undefined => {
  const at = argv.findLastIndex((arg) => arg === '--name' || arg === '-n');
  return at < 0 ? undefined : argv[at + 1];
};

const busy =
  "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";

/**
 * Runs the demo agent until its input ends (exit code 0) or its output breaks (exit code 1), as `atomic --mode rpc` does
 * (protocol reference 6.4). Never rejects.
 */
export function runDemoAgent({
  input,
  output,
  cwd,
  argv,
  clock = systemClock,
}: DemoOptions): Promise<number> {
  const life = new AbortController();
  const wire = createWire(output);
  const ui = createUi(wire.send, clock);
  const session = createSession(clock, named(argv));
  const steps = createPlayer({ ui, clock, session, cwd });
  const runner = createRunner({ send: wire.send, clock, session, steps });
  const compactor = createCompactor({ send: wire.send, session, clock, life: life.signal });
  const shell = createShell({ wire, session, clock });
  const handlers = createHandlers({ wire, session, runner, ui, clock, compactor, life: life.signal });

  const userMessage = (text: string, images: unknown): Message => ({
    role: 'user',
    content: [{ type: 'text', text }, ...(Array.isArray(images) ? (images as ImageBlock[]) : [])],
    timestamp: clock.now(),
  });

  const extensionCommand = async (command: Command, play: ReturnType<typeof expanded>) => {
    if (!('command' in play)) return;
    try {
      await play.command(ui, life.signal);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      wire.send({ type: 'extension_error', extensionPath: '<demo>', event: 'command', error: problem });
    }
    wire.done(command);
  };

  const prompt = (command: Command) => {
    if (typeof command.message !== 'string') {
      wire.refuse(command, 'prompt needs "message", a text');
      return;
    }
    const play = expanded(command.message);
    if ('command' in play) {
      // Not awaited: a command that asks must not hold up the lane (protocol reference 8.1).
      void extensionCommand(command, play);
      return;
    }
    const message = userMessage(play.text, command.images);
    if (runner.busy && command.streamingBehavior === undefined) wire.refuse(command, busy);
    else if (runner.busy || runner.settings.paused) {
      runner.enqueue(command.streamingBehavior === 'followUp' ? 'followUp' : 'steering', message);
      wire.done(command);
    } else {
      wire.done(command);
      runner.start(message);
    }
  };

  const enqueue = (command: Command, queue: 'steering' | 'followUp') => {
    if (typeof command.message !== 'string') {
      wire.refuse(command, `${command.type} needs "message", a text`);
      return;
    }
    const play = expanded(command.message);
    if ('command' in play) {
      wire.refuse(command, `Extension command "/${play.name}" cannot be queued. Use prompt instead.`);
      return;
    }
    runner.enqueue(queue, userMessage(play.text, command.images));
    wire.done(command);
  };

  const ordinary = async (command: Command): Promise<void> => {
    if (command.type === 'prompt') return prompt(command);
    if (command.type === 'steer') return enqueue(command, 'steering');
    if (command.type === 'follow_up') return enqueue(command, 'followUp');
    const handler = Object.hasOwn(handlers, command.type) ? handlers[command.type] : undefined;
    if (!handler) return wire.refuse(command, `Unknown command: ${command.type}`);
    try {
      wire.done(command, await handler(command));
    } catch (error) {
      wire.refuse(command, error instanceof Error ? error.message : String(error));
    }
  };

  /** Commands that never wait for the ordinary lane (protocol reference 8.1). */
  const interrupts: Record<string, (command: Command) => void> = {
    abort: (command) => runner.abort(() => wire.done(command)),
    abort_retry(command) {
      runner.abortRetry();
      wire.done(command);
    },
    abort_compaction(command) {
      compactor.abort();
      wire.done(command);
    },
    abort_bash(command) {
      shell.abort(command.requestId);
      wire.done(command);
    },
    cancel_login_provider: (command) => wire.done(command, handlers.cancel_login_provider?.(command)),
    clear_queue: (command) => wire.done(command, runner.clear()),
    pause_queued_messages(command) {
      runner.settings.paused = true;
      wire.done(command);
    },
    resume_queued_messages(command) {
      const released = runner.settings.paused;
      runner.settings.paused = false;
      wire.done(command, { released });
    },
    bash: (command) => void shell.bash(command),
    user_bash: (command) => void shell.bash(command),
    refresh_models: (command) => wire.done(command, handlers.refresh_models?.(command)),
    extension_ui_response: (response) => ui.answered(response),
  };

  let lane = Promise.resolve();
  const take = (line: string) => {
    let command: Command;
    try {
      command = Object(JSON.parse(line));
    } catch (error) {
      wire.refuse({ type: 'parse' }, `Failed to parse command: ${(error as Error).message}`);
      return;
    }
    const interrupt = Object.hasOwn(interrupts, command.type) ? interrupts[command.type] : undefined;
    if (interrupt) interrupt(command);
    else lane = lane.then(() => ordinary(command));
  };

  return new Promise((resolve) => {
    const splitter = createLineSplitter();
    let over = false;
    const end = (code: number) => {
      if (over) return;
      over = true;
      shell.abort();
      // One more round of the event loop, so that what was read is answered.
      setImmediate(() => {
        wire.close();
        life.abort();
        runner.abort(() => {});
        resolve(code);
      });
    };
    input.on('data', (chunk: Buffer | string) => {
      for (const line of splitter.push(Buffer.from(chunk))) take(line.toString());
    });
    input.on('end', () => {
      const rest = splitter.end();
      if (rest) take(rest.toString());
      end(0);
    });
    input.on('error', () => end(0));
    input.on('close', () => end(0));
    output.on('error', () => end(1));
  });
}
