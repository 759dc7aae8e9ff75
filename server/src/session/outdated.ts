// What a running agent does not have of the settings and the environment that would be used now. Guarantees: pure; of the environment
// only what decides which programs and accounts an agent uses. Must not know: how agents are started.
import type { AgentSpec } from './ports.ts';

export type Outdated = 'agent' | 'start' | 'environment';

const decisive = /^(PATH|HOME|.*_proxy|.*_PROXY|ATOMIC_.*|PI_.*|.*_API_KEY|.*_BASE_URL)$/;

const environment = ({ env }: AgentSpec): string =>
  JSON.stringify(
    Object.entries(env)
      .filter(([name]) => decisive.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** `used`: what the agent was started with; `now`: what the next one would be. */
export function outdatedIn(used: AgentSpec, now: AgentSpec): Outdated[] {
  const differs = (key: 'choice' | 'start') => JSON.stringify(used[key]) !== JSON.stringify(now[key]);
  return [
    ...(differs('choice') ? (['agent'] as const) : []),
    ...(differs('start') ? (['start'] as const) : []),
    ...(environment(used) !== environment(now) ? (['environment'] as const) : []),
  ];
}
