// Questions and announcements of extensions and logins. Guarantees: a question becomes a dialog, its answer goes back in the
// form that its method wants (the original option text, or the option's id for logins), once; what is no question becomes a
// fact; a question of a kind that nobody can show is refused, so that the agent does not wait for ever. Must not know: who
// answers, how questions are shown.
import type { AgentFact, Dialog, DialogAnswer } from '../protocol/facts.ts';
import type { AgentRecord } from '../protocol/records.ts';
import { worded } from './shape.ts';

type OpenDialog = Omit<Dialog, 'openedAt'>;

export interface UiHandlers {
  fact(fact: AgentFact): void;
  dialog(dialog: OpenDialog): void;
  withdrawn(id: string): void;
  /** Writes an `extension_ui_response`; false when the agent is gone. */
  write(response: Record<string, unknown>): boolean;
  unknown(method: string): void;
}

export interface Ui {
  request(record: AgentRecord): void;
  /** Answers a dialog that is open at the agent; false when it is not. */
  answer(id: string, answer: DialogAnswer): boolean;
  /** Refuses everything that is open, without telling anyone: the agent is about to be stopped. */
  refuseAll(): void;
}

interface OpenQuestion {
  method: string;
  /** What goes back for the option at an index. */
  values: unknown[];
  login?: string;
}

const announcements = new Set([
  'notify',
  'setStatus',
  'setWidget',
  'setTitle',
  'set_editor_text',
  'oauth_auth',
  'oauth_device_code',
  'oauth_progress',
  'oauth_info',
]);

/** What is shown of an announcement: a text, or lines of it. */
const shownTexts = new Set(
  'statusKey statusText widgetKey widgetLines title text message notifyType url verificationUri userCode instructions'.split(
    ' ',
  ),
);

/** The extension UI protocol, agent's page of that name; protocol reference, section 5. */
export function createUi(handlers: UiHandlers): Ui {
  const open = new Map<string, OpenQuestion>();

  const respond = (id: string, response: Record<string, unknown>) =>
    handlers.write({ type: 'extension_ui_response', id, ...response });

  const withdrawManualCode = (login: string) => {
    for (const [id, question] of open) {
      if (question.method !== 'oauth_manual_code' || question.login !== login) continue;
      open.delete(id);
      handlers.withdrawn(id);
    }
  };

  const announce = (record: AgentRecord) => {
    const { type: _, method, ...rest } = record;
    for (const [key, value] of Object.entries(rest))
      if (shownTexts.has(key)) rest[key] = Array.isArray(value) ? value.map(worded) : value && worded(value);
    handlers.fact({ ...rest, type: 'extension_ui_request', method: worded(method) });
  };

  return {
    request(record) {
      const method = text(record.method) ?? '';
      if (method === 'oauth_manual_code_cancel') {
        withdrawManualCode(loginOf(record));
        return;
      }
      if (announcements.has(method)) {
        announce(record);
        return;
      }
      const id = typeof record.id === 'string' ? record.id : undefined;
      const question = id === undefined ? undefined : questionIn(id, method, record);
      if (id === undefined || !question) {
        announce(record);
        handlers.unknown(method);
        if (id !== undefined) respond(id, { cancelled: true });
        return;
      }
      open.set(id, { method, values: question.values, login: loginOf(record) });
      handlers.dialog(question.dialog);
    },
    answer(id, answer) {
      const question = open.get(id);
      if (!question) return false;
      open.delete(id);
      return respond(id, responseTo(question, answer));
    },
    refuseAll() {
      for (const id of open.keys()) respond(id, { cancelled: true });
      open.clear();
    },
  };
}

function responseTo(question: OpenQuestion, answer: DialogAnswer): Record<string, unknown> {
  if (answer.cancelled) return { cancelled: true };
  if (question.method === 'confirm')
    return answer.confirmed === undefined ? { cancelled: true } : { confirmed: answer.confirmed };
  if (answer.index !== undefined && answer.index in question.values)
    return { value: question.values[answer.index] };
  return answer.value !== undefined && question.values.length === 0
    ? { value: answer.value }
    : { cancelled: true };
}

const loginOf = (record: AgentRecord): string => `${worded(record.provider)}\n${worded(record.loginId)}`;

/** The dialog that a request stands for, and what goes back for each option; undefined for a method nobody knows. */
function questionIn(
  id: string,
  method: string,
  record: AgentRecord,
): { dialog: OpenDialog; values: unknown[] } | undefined {
  const timeout = typeof record.timeout === 'number' && record.timeout > 0 ? { timeout: record.timeout } : {};
  const prompt = (record.prompt ?? {}) as Record<string, unknown>;
  const title = text(record.title) ?? '';
  const placeholder = text(record.placeholder);
  switch (method) {
    case 'confirm': {
      const message = text(record.message);
      return {
        dialog: { id, method, title, ...(message !== undefined && { message }), ...timeout },
        values: [],
      };
    }
    case 'input':
      return {
        dialog: { id, method, title, ...(placeholder !== undefined && { placeholder }), ...timeout },
        values: [],
      };
    case 'editor': {
      const prefill = text(record.prefill);
      return {
        dialog: { id, method, title, ...(prefill !== undefined && { prefill }), ...timeout },
        values: [],
      };
    }
    case 'oauth_prompt': {
      const hint = text(prompt.placeholder);
      return {
        dialog: {
          id,
          method,
          title: text(prompt.message) ?? `Login to ${worded(record.provider)}`,
          ...(hint !== undefined && { placeholder: hint }),
        },
        values: [],
      };
    }
    case 'oauth_manual_code':
      return {
        dialog: {
          id,
          method,
          title: `Paste the code or the redirect address of the login to ${worded(record.provider)}`,
          secret: true,
        },
        values: [],
      };
    case 'oauth_select': {
      const options = (Array.isArray(prompt.options) ? prompt.options : []) as {
        id?: unknown;
        label?: unknown;
      }[];
      return {
        dialog: {
          id,
          method,
          title: text(prompt.message) ?? `Login to ${worded(record.provider)}`,
          options: options.map((option) => text(option?.label) ?? worded(option?.id)),
        },
        values: options.map((option) => option?.id),
      };
    }
    default: {
      // `select`, and whatever a newer agent asks in the same form.
      if (!Array.isArray(record.options) || (method !== 'select' && record.options.some(notText)))
        return undefined;
      return {
        dialog: { id, method, title, options: record.options.map(worded), ...timeout },
        values: record.options,
      };
    }
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const notText = (value: unknown): boolean => typeof value !== 'string';
