// The fold of what was wanted: intents, and the shell commands that belong to them. Guarantees: pure, shares structure; an
// intent is there until it is settled, of the settled the newest are kept. Must not know: messages, tools, dialogs.
import { promptCommands, shellCommands } from '../protocol/commands-prompting.ts';
import type { FactOf, Origin } from '../protocol/facts.ts';
import type { IntentOutcome, Snapshot } from '../protocol/snapshot.ts';
import { bashAfter, without } from './fold-tools.ts';

/** How many settled intents a snapshot keeps. */
const settledIntentsKept = 100;

/** Whoever sent the last prompt that was not turned down; a run that begins now is taken for theirs. */
export const originOfRun = ({ intents }: Snapshot): Origin | undefined =>
  intents.findLast(
    ({ command, outcome }) => promptCommands.has(command) && outcome !== 'refused' && outcome !== 'failed',
  )?.origin;

/** Whoever asked for what the agent does now: the run, or else the newest intent that is not settled. */
export const originOfQuestion = ({ run, intents }: Snapshot): Origin | undefined =>
  run ? run.origin : intents.findLast(({ outcome }) => outcome === 'pending')?.origin;

/** The snapshot after output of a shell command. */
export function bashUpdated(
  snapshot: Snapshot,
  { id: named, delta }: FactOf<'bash_execution_update'>,
): Snapshot {
  // Older agents do not say whose output it is: the newest command's.
  const id = named ?? Object.keys(snapshot.bash).at(-1);
  if (id === undefined) return snapshot;
  const over = snapshot.intents.some(({ intent, outcome }) => intent === id && outcome !== 'pending');
  return over ? snapshot : { ...snapshot, bash: bashAfter(snapshot.bash, id, { delta }) };
}

/** The snapshot after an intent was accepted. */
export function intentAccepted(snapshot: Snapshot, fact: FactOf<'intent_accepted'>): Snapshot {
  const { intent, command, origin, text } = fact;
  if (snapshot.intents.some((known) => known.intent === intent)) return snapshot;
  const accepted: IntentOutcome = { intent, command, ...(origin && { origin }), outcome: 'pending' };
  return {
    ...snapshot,
    intents: [...snapshot.intents, accepted],
    ...(shellCommands.has(command) && {
      bash: bashAfter(snapshot.bash, intent, { command: text }),
    }),
  };
}

/** The snapshot after an intent was settled, also one that was never seen accepted. */
export function intentSettled(snapshot: Snapshot, fact: FactOf<'intent_settled'>): Snapshot {
  const { intent, command, outcome, error } = fact;
  const known = snapshot.intents.find((other) => other.intent === intent);
  const settled: IntentOutcome = {
    ...(known ?? { intent, command }),
    outcome,
    ...(error !== undefined && { error }),
  };
  const intents = known
    ? snapshot.intents.map((other) => (other === known ? settled : other))
    : [...snapshot.intents, settled];
  let surplus = intents.filter((other) => other.outcome !== 'pending').length - settledIntentsKept;
  return {
    ...snapshot,
    intents: intents.filter((other) => other.outcome === 'pending' || surplus-- <= 0),
    bash: without(snapshot.bash, intent),
  };
}
