// The demo agent's answer to `bash`. Guarantees: nothing is ever run, and the output and the exit code say so (126: found, but not
// run); commands overlap, and stop by id or all together. Must not know: runs.
import type { Clock } from '../../session/ports.ts';
import { pause } from './pause.ts';
import type { DemoSession } from './session.ts';
import type { Command, Wire } from './wire.ts';

const pace = 400;

/** Pretended shell commands (protocol reference 3.9). */
export function createShell(world: { wire: Wire; session: DemoSession; clock: Clock }) {
  const { wire, session, clock } = world;
  const running = new Map<AbortController, unknown>();
  return {
    async bash(command: Command): Promise<void> {
      if (typeof command.command !== 'string') {
        wire.refuse(command, 'bash needs "command", a text');
        return;
      }
      const control = new AbortController();
      running.set(control, command.id);
      const lines = [
        'The demo agent runs nothing. It would have run:\n',
        `${command.command}\n`,
        'Install Atomic to run it for real.\n',
      ];
      let output = '';
      try {
        for (const delta of lines) {
          await pause(clock, pace, control.signal);
          output += delta;
          const id = command.id === undefined ? {} : { id: command.id };
          wire.send({ type: 'bash_execution_update', ...id, channel: 'stdout', delta });
        }
      } catch {
        // Stopped: what was written so far is the output.
      }
      running.delete(control);
      const cancelled = control.signal.aborted;
      const data = { output, ...(!cancelled && { exitCode: 126 }), cancelled, truncated: false };
      const excluded = command.excludeFromContext === true && { excludeFromContext: true };
      const message = { role: 'bashExecution', command: command.command, ...data, ...excluded };
      session.add('message', { message: { ...message, timestamp: clock.now() } });
      wire.done(command, data);
    },
    /** Stops the command with this id; without one, all. */
    abort(id?: unknown): void {
      for (const [control, own] of running) if (id === undefined || own === id) control.abort();
    },
  };
}
