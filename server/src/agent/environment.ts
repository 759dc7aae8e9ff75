// Which environment variables travel. Guarantees: an agent sees the environment of the editor that asked for it, because its
// tools run the user's programs, without what belongs to the editor's own process or terminal pane and without what an
// outer agent left behind. Must not know: where the environment comes from, what is done with it.

/** Set by an agent for the shells it runs; a child that inherits them would take itself for part of the outer session. */
const outerAgent = new Set(
  ['CODING_AGENT', 'SESSION_ID', 'SESSION_FILE', 'PROVIDER', 'MODEL', 'REASONING_LEVEL']
    .flatMap((name) => [`ATOMIC_${name}`, `PI_${name}`])
    .concat('AI_AGENT'),
);

/** Of one process or one terminal pane alone. */
const ofTheEditor = new Set([
  'NVIM',
  'NVIM_LISTEN_ADDRESS',
  'NVIM_LOG_FILE',
  'VIM',
  'VIMRUNTIME',
  'MYVIMRC',
  'INSIDE_EMACS',
  'EMACSLOADPATH',
  'EMACSDATA',
  'EMACSDOC',
  'EMACSPATH',
  'HELIX_RUNTIME',
  'ELECTRON_RUN_AS_NODE',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
  'NODE_UNIQUE_ID',
  'NODE_V8_COVERAGE',
  'TMUX_PANE',
  'STY',
  'WINDOWID',
  'TERM_SESSION_ID',
  'LINES',
  'COLUMNS',
  'OLDPWD',
  'PWD',
  'SHLVL',
  '_',
]);

const stays = (name: string, value: string): boolean =>
  !outerAgent.has(name) &&
  !ofTheEditor.has(name) &&
  !/^VSCODE_/.test(name) &&
  // A debugger that is attached to the editor must not attach to the agent.
  !(name === 'NODE_OPTIONS' && /--inspect|js-debug/.test(value));

const filtered = (
  env: Readonly<Record<string, string | undefined>>,
  keep: (name: string, value: string) => boolean,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && keep(entry[0], entry[1]),
    ),
  );

/**
 * The part of an editor's environment that its server hands to the hub: everything that the user's programs may need and
 * `ATOMIC_LSP_AGENT`, nothing of the editor's own, of an outer agent, or meant for the bridge alone.
 */
export function forwardedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return filtered(
    env,
    (name, value) => stays(name, value) && (name === 'ATOMIC_LSP_AGENT' || !/^ATOMIC_LSP_/.test(name)),
  );
}

/**
 * The environment of an agent process: the forwarded one, without the bridge's own variables, plus what the user gave for
 * this agent, which always wins (protocol reference 6.3).
 */
export function childEnvironment(
  forwarded: Readonly<Record<string, string>>,
  chosen: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    ...filtered(forwarded, (name, value) => stays(name, value) && !/^ATOMIC_LSP_/.test(name)),
    ...chosen,
  };
}

/** What a program needs to run and to find its user's folders; the loaders of its libraries besides. */
const ownNeeds =
  /^(?:HOME|USER|LOGNAME|PATH|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|LC_.*|XDG_.*|LD_.*|DYLD_.*|ATOMIC_.*|ELECTRON_RUN_AS_NODE|NODE_V8_COVERAGE|SYSTEMROOT|WINDIR|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|COMSPEC|PATHEXT)$/i;
const secret = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;

/**
 * The environment of the hub's own process, which outlives the editor that started it: what agents need comes with each attach
 * and is not kept here.
 */
export function hubEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return filtered(env, (name) => ownNeeds.test(name) && !secret.test(name));
}
