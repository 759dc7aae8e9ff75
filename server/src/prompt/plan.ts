// What becomes of a prompt when it is sent: each mention, and what is wrong. Guarantees: hover, diagnostics and sending look at one
// plan, so that what is shown is what is sent; sizes are bounded, and what is left out is said. Must not know: who asks.
import type { AgentCommand } from '../protocol/records.ts';
import { typedCommand } from '../session/typed.ts';
import { textLimit } from './file-text.ts';
import { imageLimit } from './image.ts';
import { type CommandWord, commandIn, type Mention, mentionsIn } from './mentions.ts';
import type { Place } from './places.ts';
import { blockLimit } from './reference.ts';
import { type Target, targetOf } from './targets.ts';

export interface Problem {
  level: 'error' | 'warning' | 'information';
  sentence: string;
}

export interface Part {
  mention: Mention;
  target: Target;
  /** `name`: nothing but the mention itself. */
  becomes: 'text' | 'image' | 'listing' | 'name';
  problem?: Problem;
}

export interface Plan {
  command?: CommandWord & { means: Meaning; problem?: Problem };
  parts: Part[];
}

/** What a typed command is: the agent's own, one of its terminal's that is carried out here, or none. */
export type Meaning = 'template' | 'skill' | 'extension' | 'terminal' | 'none' | 'unknown';

export interface PlanContext {
  place: Place;
  /** The agent's own commands; undefined while they are not known. */
  commands: readonly AgentCommand[] | undefined;
  /** What the model is called, if it sees no images. */
  blindModel?: string | undefined;
}

/** UTF-16 units of all texts, and the number of images, that one prompt carries. */
export const textsLimit = 400_000;
export const imagesLimit = 20;

export async function planOf(text: string, context: PlanContext): Promise<Plan> {
  const documents = context.place.documents();
  const place: Place = { ...context.place, documents: () => documents };
  const word = commandIn(text);
  const command = word && { ...word, ...meaningOf(text.trim(), word.name, context.commands) };
  const sends = whatCommandTakes(command?.means);
  const parts: Part[] = [];
  const seen = new Set<string>();
  let units = 0;
  let images = 0;
  for (const mention of mentionsIn(text)) {
    const target = await targetOf(mention, place);
    const key = JSON.stringify([
      'shown' in target && target.shown,
      'lines' in target && target.lines,
      mention.symbol,
    ]);
    const part: Part = { mention, target, becomes: 'name' };
    parts.push(part);
    const problem = problemOf(mention, target, context);
    if (problem) part.problem = problem;
    if (target.kind === 'text' && target.shown !== undefined && seen.has(key)) continue;
    seen.add(key);
    switch (target.kind) {
      case 'text': {
        if (sends.texts === false) {
          part.problem = { level: 'information', sentence: onlyItsName(command!.name, target.unsaved) };
          break;
        }
        const size = Math.min(target.text.length, blockLimit);
        if (units + size > textsLimit) part.problem = tooMuch;
        else {
          units += size;
          part.becomes = 'text';
        }
        break;
      }
      case 'folder':
        if (sends.texts) part.becomes = 'listing';
        break;
      case 'image':
        if (!sends.images || target.size > imageLimit) break;
        if (images === imagesLimit)
          part.problem = {
            level: 'warning',
            sentence: `A prompt carries ${imagesLimit} images; of this one only the name is sent.`,
          };
        else {
          images += 1;
          part.becomes = 'image';
        }
    }
  }
  return { ...(command && { command }), parts };
}

function meaningOf(
  message: string,
  name: string,
  commands: readonly AgentCommand[] | undefined,
): { means: Meaning; problem?: Problem } {
  const own = commands?.find((command) => command.name === name);
  if (own)
    return {
      means: own.source === 'skill' ? 'skill' : own.source === 'extension' ? 'extension' : 'template',
    };
  try {
    if (typedCommand(message)) return { means: 'terminal' };
  } catch (error) {
    return { means: 'terminal', problem: { level: 'error', sentence: (error as Error).message } };
  }
  if (!commands) return { means: 'unknown' };
  return {
    means: 'none',
    problem: {
      level: 'warning',
      sentence: `The agent has no command /${name}: this is sent to the model as text.`,
    },
  };
}

/** A template takes words and would tear a text apart; what an extension does with one nobody knows. */
function whatCommandTakes(means: Meaning | undefined): { texts: boolean; images: boolean } {
  switch (means) {
    case 'terminal':
    case 'extension':
      return { texts: false, images: false };
    case 'template':
    case 'unknown':
      return { texts: false, images: true };
    default:
      return { texts: true, images: true };
  }
}

function problemOf(
  { kind, name, symbol, lines }: Mention,
  target: Target,
  { blindModel }: PlanContext,
): Problem | undefined {
  const warning = (sentence: string): Problem => ({ level: 'warning', sentence });
  switch (target.kind) {
    case 'missing': {
      const like = looksLikePath(name) || lines !== undefined;
      // A heading, an issue, somebody's name.
      if (kind === 'document')
        return like && !/^\d+$/.test(name)
          ? warning(`No open document is called ${name}: this is sent as text.`)
          : undefined;
      return {
        level: like ? 'warning' : 'information',
        sentence: `There is no file ${name}: this is sent as text.`,
      };
    }
    case 'no lines':
      return warning(
        `${target.shown} has ${target.count} ${target.count === 1 ? 'line' : 'lines'}: this is sent as text.`,
      );
    case 'no symbol':
      return warning(`${target.shown} has no line that declares ${symbol}: this is sent as text.`);
    case 'unreadable':
      return warning(`${target.shown} cannot be read, because ${target.why}: only its name is sent.`);
    case 'binary':
      return warning(`${target.shown} is neither text nor an image: only its name is sent.`);
    case 'huge':
      return warning(
        `${target.shown} has more than ${sized(textLimit)}: only its name is sent; name lines of it in another way, or let the agent search it.`,
      );
    case 'image':
      if (target.size > imageLimit)
        return warning(
          `${target.shown} has ${sized(target.size)}, and models take images of ${sized(imageLimit)}: only its name is sent.`,
        );
      return blindModel === undefined
        ? undefined
        : warning(`The model ${blindModel} sees no images: choose another with atomic.setModel.`);
    case 'text':
      if (target.text.length > blockLimit)
        return {
          level: 'information',
          sentence: `${target.shown ?? name} is long: its first ${sized(blockLimit)} are sent. Name lines to send others, as in @path:100-200.`,
        };
      if (lines && target.lines && lines.to > target.lines.to)
        return { level: 'information', sentence: `${target.shown ?? name} ends at line ${target.count}.` };
      return undefined;
    case 'folder':
      return lines
        ? warning(`${target.shown} is a folder and has no lines; its list of files is sent.`)
        : undefined;
  }
}

const onlyItsName = (command: string, unsaved: boolean): string =>
  `/${command} takes words, so only the name is sent${unsaved ? '; the agent will read the file without your unsaved changes' : ''}.`;
const tooMuch: Problem = {
  level: 'warning',
  sentence: `The texts of this prompt have more than ${sized(textsLimit)} together: of this one only the name is sent.`,
};

const looksLikePath = (name: string): boolean => /[/\\]|\.[\p{L}\d]+$/u.test(name);

/** Bytes for a person. */
export function sized(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1_000_000 ? `${round(bytes / 1000)} kB` : `${round(bytes / 1_000_000)} MB`;
}

function round(number: number): string {
  return number < 10 ? number.toFixed(1).replace(/\.0$/, '') : String(Math.round(number));
}
