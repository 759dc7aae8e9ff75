// The page for people in trouble has every error, and no sentence that is not said.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles } from '../../scripts/rules.mjs';
import { errorCodes } from '../../server/src/protocol/errors.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');
const source = projectFiles()
  .filter(({ path }) => path.startsWith('server/src/'))
  .map(({ text }) => text.replace(/\\'/g, "'"))
  .join('\n');

/** Pieces of a quoted sentence that stand in no source file; “…” is what differs. */
const unsaid = (sentence: string): string[] =>
  sentence
    .split('…')
    .flatMap((piece) => piece.split(/(?<=[.:]) (?=[A-Z"])/))
    .map((piece) => piece.replace(/^[)\s]+/, '').trim())
    .filter((piece) => /\w{3}/.test(piece) && !source.includes(piece));

it('has each error, by its name', () => {
  const named = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name!);
  expect(named.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
});

it('quotes what is really said', () => {
  const sentences = [...page.matchAll(/^> (.+)$/gm)].map(([, sentence]) => sentence!);
  expect(sentences.length).toBeGreaterThan(40);
  expect(sentences.flatMap(unsaid)).toEqual([]);
  expect(unsaid('The agent … sings and dances.')).toEqual(['sings and dances.']);
});
