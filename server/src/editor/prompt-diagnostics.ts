// What is wrong in a prompt before it is sent (LSP: `textDocument/publishDiagnostics`). Guarantees: told a moment after the last
// change, never for a text that is not there any more; cleared when the document is closed. Must not know: what can be wrong.
import { type Diagnostic, DiagnosticSeverity } from 'vscode-languageserver';
import type { Plan, Problem } from '../prompt/plan.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import type { Documents } from './documents.ts';
import { rangeBetween } from './positions.ts';

export interface PromptDiagnostics {
  /** Something besides the prompts has changed: looks at all of them again. */
  again(): void;
  close(): void;
}

export interface PromptDiagnosticsParts {
  client: Client;
  documents: Documents;
  isPrompt(uri: string): boolean;
  plan(uri: string, text: string): Promise<Plan>;
  clock: Clock;
  log: Log;
}

/** Milliseconds after the last change. */
const quiet = 300;
const severities: Record<Problem['level'], DiagnosticSeverity> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
};

export function createPromptDiagnostics(parts: PromptDiagnosticsParts): PromptDiagnostics {
  const { client, documents, isPrompt, plan, clock, log } = parts;
  const planned = new Map<string, () => void>();
  /** By document: what the editor shows. */
  const shown = new Map<string, string>();

  const publish = (uri: string, diagnostics: Diagnostic[]) => {
    const now = JSON.stringify(diagnostics);
    if (now === (shown.get(uri) ?? '[]')) return;
    shown.set(uri, now);
    client.notify('textDocument/publishDiagnostics', { uri, diagnostics });
  };
  const check = async (uri: string) => {
    const text = documents.text(uri);
    if (text === undefined || !isPrompt(uri)) return;
    const { command, parts: mentions } = await plan(uri, text);
    if (documents.text(uri) !== text) return;
    publish(
      uri,
      [
        ...(command?.problem ? [{ ...command, problem: command.problem }] : []),
        ...mentions.flatMap(({ mention, problem }) => (problem ? [{ ...mention, problem }] : [])),
      ].map(({ start, end, problem }) => ({
        range: rangeBetween(text, start, end),
        severity: severities[problem.level],
        source: 'atomic',
        message: problem.sentence,
      })),
    );
  };
  const checkLater = (uri: string) => {
    planned.get(uri)?.();
    planned.set(
      uri,
      clock.after(quiet, () => {
        planned.delete(uri);
        check(uri).catch((error: unknown) =>
          log.warn({ error: String(error) }, 'a prompt could not be checked'),
        );
      }),
    );
  };
  const again = () => {
    for (const { uri } of documents.all()) if (isPrompt(uri)) checkLater(uri);
  };
  const ends = [
    // A document may be what a prompt names.
    documents.onOpen(again),
    documents.onChange((uri) => isPrompt(uri) && checkLater(uri)),
    documents.onClose((uri) => {
      planned.get(uri)?.();
      planned.delete(uri);
      publish(uri, []);
      shown.delete(uri);
      again();
    }),
  ];
  return {
    again,
    close() {
      for (const end of [...ends, ...planned.values()]) end();
    },
  };
}
