// The demo agent's two pretended models. Guarantees: plain data. Must not know: sessions, runs.
import type { Model } from '../../protocol/records.ts';

const levels = ['off', 'low', 'medium', 'high'] as const;

const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** One that thinks and one that does not, so that thinking levels and their absence can both be seen. */
export const models: readonly Model[] = [
  {
    id: 'demo-thinker',
    name: 'Demo Thinker',
    provider: 'demo',
    api: 'demo',
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 200_000,
    maxTokens: 8192,
    cost: free,
  },
  {
    id: 'demo-fast',
    name: 'Demo Fast',
    provider: 'demo',
    api: 'demo',
    reasoning: false,
    input: ['text'],
    contextWindow: 32_000,
    maxTokens: 8192,
    cost: free,
  },
];

/** What `get_available_models` and the login commands answer (protocol reference 3.4). */
export const catalog = () => ({
  models,
  scopedModels: [],
  customAuthProviders: [],
  oauthProviders: [{ id: 'demo', name: 'Demo', loginLabel: 'Demo (a pretended login)' }],
});

/** The thinking levels of a model. */
export const levelsOf = (model: Model): readonly string[] => (model.reasoning ? levels : ['off']);
