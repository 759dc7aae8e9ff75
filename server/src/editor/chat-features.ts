// What editors show around the text of a chat document: symbols, folds, links, lenses, hints, hovers. Guarantees: nothing is asked
// of an agent that does not run; a document that is no chat is left alone. Must not know: how the text came there.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type CodeLens,
  type DocumentSymbol,
  type FoldingRange,
  InlayHintKind,
  type Range,
  SymbolKind,
} from 'vscode-languageserver';
import { URI } from 'vscode-uri';
import { type CallMade, callsOf } from '../chat/calls.ts';
import { outlineOf, type Part, type Turn } from '../chat/outline.ts';
import { placesIn } from '../chat/places.ts';
import { codeSpan, fenced } from '../session/transcript-text.ts';
import { oneLine } from './client.ts';
import type { Documents } from './documents.ts';
import type { Feature } from './features.ts';
import type { Link } from './link.ts';

/** The session that a chat is of. */
export interface ChatOf {
  readonly workspace: string;
  readonly link: Pick<Link, 'mirror' | 'read'>;
}
export interface ChatFeatureParts {
  documents: Documents;
  /** Undefined for a document that is no chat. */
  chatOf(uri: string): ChatOf | undefined;
}

const kinds: Record<Part['kind'], SymbolKind> = {
  tool: SymbolKind.Function,
  shell: SymbolKind.Method,
  question: SymbolKind.Event,
  thinking: SymbolKind.String,
};
/** UTF-16 units of a tool's arguments in a hover. */
const hovered = 20_000;

export function chatFeature({ documents, chatOf }: ChatFeatureParts): Feature {
  const textOf = (uri: string) => (chatOf(uri) ? documents.text(uri) : undefined);
  const snapshotOf = (uri: string) => chatOf(uri)?.link.mirror?.snapshot;
  const turnsOf = (uri: string): Turn[] => {
    const text = textOf(uri);
    return text === undefined ? [] : outlineOf(text);
  };
  /** By the prompt's text: the newest entry to fork from. */
  const forks = async (uri: string): Promise<Map<string, string>> => {
    if (snapshotOf(uri)?.agent.status !== 'running') return new Map();
    const { messages } = (await chatOf(uri)!.link.read('get_fork_messages', {})) as {
      messages?: { text?: unknown; entryId?: unknown }[];
    };
    return new Map((messages ?? []).map(({ text, entryId }) => [plain(String(text)), String(entryId)]));
  };

  return {
    'textDocument/documentSymbol': ({ textDocument: { uri } }) => turnsOf(uri).map(symbolOf),
    'textDocument/foldingRange': ({ textDocument: { uri } }) =>
      turnsOf(uri).flatMap((turn): FoldingRange[] =>
        [turn, ...turn.parts]
          .filter(({ line, end }) => end > line)
          .map(({ line, end }) => ({ startLine: line, endLine: end })),
      ),
    async 'textDocument/documentLink'({ textDocument: { uri } }, signal) {
      const text = textOf(uri);
      if (text === undefined) return [];
      const there = new Map<string, Promise<boolean>>();
      const links = placesIn(text).map(async ({ path: named, line, start, end, from }) => {
        const file = path.resolve(chatOf(uri)!.workspace, named);
        if (!there.has(file)) there.set(file, isFile(file));
        if (signal.aborted || !(await there.get(file))) return [];
        const target = URI.file(file).toString() + (from === undefined ? '' : `#L${from}`);
        return [{ range: rangeIn(line, start, end), target, tooltip: file }];
      });
      return (await Promise.all(links)).flat();
    },
    async 'textDocument/codeLens'({ textDocument: { uri } }) {
      const turns = turnsOf(uri).filter(({ prompt }) => prompt !== '');
      if (turns.length === 0) return [];
      const entries = await forks(uri);
      const snapshot = snapshotOf(uri);
      return turns.flatMap((turn, at): CodeLens[] => {
        const lens = (title: string, command: string, args: unknown[] = []) => ({
          range: rangeIn(turn.line, 0, 0),
          command: { title, command, arguments: args },
        });
        const entry = entries.get(plain(turn.prompt));
        const last = at === turns.length - 1;
        return [
          ...(last && snapshot?.run ? [lens('Stop', 'atomic.abort')] : []),
          ...(last && snapshot && !snapshot.run
            ? [lens('Ask again', 'atomic.prompt', [{ message: turn.prompt }])]
            : []),
          ...(turn.answers.length > 0
            ? [lens('Open to copy', 'atomic.openAnswer', [{ uri, line: turn.line }])]
            : []),
          ...(entry === undefined ? [] : [lens('Fork from here', 'atomic.fork', [{ entryId: entry }])]),
        ];
      });
    },
    'textDocument/inlayHint': ({ textDocument: { uri }, range }) =>
      turnsOf(uri)
        .filter(({ line, usage }) => usage.length > 0 && inside(line, range))
        .map(({ line, usage }) => ({
          position: { line, character: lengthOf(textOf(uri)!, line) },
          label: usage.at(-1)!,
          kind: InlayHintKind.Type,
          paddingLeft: true,
        })),
    'textDocument/hover'({ textDocument: { uri }, position: { line } }) {
      const text = textOf(uri);
      const snapshot = snapshotOf(uri);
      if (text === undefined || !snapshot) return null;
      const turns = outlineOf(text);
      const turn = turns.findLast((it) => it.line <= line && line <= it.end);
      if (turn?.line === line && turn.prompt !== '')
        return { contents: { kind: 'markdown', value: aboutTurn(turn) } };
      const tool = turn?.parts.find((part) => part.kind === 'tool' && part.line === line);
      if (!tool) return null;
      const lines = text.split(/\r\n|\n|\r/);
      const same = turns
        .flatMap((it) => it.parts)
        .filter((part) => part.kind === 'tool' && lines[part.line] === lines[line]);
      const fromEnd = same.length - same.indexOf(same.find((part) => part.line === line)!);
      const call = callsOf(snapshot)
        .filter(({ heading }) => heading === lines[line])
        .at(-fromEnd);
      return call ? { contents: { kind: 'markdown', value: aboutCall(call) } } : null;
    },
  };
}

function symbolOf(turn: Turn): DocumentSymbol {
  const range = rangeOfLines(turn.line, turn.end);
  return {
    name: oneLine(turn.title, 80) || 'Before the first prompt',
    kind: SymbolKind.Namespace,
    range,
    selectionRange: rangeIn(turn.line, 0, 0),
    children: turn.parts.map(({ kind, title, line, end }) => ({
      name: oneLine(title, 80),
      kind: kinds[kind],
      range: rangeOfLines(line, end),
      selectionRange: rangeIn(line, 0, 0),
    })),
  };
}

function aboutTurn({ parts, usage }: Turn): string {
  const tools = parts.filter(({ kind }) => kind === 'tool').length;
  return [tools === 1 ? '1 tool call' : `${tools} tool calls`, ...usage].join('\n\n');
}

function aboutCall({ name, args, milliseconds, state }: CallMade): string {
  const took = milliseconds === undefined ? '' : ` · ${(milliseconds / 1000).toFixed(1)} s`;
  const json = JSON.stringify(args, undefined, 2) ?? '{}';
  const shown = json.length > hovered ? `${json.slice(0, hovered)}…` : json;
  return `${codeSpan(oneLine(name, 60))} · ${state}${took}\n\n${fenced(shown, 'json')}`;
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const inside = (line: number, { start, end }: Range): boolean => start.line <= line && line <= end.line;
const lengthOf = (text: string, line: number): number => text.split(/\r\n|\n|\r/)[line]!.length;
const rangeIn = (line: number, start: number, end: number): Range => ({
  start: { line, character: start },
  end: { line, character: end },
});
const rangeOfLines = (line: number, end: number): Range => ({
  start: { line, character: 0 },
  end: { line: end + 1, character: 0 },
});

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
