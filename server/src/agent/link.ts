// The connection to one running agent. Guarantees: the session hears canonical facts, dialogs and one exit, in the order of
// the agent's output; whoever waits for an answer hears it before what the agent said next; the agent is stopped by the
// ladder abort, closed stdin, SIGTERM, SIGKILL. Must not know: sessions, editors, where the program came from.
import { AtomicError } from '../protocol/errors.ts';
import type { AgentFact } from '../protocol/facts.ts';
import type { AgentRecord, ResponseRecord } from '../protocol/records.ts';
import type { Agent, AgentEvents, Clock, Log } from '../session/ports.ts';
import { createCalls } from './calls.ts';
import { type Dialect, dialectShown } from './dialect.ts';
import { farewell } from './farewell.ts';
import { createLineSplitter } from './lines.ts';
import { type AgentProcess, ladder, type ProcessEnd } from './process.ts';
import { createLineParser } from './records.ts';
import { createSettler } from './settle.ts';
import { shapedMessage, worded } from './shape.ts';
import { createTranslator } from './translate.ts';
import { createUi } from './ui.ts';

/** The answers to these cut a run without a word of their own (protocol reference, sections 7 and 9). */
const replacements = new Set(['new_session', 'switch_session', 'fork', 'clone', 'import_session']);

/**
 * `output` and `end` are given to the process that `agent` then takes over. Only types, sizes and codes are logged, never what was
 * said.
 */
export function createLink({ clock, log }: { clock: Clock; log: Log }, events: AgentEvents) {
  let child: AgentProcess | undefined;
  let identity: Agent['identity'] = { command: '', name: '', demo: false };
  let expected = false;
  let spoke = false;
  let dialect: Dialect | undefined;
  let toldExit = () => {};
  const exitTold = new Promise<void>((resolve) => {
    toldExit = resolve;
  });

  const write = (line: string): boolean => child?.write(line) ?? false;
  const emit = (fact: AgentFact) => events.fact(fact);
  const calls = createCalls(write);
  const settler = createSettler(clock, emit, () => calls.call({ type: 'get_state' }));
  const parsedLine = createLineParser();
  const translator = createTranslator((type) => log.warn({ event: type }, 'unknown event of the agent'));
  const ui = createUi({
    fact: emit,
    dialog(dialog) {
      if (expected) ui.answer(dialog.id, { cancelled: true });
      else events.dialog(dialog);
    },
    withdrawn: (id) => events.dialogWithdrawn(id),
    write: (response) => write(`${JSON.stringify(response)}\n`),
    unknown: (method) => log.warn({ method }, 'unknown request of the agent for its user'),
  });

  const recognise = (record: AgentRecord) => {
    const shown = dialect ?? dialectShown(record);
    if (dialect || !shown) return;
    dialect = shown;
    settler.expect(shown === 'D1' ? 'no' : 'likely');
    log.info({ dialect: shown }, 'agent recognised');
  };

  const answered = (response: ResponseRecord) => {
    const call = calls.answered(response);
    if (!call) {
      log.debug({ command: worded(response.command) }, 'answer that nobody waits for');
      return;
    }
    const cancelled = (response.data as { cancelled?: unknown } | undefined)?.cancelled === true;
    if (response.success && !cancelled && replacements.has(call.type)) settler.replaced();
  };

  /** Takes one line; true when it was an answer, which whoever waits must hear before the next line. */
  const take = (line: Buffer): boolean => {
    const parsed = parsedLine(line);
    if ('garbage' in parsed) {
      log.debug({ what: parsed.garbage }, 'the agent wrote something else');
      return false;
    }
    const { record } = parsed;
    spoke = true;
    recognise(record);
    if (record.type === 'response') {
      answered(shapedResponse(record));
      return true;
    }
    if (record.type === 'extension_ui_request') {
      ui.request(record);
      return false;
    }
    const fact = translator.fact(record);
    if (fact?.type === 'native_settled') settler.native(fact.aborted);
    else if (fact) {
      emit(fact);
      settler.saw(fact);
    }
    return false;
  };

  /** A fault of ours in one line must not silence the agent. */
  const takeSafely = (line: Buffer): boolean => {
    try {
      return take(line);
    } catch (error) {
      log.error(
        { error: error instanceof Error ? error.stack : String(error) },
        'a record could not be handled',
      );
      return false;
    }
  };

  const reader = createReader(takeSafely, (busy) => (busy ? child?.pause() : child?.resume()));

  const bury = (end: ProcessEnd) => {
    const exit = farewell(identity, end, { expected, spoke, stderr: child?.lastWords() ?? '' });
    log.info({ code: end.code, signal: end.signal, expected }, 'agent ended');
    settler.died(exit.message);
    calls.end(new AtomicError(spoke || expected ? 'AgentGone' : 'AgentStartFailed', exit.message));
    // Whoever waited for an answer hears of its failure first.
    setImmediate(() => {
      events.exit(exit);
      toldExit();
    });
  };

  const within = (milliseconds: number, ...happening: Promise<void>[]): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(milliseconds, resolve);
      void Promise.race(happening).then(() => {
        cancel();
        resolve();
      });
    });

  const climbDown = async (running: AgentProcess) => {
    expected = true;
    ui.refuseAll();
    if (settler.running && !running.ended) {
      // Closing stdin in the middle of a run loses the reply (protocol reference 6.4).
      // First the queue, or the run would go on with it.
      calls.call({ type: 'clear_queue' }).catch(() => {});
      calls.call({ type: 'abort' }).catch(() => {});
      await within(ladder.settle, settler.idle(), exitTold);
    }
    running.closeInput();
    await within(ladder.close, exitTold);
    if (!running.ended) {
      running.terminate();
      await within(ladder.terminate, exitTold);
    }
    if (!running.ended) running.kill();
    await exitTold;
  };

  return {
    output: reader.push,
    end: (end: ProcessEnd) => reader.end(() => bury(end)),
    agent(running: AgentProcess, known: Agent['identity']): Agent {
      child = running;
      identity = known;
      let stopped: Promise<void> | undefined;
      return {
        identity: known,
        pid: running.pid,
        call: calls.call,
        answer: (dialog, answer) => ui.answer(dialog.id, answer),
        stop() {
          stopped ??= climbDown(running);
          return stopped;
        },
        kill() {
          expected = true;
          running.kill();
        },
      };
    },
  };
}

/** An answer whose error is a text and whose messages are messages. */
function shapedResponse(record: AgentRecord): ResponseRecord {
  const { data, error } = record;
  const messages = (data as { messages?: unknown } | null | undefined)?.messages;
  return {
    ...record,
    type: 'response',
    success: record.success === true,
    ...(error !== undefined && { error: worded(error) }),
    ...(record.command === 'get_messages' &&
      Array.isArray(messages) && { data: { ...(data as object), messages: messages.map(shapedMessage) } }),
  } as ResponseRecord;
}

/**
 * Chunks of bytes to lines, in order. After a line for which `take` returns true the next one waits for the next round of the
 * event loop, and `busy` holds the source back meanwhile.
 */
export function createReader(take: (line: Buffer) => boolean, busy: (busy: boolean) => void) {
  const splitter = createLineSplitter();
  let lines: Buffer[] = [];
  let at = 0;
  let waiting = false;
  let over: (() => void) | undefined;

  const proceed = () => {
    while (at < lines.length) {
      const line = lines[at]!;
      at += 1;
      if (!take(line)) continue;
      waiting = true;
      busy(true);
      setImmediate(() => {
        waiting = false;
        busy(false);
        proceed();
      });
      return;
    }
    lines = [];
    at = 0;
    const tell = over;
    over = undefined;
    tell?.();
  };

  const add = (more: Buffer[]) => {
    if (at >= lines.length) {
      lines = more;
      at = 0;
    } else {
      lines = lines.slice(at).concat(more);
      at = 0;
    }
    if (!waiting) proceed();
  };

  return {
    push: (chunk: Buffer) => add(splitter.push(chunk)),
    /** Calls `done` once every line, the last one without LF too, was taken. */
    end(done: () => void) {
      over = done;
      const last = splitter.end();
      add(last ? [last] : []);
    },
  };
}
