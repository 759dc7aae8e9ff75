// From nothing to a client of the hub. Guarantees: an older hub that has nothing to do steps aside for a newer program, once
// and only when nobody else is there; two versions never end each other's hub in turns. Must not know: LSP.
import { AtomicError } from '../protocol/errors.ts';
import { connectHubClient, type Hello, type HubClient } from './client.ts';
import { type EnsureOptions, ensureHub } from './ensure.ts';

/**
 * A client of the one hub, which is started if need be. `hello.version` is ours. Rejects with `HubUnreachable`,
 * `SocketRefused`, `VersionSkew`.
 */
export async function openHub(options: EnsureOptions & { hello: Hello }): Promise<HubClient> {
  const client = await greeted(options);
  if (!options.program || !isNewer(options.hello.version, client.version)) return client;
  const { editors, sessions } = await client.status();
  const alone = editors.every(({ origin }) => origin.id === client.origin.id);
  if (!alone || sessions.some(({ busy, dialogs }) => busy || dialogs > 0)) return client;
  const closed = new Promise<void>((resolve) => client.onClose(() => resolve()));
  if (!(await client.stop({})).stopping) return client;
  await closed;
  return greeted(options);
}

/** How often a hub may begin to stop between our connecting and our hello. */
const attempts = 3;

async function greeted(options: EnsureOptions & { hello: Hello }): Promise<HubClient> {
  for (let attempt = 1; ; attempt += 1) {
    const socket = await ensureHub(options);
    try {
      return await connectHubClient(socket, options.hello);
    } catch (error) {
      const lost = error instanceof AtomicError && error.code === 'HubUnreachable';
      if (!lost || attempt === attempts) throw error;
    }
  }
}

/** Whether version `a` comes after `b`; what is not a number does not count. */
export function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split(/[-+]/)[0]!.split('.').map(Number));
  for (let place = 0; place < 3; place += 1) {
    const difference = (left?.[place] || 0) - (right?.[place] || 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
