// Every recording of a real agent as a transcript: nothing that was said is missing, and it does not depend on the cursor.
import { expect, it } from 'vitest';
import { blocksOf } from '../../../server/src/session/transcript-blocks.ts';
import { passage, quoted } from '../../../server/src/session/transcript-text.ts';
import { mergedFacts } from '../../../server/src/session/view.ts';
import { traceNames } from '../agent/support.ts';
import { factsOf } from './recorded.ts';
import { written } from './transcript-support.ts';

it.each(traceNames())('%s', async (name) => {
  const facts = await factsOf(name);
  const page = written(facts);
  expect(written(mergedFacts(facts))).toBe(page);
  expect(page).not.toContain('The agent corrected this');
  for (const fact of facts) {
    if (fact.type !== 'message_end' || !['user', 'assistant'].includes(fact.message.role)) continue;
    for (const block of blocksOf(fact.message.content)) {
      if (block.type === 'text') expect(page).toContain(passage(block.text));
      if (block.type === 'thinking') expect(page).toContain(quoted(block.thinking));
    }
  }
});
