// Where the bridge keeps its things. Guarantees: one answer for every verb and for the server; nothing is touched. Must not
// know: the process (everything is given).
import path from 'node:path';
import { type HubAddress, hubAddress } from '../hub/address.ts';

export interface Places {
  /** Session folders: `$XDG_STATE_HOME/atomic-lsp`. */
  state: string;
  /** The log files' folder. */
  log: string;
  /** The hub's address. Throws `SocketRefused` for a place that cannot be used. */
  address(): HubAddress;
}

/** The places of a user. Relative XDG folders are ignored, as their specification says. */
export function placesOf(given: {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  user: string;
  platform: NodeJS.Platform;
  uid: number | undefined;
}): Places {
  const { env, home, user, platform, uid } = given;
  const absolute = (folder: string | undefined) =>
    folder !== undefined && path.isAbsolute(folder) ? folder : undefined;
  const base =
    absolute(env.XDG_STATE_HOME) ??
    (platform === 'win32' ? absolute(env.LOCALAPPDATA) : undefined) ??
    path.join(home, '.local', 'state');
  const state = path.join(base, 'atomic-lsp');
  return {
    state,
    log: path.join(state, 'log'),
    address: () =>
      hubAddress({
        platform,
        uid,
        user,
        runtimeDir: env.XDG_RUNTIME_DIR,
        override: env.ATOMIC_LSP_SOCKET || undefined,
      }),
  };
}
