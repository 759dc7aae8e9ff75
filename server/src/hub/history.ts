// The prompts of a session, beside its transcript. Guarantees: those that the agent took, as the person wrote them, for the user
// alone; bounded; a damaged line costs that line; a file that cannot be written costs a line in the log. Must not know: who
// asks for them, what a prompt refers to.
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { promptCommands } from '../protocol/commands-prompting.ts';
import type { Journal } from '../session/journal.ts';
import type { KeptPrompt, Log, PromptHistory } from '../session/ports.ts';

export interface HistoryKeeper extends PromptHistory {
  /** Keeps the prompts of a journal from now on. */
  follow(journal: Pick<Journal, 'onAppend'>): void;
  /** Resolves when everything until now is written, or a write has failed. */
  flush(): Promise<void>;
}

export const historyFile = 'history.jsonl';
/** Prompts that are kept, and UTF-16 units of all together and of one. */
export const historyLimits = { count: 500, units: 2_000_000, one: 200_000 };

const line = z.object({ text: z.string(), at: z.number() });

export function createHistory({ folder, log }: { folder: string; log: Log }): HistoryKeeper {
  const file = path.join(folder, historyFile);
  /** The oldest first. */
  let prompts: KeptPrompt[] | undefined;
  /** Lines of the file, which may hold one text more than once. */
  let lines = 0;
  let unfinished = '';
  let work: Promise<unknown> = Promise.resolve();

  const loaded = async (): Promise<KeptPrompt[]> => {
    if (prompts) return prompts;
    const text = await readFile(file, 'utf8').catch(() => '');
    // After a crash in the middle of a line.
    if (text !== '' && !text.endsWith('\n')) unfinished = '\n';
    const all = text.split('\n').flatMap((one): KeptPrompt[] => {
      try {
        return [line.parse(JSON.parse(one))];
      } catch {
        return [];
      }
    });
    lines = all.length;
    prompts = bounded(all);
    return prompts;
  };
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const done = work.then(run);
    work = done.catch((error: unknown) =>
      log.warn({ error, file }, 'the file of earlier prompts could not be written'),
    );
    return done;
  };
  const keep = async (prompt: KeptPrompt) => {
    prompts = bounded([...(await loaded()), prompt]);
    lines += 1;
    if (lines <= 2 * historyLimits.count) {
      await appendFile(file, `${unfinished}${JSON.stringify(prompt)}\n`, { mode: 0o600 });
      unfinished = '';
      return;
    }
    const fresh = `${file}.${process.pid}.new`;
    try {
      await writeFile(fresh, prompts.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 });
      await rename(fresh, file);
      lines = prompts.length;
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  };

  return {
    async list(limit) {
      return (await inTurn(loaded)).slice(-limit).toReversed();
    },
    follow(journal) {
      const open = new Map<string, string>();
      journal.onAppend((fact) => {
        if (fact.type === 'intent_accepted' && promptCommands.has(fact.command) && fact.text?.trim())
          open.set(fact.intent, fact.text.trim());
        if (fact.type !== 'intent_settled') return;
        const text = open.get(fact.intent);
        open.delete(fact.intent);
        if (text === undefined || fact.outcome !== 'done' || text.length > historyLimits.one) return;
        inTurn(() => keep({ text, at: fact.at ?? 0 })).catch(() => {});
      });
    },
    flush: () => work.then(() => {}),
  };
}

/** The newest of each text, as many as are kept. */
function bounded(all: readonly KeptPrompt[]): KeptPrompt[] {
  const kept: KeptPrompt[] = [];
  const seen = new Set<string>();
  let units = 0;
  for (const prompt of all.toReversed()) {
    if (seen.has(prompt.text)) continue;
    seen.add(prompt.text);
    units += prompt.text.length;
    if (kept.length === historyLimits.count || units > historyLimits.units) break;
    kept.push(prompt);
  }
  return kept.reverse();
}
