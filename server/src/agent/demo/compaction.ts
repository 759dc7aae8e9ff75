// The demo agent's compaction. Guarantees: every start has its end; a stopped compaction changes nothing. Must not know: runs.
import type { AgentRecord } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { pause } from './pause.ts';
import { type DemoSession, textOf, tokensOf } from './session.ts';

export type Compactor = ReturnType<typeof createCompactor>;

const duration = 1500;

/** Pretends to shorten the session (protocol reference 3.7). */
export function createCompactor(world: {
  send(record: AgentRecord): void;
  session: DemoSession;
  clock: Clock;
  life: AbortSignal;
}) {
  const { send, session, clock, life } = world;
  let active: AbortController | undefined;
  const end = (fields: object) =>
    send({ type: 'compaction_end', reason: 'manual', aborted: false, willRetry: false, ...fields });
  return {
    get busy() {
      return active !== undefined;
    },
    abort: () => active?.abort(),
    /** The result; throws with the agent's own words when there is too little, or when it was stopped. */
    async compact(): Promise<object> {
      const messages = session.messages();
      send({ type: 'compaction_start', reason: 'manual' });
      if (messages.length < 4) {
        const problem = 'Nothing to compact (session too small)';
        end({ errorMessage: `Compaction failed: ${problem}` });
        throw new Error(problem);
      }
      active = new AbortController();
      try {
        await pause(clock, duration, AbortSignal.any([active.signal, life]));
      } catch {
        end({ aborted: true });
        throw new Error('Compaction cancelled');
      } finally {
        active = undefined;
      }
      const asked = messages
        .filter((message) => message.role === 'user')
        .map((message) => `- ${textOf(message)}`);
      const compactedText = `So far the user wrote to the demo:\n${asked.join('\n')}`;
      const tokensBefore = tokensOf(messages);
      const tokensAfter = tokensOf(compactedText);
      session.add('compaction', { summary: compactedText, firstKeptEntryId: null, tokensBefore });
      const result = {
        compactedText,
        firstKeptEntryId: null,
        tokensBefore,
        promptVersion: 'demo',
        parameters: { compression_ratio: 0.5, preserve_recent: 0, query: '' },
        rung: 'planned',
        stats: {
          linesBefore: messages.length,
          linesKept: asked.length,
          linesDeleted: messages.length - asked.length,
          rangeCount: 1,
          tokensBefore,
          tokensAfter,
          percentReduction: Math.round(100 * (1 - tokensAfter / tokensBefore)),
        },
      };
      end({ result });
      return result;
    },
  };
}
