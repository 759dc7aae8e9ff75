// Start options as command-line arguments. Guarantees: only what was given is passed, `--mode rpc` exactly once, no shell
// words. Must not know: which agent it is, what a workspace is.
import type { StartOptions } from '../protocol/hub.ts';

/**
 * The arguments of an agent process: the program's own ones, `--mode rpc`, then the start options (agent's page "Starting RPC
 * mode", protocol reference 6.2). With `resume`, the path of an existing session file, what that file already holds (model,
 * name, context window) is left out: given as flags they would win over what the user chose since, at every change of
 * session (protocol reference 7).
 */
export function agentArguments(own: readonly string[], start: StartOptions = {}, resume?: string): string[] {
  const args = [...own];
  if (!namesRpcMode(own)) args.push('--mode', 'rpc');
  const give = (flag: string, value: string | number | undefined) => {
    if (value !== undefined && value !== '') args.push(flag, String(value));
  };
  const resumed = resume !== undefined && !start.noSession;
  if (start.noSession) args.push('--no-session');
  else if (resumed) args.push('--session', resume);
  else if (start.continueLast) args.push('--continue');
  give('--session-dir', start.sessionDir);
  if (!resumed) {
    give('--provider', start.provider);
    give('--model', start.model);
    give('--context-window', start.contextWindow);
    give('--name', start.name);
  }
  for (const extension of start.extensions ?? []) give('-e', extension);
  if (start.noExtensions) args.push('--no-extensions');
  if (start.projectTrust) args.push(start.projectTrust === 'approve' ? '--approve' : '--no-approve');
  give('--storage', typeof start.storage === 'object' ? JSON.stringify(start.storage) : start.storage);
  give('--storage-file', start.storageFile);
  return args;
}

const namesRpcMode = (args: readonly string[]): boolean =>
  args.includes('--mode=rpc') || args.some((arg, at) => arg === '--mode' && args[at + 1] === 'rpc');
