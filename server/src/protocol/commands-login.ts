// Rows: logins and credentials. Guarantees and absences: see command-row.ts.
import * as z from 'zod';
import { type Asked, type Params, row, text } from './command-row.ts';

const login = 'Login';

const keyOf = (provider: string): Asked => ({
  with: 'text',
  title: `API key for ${provider}`,
  param: 'credential',
  take: (key) => ({ credential: { type: 'api_key', key: key.trim() } }),
});
/** Providers of the models that there are credentials for, each once. */
const providersOf = ({ models }: Params): unknown[] =>
  Array.isArray(models) ? [...new Set(models.map(({ provider }) => provider))] : [];

export const loginRows = [
  row({
    name: 'login_provider',
    group: login,
    title: 'Log in to a provider',
    doc: 'Logs in interactively; the steps come as questions. An API key is given to `save_provider_credential` instead.',
    params: {
      provider: text,
      authType: z.enum(['oauth', 'api_key']).optional(),
      loginId: z.string().optional(),
    },
    bare: (provider) => ({ provider, authType: 'oauth' }),
    kind: 'act',
    after: 'state',
    ask: {
      with: 'pick',
      title: 'Log in to',
      from: 'get_available_models',
      list: 'oauthProviders',
      label: (provider) => String(provider.loginLabel ?? provider.name ?? provider.id),
      take: (provider) => ({ provider: provider.id, authType: 'oauth' }),
      empty: 'This agent offers no login over RPC: log in with the agent in a terminal.',
    },
    dialects: '- y y -',
    returns: '`{intent}`; its outcome holds `{provider, cancelled}` and the new catalog.',
    example: { provider: 'anthropic', authType: 'oauth' },
  }),
  row({
    name: 'cancel_login_provider',
    group: login,
    title: 'Cancel the login',
    doc: 'Ends a login that is going on.',
    params: { provider: text, loginId: z.string().optional() },
    bare: (provider) => ({ provider }),
    kind: 'act',
    lane: 'free',
    ask: {
      with: 'pick',
      title: 'Cancel the login to',
      from: 'get_available_models',
      list: 'oauthProviders',
      label: (provider) => String(provider.loginLabel ?? provider.name ?? provider.id),
      take: (provider) => ({ provider: provider.id }),
      empty: 'This agent offers no login over RPC, so none is going on.',
    },
    dialects: '- y y -',
    returns: '`{intent}`',
    example: { provider: 'anthropic' },
  }),
  row({
    name: 'save_provider_credential',
    group: login,
    title: 'Save a provider’s credential',
    doc: 'Stores an API key in the agent: `{provider, credential: {type: "api_key", key}}`. Never logged, never in a fact.',
    params: { provider: text, credential: z.looseObject({ type: z.string() }) },
    kind: 'act',
    after: 'state',
    ask: {
      with: 'text',
      title: 'Provider to save an API key for (openai, anthropic, …)',
      param: 'provider',
      take: (provider) => ({ provider: provider.trim() }),
      next: ({ provider }) => keyOf(provider),
    },
    dialects: '- y y -',
    told: () => 'The key is saved.',
    returns: '`{intent}`; its outcome holds the new catalog.',
    example: { provider: 'openai', credential: { type: 'api_key', key: '…' } },
  }),
  row({
    name: 'logout_provider',
    group: login,
    title: 'Log out of a provider',
    doc: 'Removes a provider’s stored credential. Keys from the environment stay.',
    params: { provider: text },
    bare: (provider) => ({ provider }),
    kind: 'act',
    after: 'state',
    ask: {
      with: 'pick',
      title: 'Log out of',
      from: 'get_available_models',
      list: providersOf,
      label: (provider) => String(provider),
      take: (provider) => ({ provider }),
      empty: 'There are no credentials of any provider.',
    },
    dialects: 'Y Y Y -',
    told: ({ provider, authStatus }) =>
      provider === undefined
        ? undefined
        : authStatus?.configured
          ? `Logged out of ${provider}; a key of it comes from ${authStatus.label ?? authStatus.source ?? 'elsewhere'} still.`
          : `Logged out of ${provider}.`,
    returns: '`{intent}`; its outcome holds `{provider, authStatus, models}`.',
    example: { provider: 'openai' },
  }),
];
