// One run of the scripted agent, in the form of its dialect. Guarantees: the order of events of the protocol reference (4.1);
// cumulative messages in D0 and D1, deltas in D2 and D3; `agent_settled` in D2 and D3 only. Must not know: scripts.

/** `messages` collects the conversation; `gate` waits for the test. */
export function createRun({ dialect, emit, gate, messages }) {
  const cumulative = dialect === 'D0' || dialect === 'D1';
  let current;
  let start = 0;
  let stopped = false;
  let stop = () => {};
  let over = Promise.resolve();

  const usage = {
    input: 100,
    output: 20,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 120,
    cost: { total: 0.00014 },
  };
  const assistant = (stopReason) => ({
    role: 'assistant',
    content: [],
    provider: 'scripted',
    model: 'scripted-1',
    usage,
    stopReason,
    timestamp: 1,
  });

  const update = (event) =>
    emit(
      cumulative
        ? {
            type: 'message_update',
            assistantMessageEvent: { ...event, partial: current },
            message: current,
          }
        : { type: 'message_update', usage, assistantMessageEvent: event },
    );

  const message = async (value) => {
    messages.push(value);
    await emit({ type: 'message_start', message: value });
    await emit({ type: 'message_end', message: value });
  };

  async function block(contentIndex, kind, pieces, pause) {
    const key = kind === 'text' ? 'text' : 'thinking';
    const part = { type: key, [key]: '' };
    current.content[contentIndex] = part;
    await update({ type: `${kind}_start`, contentIndex });
    for (const [index, delta] of pieces.entries()) {
      if (stopped) break;
      part[key] += delta;
      await update({ type: `${kind}_delta`, contentIndex, delta });
      if (index === 0 && pause && pieces.length > 0) await pause();
    }
    await update({ type: `${kind}_end`, contentIndex, content: part[key] });
  }

  async function toolCall(contentIndex, { id, name, args }) {
    const call = { type: 'toolCall', id, name, arguments: args };
    current.content[contentIndex] = { ...call, arguments: {} };
    await update({
      type: 'toolcall_start',
      contentIndex,
      ...(dialect === 'D3' && { id, toolName: name }),
    });
    for (const delta of JSON.stringify(args).match(/.{1,8}/gsu) ?? [])
      await update({ type: 'toolcall_delta', contentIndex, delta });
    current.content[contentIndex] = call;
    await update({ type: 'toolcall_end', contentIndex, toolCall: call });
  }

  async function execute({ id, name, args, output = [], isError = false }) {
    const head = { toolCallId: id, toolName: name };
    await emit({ type: 'tool_execution_start', ...head, args });
    let text = '';
    for (const piece of output) {
      text += piece;
      await emit({
        type: 'tool_execution_update',
        ...head,
        args,
        partialResult: { content: [{ type: 'text', text }] },
      });
    }
    const result = { content: [{ type: 'text', text }] };
    await emit({ type: 'tool_execution_end', ...head, result, isError });
    return { role: 'toolResult', ...head, ...result, isError, timestamp: 1 };
  }

  async function beginTurn() {
    await emit({ type: 'turn_start' });
  }

  async function beginMessage() {
    current = assistant(cumulative ? 'stop' : 'pending');
    await emit({ type: 'message_start', message: current });
  }

  async function endMessage(stopReason, errorMessage) {
    Object.assign(current, { stopReason }, errorMessage !== undefined && { errorMessage });
    messages.push(current);
    await emit({ type: 'message_end', message: current });
  }

  const endTurn = (toolResults = []) => emit({ type: 'turn_end', message: current, toolResults });

  async function begin(prompt) {
    stopped = false;
    start = messages.length;
    await emit({ type: 'agent_start' });
    await beginTurn();
    if (dialect === 'D3' && messages.length === 0)
      await message({ role: 'system', content: '', timestamp: 1 });
    if (prompt !== undefined)
      await message({ role: 'user', content: [{ type: 'text', text: prompt }], timestamp: 1 });
  }

  async function finish(settled = true) {
    await emit({
      type: 'agent_end',
      messages: messages.slice(start),
      ...(dialect === 'D3' && { willRetry: false }),
    });
    if (!settled || cumulative) return;
    await emit({ type: 'agent_settled', ...(dialect === 'D3' && { aborted: stopped }) });
  }

  async function say(step, call) {
    const { say: text, thinking, tools = [], gate: name, stopReason = 'stop', errorMessage, settled } = step;
    const pieces = Array.isArray(text) ? text : (text.match(/\S+\s*|\s+/g) ?? []);
    await begin(call?.message);
    const halted = new Promise((resolve) => {
      stop = resolve;
    });
    const pause = name === undefined ? undefined : () => Promise.race([gate(name), halted]);
    await beginMessage();
    if (tools.length > 0) {
      const calls = tools.map((tool, index) => ({
        id: `tool-${messages.length}-${index}`,
        args: {},
        ...tool,
      }));
      for (const [index, tool] of calls.entries()) await toolCall(index, tool);
      await endMessage('toolUse');
      const results = [];
      for (const tool of calls) results.push(await execute(tool));
      for (const result of results) await message(result);
      await endTurn(results);
      await beginTurn();
      await beginMessage();
    }
    let index = 0;
    if (thinking !== undefined) await block(index++, 'thinking', [thinking].flat());
    await block(index, 'text', pieces, pause);
    await endMessage(stopped ? 'aborted' : stopReason, stopped ? 'Request was aborted' : errorMessage);
    await endTurn();
    await finish(settled);
  }

  const during = (work) => {
    run.active = true;
    over = work().finally(() => {
      run.active = false;
    });
    return over;
  };

  const run = {
    active: false,
    /** A whole run. */
    say: (step, call) => during(() => say(step, call)),
    /** Begins a run whose text comes by `deltas` and is ended by `close`. */
    async open() {
      run.active = true;
      await begin();
      await beginMessage();
      current.content[0] = { type: 'text', text: '' };
      await update({ type: 'text_start', contentIndex: 0 });
    },
    async deltas(words) {
      let last;
      for (const delta of words) {
        current.content[0].text += delta;
        last = update({ type: 'text_delta', contentIndex: 0, delta });
      }
      await last;
    },
    async close() {
      await update({ type: 'text_end', contentIndex: 0, content: current.content[0].text });
      await endMessage('stop');
      await endTurn();
      await finish();
      run.active = false;
    },
    /** Stops a run that waits at a gate; resolves when it is over. */
    async abort() {
      if (!run.active) return;
      stopped = true;
      stop();
      await over;
    },
  };
  return run;
}
