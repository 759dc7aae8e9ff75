// Code actions (LSP: `textDocument/codeAction`). Guarantees: complete at once, nothing is asked of the agent but what it said
// already; titles are one line and none is there twice; what the editor asks of its own accord gets nothing; only kinds that
// were asked for. Must not know: what becomes of a chosen one.
import type { CodeAction, CodeActionParams, Command, Diagnostic } from 'vscode-languageserver';
import { fenced } from '../prompt/reference.ts';
import { commandRow, commandTable } from '../protocol/commands.ts';
import type { Dialog } from '../protocol/facts.ts';
import type { AgentCommand } from '../protocol/records.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { oneLine } from './client.ts';
import type { Feature } from './features.ts';
import type { AskParams, Range } from './from-code.ts';
import { choicesOf, questionLine, uniqueTitles } from './question.ts';

export interface ActionsParts {
  /** The editor knows `CodeAction`; otherwise it gets commands (LSP: `codeActionLiteralSupport`). */
  literals: boolean;
  snapshot(): Snapshot | undefined;
  commands(): Promise<readonly AgentCommand[]>;
  /** The question that is being asked. */
  question(): Dialog | undefined;
  /** Whether a document is one of the session's own files. */
  own(uri: string): boolean;
}

interface Offer {
  title: string;
  kind: string;
  command: string;
  argument?: object;
  fixes?: Diagnostic[];
}

const ownSource = 'atomic';
const selection = 'refactor.rewrite.atomic';
const answering = 'quickfix.atomic';
const titleLength = 80;
/** Templates, answers and problems that one list holds. */
const most = 20;
const severities = ['error', 'error', 'warning', 'information', 'hint'];

export function createActions({ literals, snapshot, commands, question, own }: ActionsParts): Feature {
  const answers = (): Offer[] => {
    const dialog = question();
    if (!dialog) return [];
    const about = oneLine(questionLine(dialog), titleLength);
    const target = { dialog: dialog.id };
    const answer = commandRow('answer')!.id;
    const choices = choicesOf(dialog);
    const given = choices.slice(0, most).map(({ title, answer: value }) => ({
      title: `Answer “${title}” to: ${about}`,
      kind: answering,
      command: answer,
      argument: { ...target, ...value },
    }));
    const text = {
      title: `${choices.length > 0 ? 'Choose from a list for' : 'Write an answer to'}: ${about}`,
      kind: answering,
      command: answer,
      argument: target,
    };
    const refuse = {
      title: `Refuse to answer: ${about}`,
      kind: answering,
      command: commandRow('dialog_cancel')!.id,
      argument: target,
    };
    return [...given, ...(choices.length > 0 && choices.length <= most ? [] : [text]), refuse];
  };
  const onSelection = async ({ textDocument, range, context }: CodeActionParams): Promise<Offer[]> => {
    const { uri } = textDocument;
    const offer = (title: string, params: Partial<AskParams>, kind = selection): Offer => ({
      title,
      kind,
      command: commandRow('ask')!.id,
      argument: { uri, range, ...params },
    });
    const problems = context.diagnostics.filter(({ source }) => source !== ownSource).slice(0, most);
    const whole = problems.reduce((all, { range: own }) => joined(all, own), range);
    const templates = (await commands())
      .filter(({ source }) => source === 'prompt' || source === 'skill')
      .slice(0, most);
    return [
      ...(problems.length > 0
        ? [
            {
              ...offer(
                problems.length === 1 ? 'Fix this with Atomic' : `Fix these ${problems.length} with Atomic`,
                { range: whole, question: fixing(problems) },
                'quickfix',
              ),
              fixes: problems,
            },
          ]
        : []),
      offer('Ask Atomic about this', {}),
      offer('Explain this with Atomic', { question: 'Explain this.' }),
      { ...offer('Add this to the prompt of Atomic', {}), command: commandRow('add_to_prompt')!.id },
      ...templates.map(({ name, description }) =>
        offer(oneLine(`Atomic: /${name}${description ? ` (${description})` : ''}`, titleLength), {
          command: name,
        }),
      ),
    ];
  };
  const ofSession = (): Offer[] => {
    const now = snapshot();
    const busy = now !== undefined && (now.run ?? now.compaction ?? now.retry) !== null;
    return commandTable
      .filter(({ action }) => action === 'always' || (action === 'running' && busy))
      .filter(({ name }) => !now?.agent.unavailable.includes(name))
      .map(({ id, title }) => ({ title: `Atomic: ${title}`, kind: `source.${id}`, command: id }));
  };

  return {
    async 'textDocument/codeAction'(params) {
      const { textDocument, context } = params;
      // 2: automatic (LSP: `CodeActionTriggerKind`).
      if (context.triggerKind === 2) return [];
      const wanted = ({ kind }: Offer) =>
        context.only?.some((only) => only === '' || kind === only || kind.startsWith(`${only}.`)) ?? true;
      const offers = [
        ...answers(),
        ...(own(textDocument.uri) ? [] : await onSelection(params)),
        ...ofSession(),
      ].filter(wanted);
      const titles = uniqueTitles(
        offers.map(({ title }) => title),
        2 * titleLength,
      );
      return offers.map(({ kind, command, argument, fixes }, n): CodeAction | Command => {
        const title = titles[n]!;
        const call = { title, command, ...(argument && { arguments: [argument] }) };
        return literals ? { title, kind, command: call, ...(fixes && { diagnostics: fixes }) } : call;
      });
    },
  };
}

/** The request to mend problems that other servers found. */
function fixing(problems: readonly Diagnostic[]): string {
  const listed = problems.map(({ range: { start }, severity = 1, message, source, code }) => {
    const from = [source, code].filter((part) => part !== undefined && part !== '').join(' ');
    return `line ${start.line + 1}: ${severities[severity] ?? 'error'}: ${textOf(message)
      .trim()
      .replace(/\s*\n\s*/g, '\n  ')}${from ? ` (${from})` : ''}`;
  });
  // Fenced, so that nothing in it is a mention.
  return `Fix ${problems.length === 1 ? 'this problem' : 'these problems'}:\n\n${fenced(listed.join('\n'))}`;
}

/** LSP 3.18 has markup, too. */
const textOf = (message: Diagnostic['message']): string =>
  typeof message === 'string' ? message : message.value;

const before = (a: Range['start'], b: Range['start']): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character);

/** The smallest range that holds both. */
const joined = (a: Range, b: Range): Range => ({
  start: before(b.start, a.start) ? b.start : a.start,
  end: before(a.end, b.end) ? b.end : a.end,
});
