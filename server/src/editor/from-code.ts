// What a person asks from a place in a document. Guarantees: the agent gets the lines as the editor has them; a saved place is a
// mention in the prompt file, an unsaved one its text. Must not know: how places are offered (actions.ts), how a prompt travels.
import { isUnsaved, plain, textOnDisk } from '../prompt/file-text.ts';
import { mentionOf } from '../prompt/mentions.ts';
import { shownPath } from '../prompt/places.ts';
import { blockLimit, type Lines, lineNumbers, type Reference, referenceBlock } from '../prompt/reference.ts';
import { AtomicError } from '../protocol/errors.ts';
import type { AgentCommand } from '../protocol/records.ts';
import { type Documents, pathOf } from './documents.ts';
import type { Draft } from './draft.ts';
import type { Tab } from './tabs.ts';

/** LSP: `Range`. */
export interface Range {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** The parameters of `atomic.ask` and `atomic.addToPrompt`. */
export interface AskParams {
  uri?: string;
  range?: Range;
  question?: string;
  command?: string;
  text?: string;
}

export interface FromCode {
  ask(params: AskParams, tab: Tab): Promise<void>;
  add(params: AskParams, tab: Tab): Promise<void>;
}

export interface FromCodeParts {
  documents: Documents;
  draft: Draft;
  /** Absolute folders; paths below them are named from them. The agent works in the first. */
  folders(tab: Tab): readonly string[];
  /** The agent's own commands, as far as they are known. */
  commands(tab: Tab): Promise<readonly AgentCommand[]>;
  /** Sends a prompt; resolves when the hub has accepted it. */
  send(tab: Tab, message: string): Promise<void>;
}

export function createFromCode({ documents, draft, folders, commands, send }: FromCodeParts): FromCode {
  const referenceTo = async (tab: Tab, uri: string, range: Range | undefined): Promise<Reference> => {
    const file = pathOf(uri);
    const document = documents.get(uri);
    const whole = document ? plain(document.text) : file && (await textOnDisk(file));
    if (whole === undefined)
      throw new AtomicError(
        'BadArguments',
        `${file ?? uri} is neither open nor to be read: open or save it, then ask again.`,
      );
    const lines = range && linesOf(range, whole);
    return {
      ...(file !== undefined && { path: shownPath(file, { folders: folders(tab) }) }),
      ...(lines && { lines }),
      text: lines
        ? whole
            .split('\n')
            .slice(lines.from - 1, lines.to)
            .join('\n')
        : whole,
      unsaved: document !== undefined && (await isUnsaved({ ...(file && { file }), text: whole })),
      languageId: document?.languageId ?? '',
    };
  };
  /** For a person to read, and for the agent to look up: the text only where no file has it. */
  const short = (reference: Reference): string =>
    reference.unsaved || reference.path === undefined
      ? referenceBlock(reference)
      : mentionOf('@', reference.path) + lineNumbers(reference.lines);
  /** With its text, but not with more of it than the agent may want. */
  const full = (reference: Reference): string =>
    reference.text.length > blockLimit ? short(reference) : referenceBlock(reference);

  const typed = async (
    tab: Tab,
    name: string,
    reference: Reference | undefined,
    question: string | undefined,
  ) => {
    const found = (await commands(tab)).find((command) => command.name === name);
    // A template takes words, and a quoted text as one of them; a skill takes the text as it is.
    const place = reference && short(reference);
    const quoted =
      place !== undefined && found?.source !== 'skill' && place.includes('\n')
        ? `"${place.replaceAll('"', '\\"')}"`
        : place;
    return [`/${name}`, ...[question, quoted].filter((part) => part !== undefined)].join(' ');
  };

  return {
    async ask({ uri, range, question, command }, tab) {
      const reference = uri === undefined ? undefined : await referenceTo(tab, uri, range);
      if (command !== undefined) return send(tab, await typed(tab, command, reference, question));
      if (question !== undefined)
        return send(tab, reference ? `${question}\n\n${full(reference)}` : question);
      await draft.add(tab.id, reference ? short(reference) : '', { shown: true });
    },
    async add({ uri, range, text }, tab) {
      const reference = uri === undefined ? undefined : await referenceTo(tab, uri, range);
      const parts = [text, reference && short(reference)].filter((part) => part !== undefined);
      await draft.add(tab.id, parts.join('\n\n'), { shown: false });
    },
  };
}

/** The lines that a range touches; one that ends at the beginning of a line does not touch that line. */
function linesOf({ start, end }: Range, text: string): Lines {
  const count = text.split('\n').length;
  const last = end.line > start.line && end.character === 0 ? end.line - 1 : end.line;
  const within = (line: number) => Math.min(line, count - 1) + 1;
  return { from: within(start.line), to: within(Math.max(start.line, last)) };
}
