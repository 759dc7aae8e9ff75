// One low-level run of the demo agent, from its first turn to before `agent_end`. Guarantees: the order of events that the protocol
// reference lists (4.1): turns hold messages, messages never nest, every start has its end, an abort closes what is open. Must
// not know: scenes, the queue's rules, commands.
import { randomUUID } from 'node:crypto';
import type { AgentRecord, Block, Message, StopReason, ToolCallBlock } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { pause } from './pause.ts';
import { type DemoSession, tokensOf } from './session.ts';

export interface ToolEnd {
  text: string;
  isError?: boolean;
  details?: Record<string, unknown>;
}

export interface Stage {
  /** A thinking block. */
  think(text: string): Promise<void>;
  /** Text; a further call continues the same block as a new paragraph. */
  say(text: string): Promise<void>;
  /** A tool call with its execution; `live` adds to the output that is seen while it runs. */
  tool(
    name: string,
    args: Record<string, unknown>,
    body: (live: (text: string) => void) => Promise<ToolEnd>,
  ): Promise<void>;
  /** The model call fails: an assistant message that holds the error. The caller ends the run. */
  fail(errorMessage: string): void;
  /** A new turn; the user's messages are taken after its start, as queued ones are announced there. */
  turn(take: () => readonly Message[]): void;
  /** Ends message and turn, where they are open. */
  close(): void;
  /** Ends everything that is open as aborted. */
  cut(): void;
  /** The messages of this run, for `agent_end`. */
  readonly messages: Message[];
}

export interface StageWorld {
  send(record: AgentRecord): void;
  session: DemoSession;
  clock: Clock;
  signal: AbortSignal;
  /** Milliseconds between words. */
  pace: () => number;
  /** Messages to deliver at the start of a further turn. */
  steering(): Message[];
  /** After an assistant message that did not fail. */
  succeeded(): void;
}

const firstToken = 150;
const zero = () => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 });

/** A stage on which one low-level run plays. */
export function createStage(world: StageWorld): Stage {
  const { send, session, clock, signal } = world;
  const messages: Message[] = [];
  let inTurn = false;
  let open: (Message & { content: Block[] }) | undefined;
  let block: { kind: 'text' | 'thinking'; contentIndex: number; text: string } | undefined;
  let last: Message | undefined;
  let results: Message[] = [];

  const whole = (message: Message) => {
    send({ type: 'message_start', message });
    finished(message);
  };
  const finished = (message: Message) => {
    send({ type: 'message_end', message });
    messages.push(message);
    session.add('message', { message });
  };
  const assistant = (stopReason: StopReason, errorMessage?: string): Message & { content: Block[] } => ({
    role: 'assistant',
    content: [],
    api: 'demo',
    provider: session.model.provider,
    model: session.model.id,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: zero() },
    stopReason,
    timestamp: clock.now(),
    ...(errorMessage !== undefined && { errorMessage }),
  });
  const counted = (message: Message & { content: Block[] }) => {
    const input = tokensOf(session.messages());
    const output = tokensOf(message.content);
    return { ...message.usage, input, output, totalTokens: input + output };
  };
  const update = (assistantMessageEvent: Record<string, unknown>) =>
    send({ type: 'message_update', usage: open?.usage, assistantMessageEvent });

  const turn = (take: () => readonly Message[]) => {
    send({ type: 'turn_start' });
    inTurn = true;
    last = undefined;
    results = [];
    take().forEach(whole);
  };
  const endTurn = () => {
    send({ type: 'turn_end', message: last, toolResults: results });
    inTurn = false;
  };
  const begin = async () => {
    if (!inTurn) turn(world.steering);
    if (open) return;
    await pause(clock, firstToken, signal);
    open = assistant('pending');
    send({ type: 'message_start', message: { ...open, content: [] } });
  };
  const endBlock = () => {
    if (!block) return;
    update({ type: `${block.kind}_end`, contentIndex: block.contentIndex, content: block.text });
    block = undefined;
  };
  const endMessage = (stopReason: StopReason, errorMessage?: string) => {
    if (!open) return;
    endBlock();
    last = {
      ...open,
      usage: counted(open),
      stopReason,
      ...(errorMessage !== undefined && { errorMessage }),
    };
    open = undefined;
    finished(last);
    if (stopReason === 'stop' || stopReason === 'toolUse') world.succeeded();
  };
  const failed = (stopReason: 'error' | 'aborted', errorMessage: string) => {
    last = assistant(stopReason, errorMessage);
    whole(last);
  };

  const stream = async (kind: 'text' | 'thinking', text: string) => {
    await begin();
    if (block?.kind !== kind) {
      endBlock();
      block = { kind, contentIndex: open!.content.length, text: '' };
      open!.content.push(kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '' });
      update({ type: `${kind}_start`, contentIndex: block.contentIndex });
    }
    const more = block.text && !block.text.endsWith('\n') ? `\n\n${text}` : text;
    for (const delta of more.match(/\s*\S+\s*/g) ?? []) {
      await pause(clock, world.pace(), signal);
      block.text += delta;
      const own = open!.content[block.contentIndex]!;
      if (own.type === 'text') own.text = block.text;
      else if (own.type === 'thinking') own.thinking = block.text;
      update({ type: `${kind}_delta`, contentIndex: block.contentIndex, delta });
    }
  };

  return {
    messages,
    turn,
    think: (text) => stream('thinking', text),
    say: (text) => stream('text', text),
    async tool(name, args, body) {
      await begin();
      endBlock();
      const call: ToolCallBlock = { type: 'toolCall', id: `demo_${randomUUID()}`, name, arguments: args };
      const contentIndex = open!.content.length;
      update({ type: 'toolcall_start', contentIndex });
      for (const delta of JSON.stringify(args).match(/.{1,8}/gsu) ?? []) {
        await pause(clock, world.pace(), signal);
        update({ type: 'toolcall_delta', contentIndex, delta });
      }
      open!.content.push(call);
      update({ type: 'toolcall_end', contentIndex, toolCall: call });
      endMessage('toolUse');
      const about = { toolCallId: call.id, toolName: name };
      send({ type: 'tool_execution_start', ...about, args });
      let output = '';
      const live = (text: string) => {
        output += text;
        const partialResult = { content: [{ type: 'text', text: output }], details: {} };
        send({ type: 'tool_execution_update', ...about, args, partialResult });
      };
      const end = await body(live).catch((error): ToolEnd => {
        if (!signal.aborted) throw error;
        return { text: `${output}\n\nCommand aborted`, isError: true };
      });
      const isError = end.isError ?? signal.aborted;
      const result = { content: [{ type: 'text' as const, text: end.text }], details: end.details ?? {} };
      send({ type: 'tool_execution_end', ...about, result, isError });
      const message: Message = { role: 'toolResult', ...about, ...result, isError, timestamp: clock.now() };
      whole(message);
      results.push(message);
      endTurn();
      signal.throwIfAborted();
    },
    fail(errorMessage) {
      if (!inTurn) turn(world.steering);
      if (open) endMessage('error', errorMessage);
      else failed('error', errorMessage);
      endTurn();
    },
    close() {
      endMessage('stop');
      if (inTurn) endTurn();
    },
    cut() {
      if (!inTurn) turn(() => []);
      if (open) endMessage('aborted', 'Request was aborted');
      else failed('aborted', 'Request was aborted');
      endTurn();
    },
  };
}
