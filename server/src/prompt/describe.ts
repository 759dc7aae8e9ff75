// What will be sent, in Markdown for a person. Guarantees: pure; short, whatever it is about. Must not know: who shows it.
import { commandRow } from '../protocol/commands.ts';
import type { AgentCommand } from '../protocol/records.ts';
import { literal } from '../session/transcript-text.ts';
import { typedCommands } from '../session/typed.ts';
import { type Part, type Plan, sized } from './plan.ts';
import { blockLimit } from './reference.ts';

/** Lines, and UTF-16 units of one, that are shown. */
const shownLines = 12;
const lineLength = 160;

/** What becomes of a mention. */
export function describedPart({ mention, target, becomes, problem }: Part): string {
  const lines: string[] = [];
  if (target.kind === 'text') {
    const { text, count, unsaved, languageId } = target;
    const where = target.lines
      ? `${target.lines.from === target.lines.to ? `line ${target.lines.from}` : `lines ${target.lines.from}–${target.lines.to}`} of ${count}`
      : `${count} ${count === 1 ? 'line' : 'lines'}`;
    const size = sized(Buffer.byteLength(text));
    const cut = text.length > blockLimit ? `, the first ${sized(blockLimit)} of them` : '';
    const fate = becomes === 'text' ? `are sent with the prompt${cut}` : 'are not sent, only the name is';
    lines.push(
      `**${literal(target.shown ?? mention.name)}**: ${where}, ${size} ${fate}.${unsaved ? ' They are the editor’s text, which is not saved yet.' : ''}`,
      fenced(text, languageId),
    );
  } else if (target.kind === 'image') {
    const { image, size, shown } = target;
    const pixels = image.width === undefined ? '' : `, ${image.width} × ${image.height} pixels`;
    lines.push(
      `**${literal(shown)}**: ${image.mimeType}${pixels}, ${sized(size)}${becomes === 'image' ? ', is sent as an image' : ''}.`,
    );
  } else if (target.kind === 'folder') {
    const { entries, more, shown } = target;
    lines.push(
      `**${literal(shown)}**: a folder; the names of ${entries.length + more} entries ${becomes === 'listing' ? 'are sent' : 'are not sent'}.`,
      fenced(entries.join('\n'), ''),
    );
  } else if (target.kind === 'missing' && !problem) return '';
  else lines.push(`**${literal(mention.name)}**`);
  return [...lines, ...(problem ? [literal(problem.sentence)] : [])].join('\n\n');
}

/** What a typed command is. */
export function describedCommand(
  { name, means, problem }: NonNullable<Plan['command']>,
  commands: readonly AgentCommand[] | undefined,
): string {
  const own = commands?.find((command) => command.name === name);
  const row = commandRow(typedCommands().find((command) => command.name === name)?.command ?? '');
  const what = {
    template: 'prompt template',
    skill: 'skill',
    extension: 'command of an extension',
    terminal: row ? `the same as ${row.id}` : 'command of the agent’s terminal',
    none: '',
    unknown: 'the agent is not here yet to say what it is',
  }[means];
  // A project may bring commands, and what it says of them.
  const said = own?.description === undefined ? row?.doc : literal(own.description);
  return [
    `**/${literal(name)}**${what ? `: ${what}` : ''}`,
    ...(said ? [said] : []),
    ...(problem ? [literal(problem.sentence)] : []),
  ].join('\n\n');
}

function fenced(text: string, languageId: string): string {
  const all = text.split('\n');
  const some = all
    .slice(0, shownLines)
    .map((line) => (line.length > lineLength ? `${line.slice(0, lineLength)}…` : line));
  const ticks = Math.max(2, ...[...some.join('\n').matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(ticks + 1);
  const language = /^[\w+#.-]+$/.test(languageId) ? languageId : '';
  return [`${fence}${language}`, ...some, fence, ...(all.length > shownLines ? ['…'] : [])].join('\n');
}
