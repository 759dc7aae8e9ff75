// The structure of a prompt: its command, what it mentions, its blocks of code. Guarantees: pure, linear. Must not know: LSP, whether
// anything of that exists.
import { codeZones } from './code-zones.ts';
import { commandIn, mentionsIn } from './mentions.ts';

/** UTF-16 offsets. */
export interface PromptPart {
  kind: 'command' | 'file' | 'document' | 'code';
  /** As it is written; of a block of code its first line without the fence. */
  title: string;
  start: number;
  end: number;
}

/** The parts of a prompt, in order. */
export function promptOutline(text: string): PromptPart[] {
  const command = commandIn(text);
  const named = mentionsIn(text).map(({ kind, start, end }) => ({
    kind,
    title: text.slice(start, end),
    start,
    end,
  }));
  const code = codeZones(text).flatMap(([start, to]): PromptPart[] => {
    const block = text.slice(start, to).trimEnd();
    const [first = '', second = ''] = block.split(/\r\n|\r|\n/, 2);
    if (!/^ {0,3}(`{3,}|~{3,})/.test(first)) return [];
    const title = first.replace(/^[ `~]+/, '').trim() || second.trim() || 'code';
    return [{ kind: 'code', title, start, end: start + block.length }];
  });
  const all: PromptPart[] = [...named, ...code];
  if (command) all.push({ ...command, kind: 'command', title: text.slice(command.start, command.end) });
  return all.sort((a, b) => a.start - b.start);
}
