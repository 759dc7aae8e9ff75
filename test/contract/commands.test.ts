// Every command of the table in every dialect that has it: what arrives at the agent, and what comes back. In a dialect that lacks
// it, one clear refusal.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedParams } from '../../server/src/protocol/arguments.ts';
import { type CommandRow, commandTable, type Dialects } from '../../server/src/protocol/commands.ts';
import { type Script, type ScriptedAgent, type Step, scriptedAgent } from '../support/scripted.ts';
import { type TestSession, testSession } from '../support/sessions.ts';
import { dialectNames } from './dialects.ts';

const rows = commandTable.filter((row) => row.dialects !== undefined);
const formOf = { D1: 'D1', D2: 'D2', 'D2+': 'D2', D3: 'D3' } as const;
const has = (row: CommandRow, dialect: keyof Dialects) => row.dialects![dialect] !== '-';

/** What the core itself reads must be answered as an agent does. */
const working: Record<string, object> = {
  get_state: { sessionId: 'scripted-session' },
  get_messages: { messages: [] },
  get_commands: { commands: [] },
};
const behaviour: Record<string, string> = { prompt: 'steer', steer: 'steer', follow_up: 'followUp' };
/** The protocol's `steer` and `follow_up` are sent as prompts, which cannot come too late (protocol reference, section 10). */
const sentAs = (row: CommandRow) => (behaviour[row.name] ? 'prompt' : row.name);

function scriptFor(dialect: keyof Dialects): Script {
  const on: Record<string, Step[]> = {};
  for (const row of rows)
    if (!has(row, dialect)) on[row.name] = [{ unknown: true }];
    else if (!working[row.name]) on[row.name] = [{ accept: { answered: row.name } }];
  return { dialect: formOf[dialect], on };
}

describe.each(dialectNames)('in %s', (dialect) => {
  let agent: ScriptedAgent;
  let session: TestSession;
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'atomic-lsp-overheard-'));
    agent = scriptedAgent(scriptFor(dialect));
    session = testSession(
      {
        command: agent.command,
        args: [fileURLToPath(new URL('overheard.mjs', import.meta.url))],
        env: { ...agent.env, OVERHEARD: join(folder, 'lines') },
      },
      undefined,
      { list: async () => [], exists: async () => true },
    );
  });
  afterAll(async () => {
    await session.close();
    agent.dispose();
    rmSync(folder, { recursive: true });
  });

  const heard = (): Record<string, unknown>[] =>
    readFileSync(join(folder, 'lines'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it.each(rows.filter((row) => has(row, dialect)).map((row) => [row.name, row] as const))(
    '%s arrives and is answered',
    async (name, row) => {
      await session.read('get_state', {});
      const before = heard().length;
      const id = randomUUID();
      const params = checkedParams(row, row.example);
      const answer = working[name] ?? { answered: name };
      if (row.kind === 'read') {
        const data = await session.read(name, row.example);
        expect(data).toMatchObject(name === 'list_sessions' ? { sessions: [] } : answer);
      } else {
        const settled = session.next('intent_settled', (fact) => fact.intent === id);
        session.intent({ id, command: name, params: row.example });
        const { outcome, error, data } = await settled;
        expect(error).toBeUndefined();
        expect(outcome).toBe('done');
        // What a credential is answered with is nobody's business.
        if (name === 'save_provider_credential') expect(data).toBeUndefined();
        else expect(data).toEqual({ answered: sentAs(row), ...row.became?.(session.snapshot().state) });
      }
      const calls = heard()
        .slice(before)
        .filter(({ type }) => type === sentAs(row));
      expect(calls.length).toBeGreaterThan(0);
      const { id: sentId, ...call } = calls[0]!;
      expect(sentId).toEqual(name.endsWith('bash') && name !== 'abort_bash' ? id : expect.any(String));
      expect(call).toEqual({
        ...params,
        type: sentAs(row),
        ...(behaviour[name] && { streamingBehavior: behaviour[name] }),
      });
    },
  );

  it.each(rows.filter((row) => !has(row, dialect)).map((row) => [row.name, row] as const))(
    '%s is refused, and once only asked for',
    async (name, row) => {
      const refused = async () => {
        if (row.kind === 'read')
          await expect(session.read(name, row.example)).rejects.toMatchObject({ code: 'CommandUnavailable' });
        else
          expect(await session.did(name, row.example)).toMatchObject({
            outcome: 'refused',
            error: expect.stringContaining(`"${name}"`),
          });
      };
      await refused();
      await refused();
      expect(session.snapshot().agent.unavailable).toContain(name);
      expect(heard().filter(({ type }) => type === name)).toHaveLength(1);
    },
  );
});
