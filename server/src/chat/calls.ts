// The tool calls that a snapshot knows, as a chat document heads them. Guarantees: pure; in the order in which they were made.
// Must not know: documents.
import type { Snapshot } from '../protocol/snapshot.ts';
import { blocksOf, toolHeading } from '../session/transcript-blocks.ts';

export interface CallMade {
  /** The line of the transcript. */
  heading: string;
  name: string;
  args: Record<string, unknown>;
  state: 'running' | 'done' | 'failed';
  /** How long it took, where that is known. */
  milliseconds?: number;
}

export function callsOf({ messages, tools }: Snapshot): CallMade[] {
  const results = new Map(
    messages
      .filter(({ role }) => role === 'toolResult')
      .map((message) => [message.toolCallId ?? '', message] as const),
  );
  const seen = new Set<string>();
  const made = messages.flatMap((message) =>
    (message.role === 'assistant' ? blocksOf(message.content) : []).flatMap((block): CallMade[] => {
      if (block.type !== 'toolCall') return [];
      const id = String(block.id);
      seen.add(id);
      const run = tools[id];
      const result = results.get(id);
      const args = (block.arguments ?? {}) as Record<string, unknown>;
      const began = run?.startedAt ?? message.timestamp;
      const ended = run ? run.endedAt : result?.timestamp;
      return [
        {
          heading: toolHeading(String(block.name), args),
          name: String(block.name),
          args,
          state: run?.status ?? (result?.isError === true ? 'failed' : 'done'),
          ...(began !== undefined &&
            ended !== undefined &&
            ended >= began && { milliseconds: ended - began }),
        },
      ];
    }),
  );
  const running = Object.values(tools)
    .filter(({ toolCallId }) => !seen.has(toolCallId))
    .map(({ toolName, args, status, startedAt, endedAt }) => ({
      heading: toolHeading(toolName, args),
      name: toolName,
      args,
      state: status,
      ...(endedAt !== undefined && { milliseconds: endedAt - startedAt }),
    }));
  return [...made, ...running];
}
