// The sentence about an agent that ended. Guarantees: one sentence or two for a person: what happened, the agent's own last
// words, what to do. Must not know: processes.
import type { AgentIdentity } from '../protocol/facts.ts';
import type { AgentExit } from '../session/ports.ts';
import { withoutSecrets } from '../session/secrets.ts';

/**
 * How an agent ended, for people. `spoke`: whether it ever wrote a record; `stderr`: the end of its stderr.
 */
export function farewell(
  identity: AgentIdentity,
  end: { code: number | null; signal: string | null },
  circumstances: { expected: boolean; spoke: boolean; stderr: string },
): AgentExit {
  const { expected, spoke, stderr } = circumstances;
  const name = `The agent (${identity.name})`;
  const words = lastWords(stderr);
  const said = words ? `: ${/[.!?…]$/.test(words) ? words : `${words}.`}` : '.';
  const how = end.signal ? `was killed by ${end.signal}` : `exited with code ${end.code}`;
  const message = expected
    ? `${name} was stopped.`
    : !spoke
      ? `${name} ${how} before it answered anything${said} Check its command (${identity.command}) and its own configuration, or run "atomic-lsp doctor".`
      : end.code === 0
        ? `${name} ended by itself. Start it again with atomic.restartAgent.`
        : `${name} ${how}${said} Start it again with atomic.restartAgent; what it saved of the conversation is kept.`;
  return { code: end.code, signal: end.signal, expected, message };
}

const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g;
/** Lines of a stack trace that say nothing to a person. */
const noise = /^\s*(?:at\s|\^+\s*$|Node\.js v|node:|throw\s|\{$|\}$|$)/;
const errorLine = /^(?:[\w.$]*Error\b|error\b|fatal\b)/i;

/** What an agent said last on stderr, as one line of at most 400 characters: its error if one stands out, else the end. */
export function lastWords(stderr: string): string {
  const lines = withoutSecrets(stderr)
    .replace(escapes, '')
    .replace(controls, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !noise.test(line));
  const error = lines.findLastIndex((line) => errorLine.test(line));
  const chosen = error >= 0 ? lines.slice(error, error + 2) : lines.slice(-3);
  const words = chosen.join(' / ');
  return words.length > 400 ? `${words.slice(0, 399)}…` : words;
}
