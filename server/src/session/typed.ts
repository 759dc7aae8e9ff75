// Commands of the agent's terminal typed as a prompt. Guarantees: what has a command of its own goes there, what lives in
// the terminal alone is refused with a hint, everything else is a prompt. Must not know: how a command is carried out.
import { AtomicError } from '../protocol/errors.ts';

export interface Typed {
  command: string;
  params: Record<string, unknown>;
}

type Meaning = (rest: string) => Typed | { hint: string };

const plain =
  (command: string): Meaning =>
  () => ({ command, params: {} });
const withText =
  (command: string, param: string, hint: string): Meaning =>
  (rest) =>
    rest ? { command, params: { [param]: rest } } : { hint };
const elsewhere =
  (hint: string): Meaning =>
  () => ({ hint });
const terminalOnly = elsewhere('it belongs to the agent’s own terminal; run the agent there for it');

const meanings: Record<string, Meaning> = {
  compact: (rest) => ({ command: 'compact', params: rest ? { customInstructions: rest } : {} }),
  new: plain('new_session'),
  clear: plain('new_session'),
  clone: plain('clone'),
  reload: plain('reload'),
  model: (rest) => {
    const slash = rest.indexOf('/');
    return slash > 0
      ? { command: 'set_model', params: { provider: rest.slice(0, slash), modelId: rest.slice(slash + 1) } }
      : { hint: 'use atomic.setModel, or write /model provider/model' };
  },
  thinking: withText('set_thinking_level', 'level', 'use atomic.setThinkingLevel, or write /thinking high'),
  name: withText('set_session_name', 'name', 'use atomic.setSessionName, or write /name some name'),
  export: (rest) => ({ command: 'export_html', params: rest ? { outputPath: rest } : {} }),
  import: withText('import_session', 'inputPath', 'use atomic.importSession with a path'),
  login: withText('login_provider', 'provider', 'use atomic.loginProvider'),
  logout: withText('logout_provider', 'provider', 'use atomic.logoutProvider'),
  resume: elsewhere('use atomic.switchSession'),
  fork: elsewhere('use atomic.fork'),
  tree: elsewhere('use atomic.navigateTree'),
  session: elsewhere('use atomic.getSessionStats'),
  settings: terminalOnly,
  hotkeys: terminalOnly,
  'scoped-models': terminalOnly,
  changelog: terminalOnly,
  share: terminalOnly,
  copy: terminalOnly,
  quit: terminalOnly,
  exit: terminalOnly,
};

/** The word after the slash of a prompt that begins like a command; undefined for any other prompt. */
export const slashWord = (message: string): string | undefined => /^\/([^\s/]+)(?:\s|$)/.exec(message)?.[1];

/**
 * What a typed command of the terminal stands for; undefined when it is none. Throws `AgentRefused` with a hint where it
 * cannot be done from here.
 */
export function typedCommand(message: string): Typed | undefined {
  const word = slashWord(message);
  if (word === undefined || !Object.hasOwn(meanings, word)) return undefined;
  const meaning = meanings[word]!(message.slice(word.length + 1).trim());
  if ('hint' in meaning)
    throw new AtomicError('AgentRefused', `/${word} is not sent to the model: ${meaning.hint}.`);
  return meaning;
}

/** The words that stand for a command here, with its name in the table. */
export function typedCommands(): { name: string; command: string }[] {
  return Object.entries(meanings).flatMap(([name, meaning]) => {
    const typed = meaning('a/b');
    return 'command' in typed ? [{ name, command: typed.command }] : [];
  });
}
