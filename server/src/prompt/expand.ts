// A prompt as it is sent: what the person wrote, then the texts that it refers to; images beside it. Guarantees: the written text
// stays as it is; what the plan says is what is sent; a file that vanished meanwhile is named and nothing more. Must not know:
// who sends.
import { readFile } from 'node:fs/promises';
import { imageKind, imageLimit } from './image.ts';
import type { Part, Plan } from './plan.ts';
import { referenceBlock } from './reference.ts';

export interface Expanded {
  message: string;
  images: { type: 'image'; data: string; mimeType: string }[];
  /** What is not sent although it was meant to be. */
  problems: string[];
}

/** @param text what the plan was made of */
export async function expanded(text: string, plan: Plan): Promise<Expanded> {
  const images: Expanded['images'] = [];
  const blocks: string[] = [];
  const problems = plan.parts.flatMap(({ problem }) =>
    problem && problem.level !== 'information' ? [problem.sentence] : [],
  );
  const count = plan.parts.filter(({ becomes }) => becomes === 'image').length;
  for (const part of plan.parts) {
    const block = blockOf(part);
    if (block !== undefined) blocks.push(block);
    const { target } = part;
    if (part.becomes !== 'image' || target.kind !== 'image') continue;
    try {
      const bytes = await readFile(target.file);
      const kind = imageKind(bytes);
      if (!kind || bytes.length > imageLimit) throw new Error('it is another file now');
      images.push({ type: 'image', data: bytes.toString('base64'), mimeType: kind.mimeType });
      // With several the model has to know which is which.
      if (count > 1) blocks.push(`\`${target.shown}\`: image ${images.length}`);
    } catch (error) {
      problems.push(`${target.shown} was not attached (${(error as Error).message}).`);
    }
  }
  const written = plan.command?.means === 'template' || plan.command?.means === 'extension' ? [] : blocks;
  return { message: [text, ...written].join('\n\n'), images, problems };
}

/** The text that a mention adds to the prompt. */
function blockOf({ target, becomes }: Part): string | undefined {
  if (becomes === 'text' && target.kind === 'text')
    return referenceBlock({
      ...(target.shown !== undefined && { path: target.shown }),
      ...(target.lines && { lines: target.lines }),
      text: target.text,
      unsaved: target.unsaved,
      languageId: target.languageId,
    });
  if (becomes !== 'listing' || target.kind !== 'folder') return undefined;
  const more = target.more > 0 ? [`… and ${target.more} more`] : [];
  return referenceBlock({
    path: target.shown,
    text: [...target.entries, ...more].join('\n'),
    unsaved: false,
    languageId: '',
  });
}
