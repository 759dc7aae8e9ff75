// What the editor asks about documents: hover, completion, symbols and the like. Guarantees: a method is announced exactly when
// a feature answers it; features answer side by side, and one that fails takes nothing from the others. Must not know: what
// any feature does.
import type {
  CodeAction,
  CodeActionParams,
  CodeLens,
  Command,
  CompletionItem,
  CompletionList,
  CompletionParams,
  DocumentLink,
  DocumentSymbol,
  FoldingRange,
  Hover,
  HoverParams,
  InlayHint,
  InlayHintParams,
  ServerCapabilities,
  TextDocumentIdentifier,
} from 'vscode-languageserver';
import { actionQuestion, documentQuestion, positionQuestion, rangeQuestion } from '../protocol/editor.ts';
import type { Log } from '../session/ports.ts';

interface About {
  textDocument: TextDocumentIdentifier;
}
/** LSP method → its parameters and what a feature answers; an empty list or null says that it has nothing here. */
export interface Questions {
  'textDocument/hover': [HoverParams, Hover | null];
  'textDocument/completion': [CompletionParams, CompletionList | null];
  'textDocument/codeAction': [CodeActionParams, (CodeAction | Command)[]];
  'textDocument/codeLens': [About, CodeLens[]];
  'textDocument/documentLink': [About, DocumentLink[]];
  'textDocument/documentSymbol': [About, DocumentSymbol[]];
  'textDocument/foldingRange': [About, FoldingRange[]];
  'textDocument/inlayHint': [InlayHintParams, InlayHint[]];
}
export type Question = keyof Questions;

/** Handlers by LSP method. The signal aborts when the editor cancels the request. */
export type Feature = {
  [M in Question]?: (
    params: Questions[M][0],
    signal: AbortSignal,
  ) => Questions[M][1] | Promise<Questions[M][1]>;
};

export interface Features {
  /** What `initialize` announces for them (LSP: `ServerCapabilities`). */
  readonly capabilities: Partial<ServerCapabilities>;
  /** The joined answer; never rejects. */
  answer(method: Question, params: unknown, signal: AbortSignal): Promise<unknown>;
}

const first = (answers: unknown[]): unknown => answers.find((answer) => answer != null) ?? null;
const all = (answers: unknown[]): unknown => answers.flatMap((answer) => answer ?? []);
const oneList = (answers: unknown[]): CompletionList => {
  const lists = answers.filter((answer): answer is CompletionList => answer != null);
  return {
    isIncomplete: lists.some(({ isIncomplete }) => isIncomplete),
    items: lists.flatMap(({ items }): CompletionItem[] => items),
  };
};

/** By method: what is announced, and how the answers of several features become one. */
const questions: Record<
  Question,
  { announced: Partial<ServerCapabilities>; join(answers: unknown[]): unknown }
> = {
  'textDocument/hover': { announced: { hoverProvider: true }, join: first },
  'textDocument/completion': {
    announced: { completionProvider: { triggerCharacters: ['/', '@', '#', ':', '"', ' '] } },
    join: oneList,
  },
  'textDocument/codeAction': { announced: { codeActionProvider: true }, join: all },
  'textDocument/codeLens': { announced: { codeLensProvider: {} }, join: all },
  'textDocument/documentLink': { announced: { documentLinkProvider: {} }, join: all },
  'textDocument/documentSymbol': { announced: { documentSymbolProvider: true }, join: all },
  'textDocument/foldingRange': { announced: { foldingRangeProvider: true }, join: all },
  'textDocument/inlayHint': { announced: { inlayHintProvider: true }, join: all },
};
export const allQuestions = Object.keys(questions) as Question[];

/** What the parameters of a question must be. */
export function questionParams(method: Question) {
  switch (method) {
    case 'textDocument/hover':
    case 'textDocument/completion':
      return positionQuestion;
    case 'textDocument/codeAction':
      return actionQuestion;
    case 'textDocument/inlayHint':
      return rangeQuestion;
    default:
      return documentQuestion;
  }
}

export function joinFeatures(features: readonly Feature[], log: Log): Features {
  const having = (method: Question) => features.filter((feature) => feature[method] !== undefined);
  return {
    capabilities: Object.assign(
      {},
      ...allQuestions
        .filter((method) => having(method).length > 0)
        .map((method) => questions[method].announced),
    ),
    async answer(method, params, signal) {
      const asked = having(method).map(async (feature) => {
        try {
          return await feature[method]!(params as never, signal);
        } catch (error) {
          if (!signal.aborted) log.warn({ error, method }, 'a feature failed');
          return null;
        }
      });
      return questions[method].join(await Promise.all(asked));
    },
  };
}
