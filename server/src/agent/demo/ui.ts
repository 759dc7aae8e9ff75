// The demo agent's questions and notices. Guarantees: every question resolves once, by an answer, its timeout or its signal, the
// last two in silence as the real agent does (protocol reference 5.3); unknown and late answers are ignored. Must not know: what
// is asked.
import { randomUUID } from 'node:crypto';
import type { AgentRecord } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';

export interface Answer {
  value?: string;
  confirmed?: boolean;
  cancelled?: boolean;
}

export interface Question {
  method: string;
  timeout?: number;
  [key: string]: unknown;
}

export interface Ui {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  tell(method: string, fields: Record<string, unknown>): void;
  /** An `extension_ui_response` line (protocol reference 5.2). */
  answered(response: Record<string, unknown>): void;
}

/** Questions over the wire (protocol page "RPC extension UI protocol"). */
export function createUi(send: (record: AgentRecord) => void, clock: Clock): Ui {
  const open = new Map<string, (answer: Answer) => void>();
  const request = (method: string, fields: Record<string, unknown>): string => {
    const id = randomUUID();
    send({ type: 'extension_ui_request', id, method, ...fields });
    return id;
  };
  return {
    ask({ method, ...fields }, signal) {
      if (signal.aborted) return Promise.resolve({ cancelled: true });
      return new Promise((resolve) => {
        let cancelTimer = () => {};
        const settle = (answer: Answer) => {
          open.delete(id);
          cancelTimer();
          signal.removeEventListener('abort', withdraw);
          resolve(answer);
        };
        const withdraw = () => settle({ cancelled: true });
        const id = request(method, fields);
        open.set(id, settle);
        signal.addEventListener('abort', withdraw, { once: true });
        if (fields.timeout !== undefined) cancelTimer = clock.after(fields.timeout, withdraw);
      });
    },
    tell: request,
    answered({ id, value, confirmed, cancelled }) {
      open.get(String(id))?.({
        ...(typeof value === 'string' && { value }),
        ...(typeof confirmed === 'boolean' && { confirmed }),
        ...(cancelled === true && { cancelled }),
      });
    },
  };
}
