// A scripted OpenAI-compatible model on loopback, for real agents. Guarantees: replies exactly what the script says, in its order
// and without a clock (a gate that the test opens is the only delay); says when a request came and when its client hung up.
// Must not know: which agent asks.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A place where a reply waits for the test. */
export interface Gate {
  /** Lets the reply go on, now or when it comes here. */
  open(): void;
  readonly opened: Promise<void>;
  /** Resolves once a reply waits here (or has passed). */
  readonly reached: Promise<void>;
  /** For the server: marks the gate as reached. */
  reach(): void;
}

/** One piece of a reply, streamed as one chunk unless it says otherwise. */
export type Piece =
  /** Text. */
  | string
  /** Thinking. */
  | { reasoning: string }
  /** A tool call; its arguments are streamed in pieces of eight characters. */
  | { toolCall: string; arguments: Record<string, unknown>; id?: string }
  /** A wait until the test opens the gate, or the client hangs up. */
  | { gate: Gate }
  /** This many chunks of one word each, as fast as the client reads. */
  | { tokens: number }
  /** Silence until the client hangs up. */
  | { hang: true }
  /** The connection breaks here. */
  | { cut: true }
  /** Another reason to end than `stop` or `tool_calls`, `length` for one. */
  | { finish: string };

/** What the model answers: a text, pieces, or an error of the provider (429 and 500 make an agent retry). */
export type Reply = string | readonly Piece[] | { status: number; body?: unknown };

export interface ModelRequest {
  /** The body of the request. */
  readonly body: {
    model: string;
    messages: { role: string; content?: unknown; [key: string]: unknown }[];
    tools?: { function?: { name?: string } }[];
    stream?: boolean;
    [key: string]: unknown;
  };
  /** The text of the last user message. */
  readonly prompt: string;
  /** Resolves when the client hung up before the reply was complete. */
  readonly aborted: Promise<void>;
}

/** Replies in the order of the requests (one more request than replies is refused with 400), or a function. */
export type ModelScript = readonly Reply[] | ((request: ModelRequest) => Reply | Promise<Reply>);

export interface ModelServer {
  /** Base address of the API, ending in `/v1`. */
  readonly url: string;
  /** What was asked so far. */
  readonly requests: readonly ModelRequest[];
  /** The n-th request, counted from 0; resolves when it comes. */
  request(index: number): Promise<ModelRequest>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** A gate, closed at first. */
export function gate(): Gate {
  const opened = signal();
  const reached = signal();
  return { open: opened.give, opened: opened.given, reach: reached.give, reached: reached.given };
}

function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

/** Starts a model server on a free port of 127.0.0.1. */
export async function startModelServer(script: ModelScript): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const waiting: { index: number; found: (request: ModelRequest) => void }[] = [];

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    if (incoming.method !== 'POST' || !incoming.url?.endsWith('/chat/completions')) {
      sendJson(response, 404, { error: { message: `no ${incoming.method} ${incoming.url} here` } });
      return;
    }
    const body = JSON.parse(await textOf(incoming)) as ModelRequest['body'];
    const aborted = signal();
    response.on('close', () => {
      if (!response.writableFinished) aborted.give();
    });
    const request: ModelRequest = { body, prompt: lastPrompt(body.messages), aborted: aborted.given };
    const index = requests.push(request) - 1;
    for (const entry of waiting) if (entry.index === index) entry.found(request);
    const reply = typeof script === 'function' ? await script(request) : script[index];
    if (reply === undefined)
      sendJson(response, 400, { error: { message: `the script has no reply number ${index + 1}` } });
    else if (typeof reply === 'object' && 'status' in reply)
      sendJson(
        response,
        reply.status,
        reply.body ?? { error: { message: `scripted error ${reply.status}` } },
      );
    else await stream(response, body, typeof reply === 'string' ? [reply] : reply, `reply-${index + 1}`);
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      // A fault of the script's function: the agent shall say it, so that the test shows it.
      if (!response.headersSent) sendJson(response, 400, { error: { message: String(error) } });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    request: (index) =>
      requests[index]
        ? Promise.resolve(requests[index])
        : new Promise((found) => waiting.push({ index, found })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Streams a reply as server-sent events, or collects it where the client does not want a stream. */
async function stream(
  response: ServerResponse,
  body: ModelRequest['body'],
  pieces: readonly Piece[],
  id: string,
): Promise<void> {
  const hungUp = new Promise<'gone'>((resolve) => response.once('close', () => resolve('gone')));
  const streamed = body.stream === true;
  const head = { id, created: 0, model: body.model };
  const whole = { role: 'assistant', content: '', reasoning_content: '', tool_calls: [] as object[] };
  const event = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const write = async (text: string): Promise<void> => {
    if (!streamed || response.destroyed) return;
    if (!response.write(text))
      await Promise.race([new Promise((resolve) => response.once('drain', resolve)), hungUp]);
  };
  const send = (delta: object) => write(event(delta));
  if (streamed) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    await send({ role: 'assistant', content: '' });
  }
  let calls = 0;
  let finish: string | undefined;
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (typeof piece === 'string') {
      whole.content += piece;
      await send({ content: piece });
    } else if ('reasoning' in piece) {
      whole.reasoning_content += piece.reasoning;
      await send({ reasoning_content: piece.reasoning });
    } else if ('toolCall' in piece) {
      const index = calls++;
      const text = JSON.stringify(piece.arguments);
      const call = { id: piece.id ?? `${id}-call-${index + 1}`, type: 'function' };
      whole.tool_calls.push({ ...call, function: { name: piece.toolCall, arguments: text } });
      await send({ tool_calls: [{ index, ...call, function: { name: piece.toolCall, arguments: '' } }] });
      for (const part of text.match(/.{1,8}/gsu) ?? [])
        await send({ tool_calls: [{ index, function: { arguments: part } }] });
    } else if ('gate' in piece) {
      piece.gate.reach();
      if ((await Promise.race([piece.gate.opened, hungUp])) === 'gone') return;
    } else if ('tokens' in piece) {
      for (let at = 0; at < piece.tokens && !response.destroyed; at += 500) {
        const words = Array.from({ length: Math.min(500, piece.tokens - at) }, (_, n) => `word${at + n} `);
        whole.content += words.join('');
        await write(words.map((content) => event({ content })).join(''));
      }
    } else if ('hang' in piece) {
      await hungUp;
      return;
    } else if ('cut' in piece) {
      response.destroy();
      return;
    } else finish = piece.finish;
  }
  finish ??= calls > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  if (streamed) {
    await write(event({}, finish));
    await write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
    );
    response.end('data: [DONE]\n\n');
  } else
    sendJson(response, 200, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: whole, finish_reason: finish }],
      usage,
    });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function lastPrompt(messages: ModelRequest['body']['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (block as { text?: string }).text ?? '').join('');
}
