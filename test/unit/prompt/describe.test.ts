// What of others is shown in Markdown is text: no picture is loaded, no link is made, nothing commands a terminal.
import { expect, it } from 'vitest';
import { commandOffers } from '../../../server/src/prompt/complete.ts';
import { describedCommand, describedPart } from '../../../server/src/prompt/describe.ts';
import { literal } from '../../../server/src/session/transcript-text.ts';

const hostile = '![x](http://evil/leak) [run](command:evil) <img src=x> `a` \u001b[31mred\u001b[0m';
const shown = '!\\[x\\](http://evil/leak) \\[run\\](command:evil) \\<img src=x> \\`a\\` red';

it('a text is what it was, without its escapes of a terminal', () => {
  expect(literal(hostile)).toBe(shown);
  expect(literal('a_b *c* d\\e')).toBe('a_b *c* d\\\\e');
});

it('descriptions of commands, which a project may bring, are text', () => {
  const commands = [{ name: 'review', source: 'prompt', description: hostile }];
  const hover = describedCommand({ name: 'review', means: 'template' } as never, commands as never);
  expect(hover).toBe(`**/review**: prompt template\n\n${shown}`);
  const offer = commandOffers('rev', commands as never).offers.find(({ label }) => label.includes('review'))!;
  expect(offer.about).toContain(shown);
  expect(offer.detail).not.toContain('\u001b');
});

it('names of files are text', () => {
  const mention = { name: hostile, start: 0, end: 1 };
  const part = {
    mention,
    target: { kind: 'missing' },
    problem: { sentence: `There is no file ${hostile}.` },
  };
  expect(describedPart(part as never)).toBe(`**${shown}**\n\nThere is no file ${shown}.`);
  const folder = { kind: 'folder', entries: [hostile], more: 0, shown: hostile };
  const about = describedPart({ mention, target: folder, becomes: 'listing' } as never);
  expect(about.split('\n')[0]).toContain(`**${shown}**`);
  // Within the fence nothing is Markdown.
  expect(about).toContain('```\n![x]');
});
