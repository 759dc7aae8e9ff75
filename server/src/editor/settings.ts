// An editor's settings. Guarantees: a wrong one is told in a sentence and leaves the others standing, and none is
// taken for another program than the one that was meant; settings meant for
// somebody else are not ours to judge. Must not know: where they came from, who uses them.
import { type Settings, settings as schema } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';

export interface SettingsResult {
  settings: Settings;
  /** One `BadSetting` for each wrong key. */
  problems: AtomicError[];
}

export const defaultSettings: Settings = schema.parse({});

/**
 * Settings from `initializationOptions`, or from `workspace/didChangeConfiguration`, where they stand under `atomic` or,
 * in editors that know only one table, at the top. What is not given stays as in `before`. `strict`: unknown keys at the
 * top are wrong, too.
 */
export function settingsFrom(given: unknown, before: Settings, strict: boolean): SettingsResult {
  const outer = objectIn(given);
  const inner = outer && objectIn(outer.atomic);
  const { atomic, ...others } = outer ?? {};
  const values = inner ?? others;
  const result: Record<string, unknown> = { ...before };
  const problems: AtomicError[] = [];
  if (!outer && !isNothing(given)) problems.push(noTable('The configuration'));
  if (!inner && !isNothing(atomic)) problems.push(noTable('The setting "atomic"'));
  const known = Object.keys(schema.shape);
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue;
    const field = schema.shape[key as keyof typeof schema.shape];
    if (!field) {
      if (strict || inner) problems.push(unknownKey(key, known));
      continue;
    }
    const checked = field.safeParse(value);
    if (checked.success) {
      result[key] = checked.data;
      if (key === 'agent') delete result.agentRefused;
      continue;
    }
    const issue = checked.error.issues[0]!;
    const where = [key, ...issue.path.map(String)].join('.');
    const [so, until] =
      key === 'agent'
        ? ['so no agent is started in its place', 'until then no agent is started']
        : ['and ignored', 'the setting is ignored'];
    const sentence =
      issue.code === 'unrecognized_keys'
        ? `The setting "${where}" has an unknown key ${issue.keys.map((it) => `"${it}"`).join(', ')}: remove it; ${until}.`
        : `The setting "${where}" is wrong (${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}) ${so}: correct it in the editor’s configuration of atomic-lsp.`;
    if (key === 'agent') result.agentRefused = sentence;
    problems.push(new AtomicError('BadSetting', sentence, { setting: where }));
  }
  return { settings: result as Settings, problems };
}

/** The settings of one editor through its life. */
export interface Configuration {
  now(): Settings;
  /** Takes what `workspace/didChangeConfiguration` gave. */
  take(given: unknown): Settings;
  /** What was wrong since this was asked last. */
  problems(): AtomicError[];
}

/** From `initializationOptions`; `before` is what the command line says, and what an editor's own settings come on top of. */
export function createConfiguration(given: unknown, before: Partial<Settings>): Configuration {
  const first = settingsFrom(given, { ...defaultSettings, ...before }, true);
  // Going without the hub is the person's word.
  let settings: Settings = { ...first.settings, ...(before.hub === false && { hub: false }) };
  let { problems } = first;
  return {
    now: () => settings,
    take(next) {
      const result = settingsFrom(next, settings, false);
      // Opting in is part of initialize.
      settings = {
        ...result.settings,
        client: settings.client,
        hub: settings.hub && result.settings.hub,
      };
      problems.push(...result.problems);
      return settings;
    },
    problems() {
      const told = problems;
      problems = [];
      return told;
    },
  };
}

const unknownKey = (key: string, known: string[]): AtomicError =>
  new AtomicError(
    'BadSetting',
    `There is no setting "${key}"; it is ignored: there are ${known.map((it) => `"${it}"`).join(', ')}.`,
    { setting: key },
  );

const noTable = (what: string): AtomicError =>
  new AtomicError(
    'BadSetting',
    `${what} is not a table of settings and is ignored: write it as {"whileBusy": "followUp"}.`,
    {},
  );

/** Some editors write an empty table as an empty list. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const objectIn = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
