// What the demo agent says. Guarantees: the first sentence says that it is a demo and how to get a real agent. Must not know:
// how it is sent.

export const introduction =
  'This is the built-in demo agent of atomic-lsp, not a real one: to get a real agent, install Atomic (`npm install -g @bastani/atomic`) and run `atomic.restartAgent`, or start the editor with `ATOMIC_LSP_AGENT` set to the command line of an agent program.';

/** The answer to a prompt that names no scene. */
export const plainAnswer = (prompt: string, scenes: readonly string[], images: number): string =>
  [
    `You wrote: ${quoted(prompt)}${images > 0 ? ` (with ${images} image${images > 1 ? 's' : ''})` : ''}. A demo cannot answer that, but it can show how an answer arrives.`,
    `Put one of these words into a prompt to see more: ${scenes.map((name) => `**${name}**`).join(', ')}. Or type \`/demo-\` and complete.`,
  ].join('\n\n');

/** A user's text, shortened, on one line. */
const quoted = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return `“${line.length > 120 ? `${line.slice(0, 119)}…` : line}”`;
};

const sample =
  'A long answer is a list of many words that arrive one after the other and the chat has to keep up with all of them'.split(
    ' ',
  );

/** An answer of `count` words, in paragraphs of twenty-four, each with its number. */
export function longAnswer(count: number): string[] {
  const paragraphs: string[] = [];
  for (let from = 0; from < count; from += sample.length) {
    const words = sample.slice(0, Math.min(sample.length, count - from));
    paragraphs.push(`${paragraphs.length + 1}. ${words.join(' ')}.`);
  }
  return paragraphs;
}

export const thoughts = [
  'The user wants to see me think, so I think where everybody can see it.',
  'First I look at the question from the left, then from the right; from both sides it is a demo.',
  'I am done: the answer follows as ordinary text.',
].join('\n\n');

export const code = [
  'Code looks like this:',
  '```ts\nconst answer = (question: string) => question.length * 2;\n```',
].join('\n\n');
