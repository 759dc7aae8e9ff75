// The errors a person can meet. Guarantees: one error type, every error has a name from this one table, and its message
// is one sentence that names cause and cure. Must not know: who shows it (editor/ turns it into an LSP error in one
// place, cli/ into an exit code).

/** Error name → JSON-RPC code used on the hub's socket and in LSP answers (LSP: server-defined codes from -32099). */
export const errorCodes = {
  /** No agent could be started at all. */
  AgentNotFound: -32010,
  /** The agent process ended before it answered anything. */
  AgentStartFailed: -32011,
  /** The agent process ended while something was waiting for it. */
  AgentGone: -32012,
  /** The agent answered `success: false`. */
  AgentRefused: -32013,
  /** The agent does not know this command. */
  CommandUnavailable: -32014,
  /** The arguments do not fit the command. */
  BadArguments: -32602,
  /** Nobody knows such a command. */
  UnknownCommand: -32601,
  /** A prompt, steer or follow-up without text or images. */
  EmptyPrompt: -32015,
  /** The question was answered, withdrawn or timed out, or there was none. */
  NoSuchDialog: -32016,
  /** The session name or number is not known to the hub. */
  NoSuchSession: -32017,
  /** A read did not come back in time. */
  TimedOut: -32018,
  /** What happened to an intent is not known, because hub or agent died in between. */
  OutcomeUnknown: -32019,
  /** The hub could not be reached or started. */
  HubUnreachable: -32020,
  /** The place of the socket is not safe, not ours or too long. */
  SocketRefused: -32021,
  /** Hub and editor are of versions that cannot work together. */
  VersionSkew: -32022,
  /** A setting has a wrong key or value. */
  BadSetting: -32023,
  /** A file of the bridge could not be read or written. */
  FileFailed: -32024,
  /** A change of the agent could not be taken back. */
  RevertRefused: -32025,
  /** The request came before `initialize` or after `shutdown`. */
  NotReady: -32002,
  /** A fault of our own. */
  Internal: -32603,
} as const;

export type ErrorName = keyof typeof errorCodes;

/** The one error type. `message` is what a person reads; `data` is for programs. */
export class AtomicError extends Error {
  readonly code: ErrorName;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: ErrorName, message: string, data?: Record<string, unknown>) {
    super(message);
    this.name = 'AtomicError';
    this.code = code;
    this.data = data;
  }
}

/** Errors about what somebody gave us: the log says nothing more of them. */
const plain: ReadonlySet<ErrorName> = new Set(['BadArguments', 'UnknownCommand', 'EmptyPrompt']);

/** The sentence of any thrown value, and where more about it is written: `logs`, a folder, as far as it is known. */
export function withLog(error: unknown, logs: string | undefined): string {
  const message = error instanceof Error ? error.message : String(error);
  const more = logs !== undefined && !(error instanceof AtomicError && plain.has(error.code));
  return more ? `${message} (log: ${logs})` : message;
}

/** The wire form of any thrown value: JSON-RPC code, sentence, and the error's name under `data.name`. */
export function errorShape(error: unknown): {
  code: number;
  message: string;
  data: Record<string, unknown>;
} {
  if (error instanceof AtomicError)
    return {
      code: errorCodes[error.code],
      message: error.message,
      data: { ...error.data, name: error.code },
    };
  const message = error instanceof Error ? error.message : String(error);
  return { code: errorCodes.Internal, message, data: { name: 'Internal' } };
}

/** The error that a wire form stands for; the inverse of {@link errorShape}. Unknown names become `Internal`. */
export function errorFromShape(shape: { message: string; data?: unknown }): AtomicError {
  const data = (shape.data ?? {}) as Record<string, unknown>;
  const name = data.name as ErrorName;
  return new AtomicError(name in errorCodes ? name : 'Internal', shape.message, data);
}
