// Answers to commands that a recording has no place for. Guarantees: a read gets what the recorded agent said to it, the newest
// so far or else the next; stopping succeeds; anything else is refused as this agent refuses what it does not know.

const minimal = {
  get_messages: { messages: [] },
  get_commands: { commands: [] },
  get_available_models: { models: [] },
  get_available_thinking_levels: { levels: ['off'] },
  get_entries: { entries: [], leafId: null },
  get_tree: { tree: [], leafId: null },
  get_fork_messages: { messages: [] },
  get_last_assistant_text: {},
  get_session_stats: {
    sessionId: 'recorded',
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
  },
  get_state: {
    thinkingLevel: 'off',
    isStreaming: false,
    isCompacting: false,
    steeringMode: 'one-at-a-time',
    followUpMode: 'one-at-a-time',
    sessionId: 'recorded',
    autoCompactionEnabled: true,
    messageCount: 0,
    pendingMessageCount: 0,
  },
  clear_queue: { steering: [], followUp: [] },
};

/** `refusesWithoutId`: as pi 0.58 does. */
export function createAnswers(entries, refusesWithoutId) {
  const recorded = (command, at) => {
    const says = ({ kind, record }) =>
      kind !== 'in' && record?.type === 'response' && record.command === command && record.success;
    return (entries.slice(0, at).findLast(says) ?? entries.slice(at).find(says))?.record.data;
  };

  /** Whether a run is going on at this place of the recording. */
  const streaming = (at) => {
    const last = entries
      .slice(0, at)
      .findLast(({ kind, record }) => kind === 'out' && /^agent_(start|end|settled)$/.test(record?.type));
    return last?.record.type === 'agent_start';
  };

  return {
    /** The response to a command; undefined where there is none. `at` is how far the recording was played. */
    answer({ id, type }, at) {
      if (type === 'extension_ui_response') return undefined;
      const done = (data) => ({ id, type: 'response', command: type, success: true, ...(data && { data }) });
      if (type === 'get_state')
        return done({
          ...minimal.get_state,
          ...recorded(type, at),
          isStreaming: streaming(at),
          isCompacting: false,
          pendingMessageCount: 0,
        });
      const data = recorded(type, at) ?? minimal[type];
      if (data || type.startsWith('abort')) return done(data);
      const refusal = { type: 'response', command: type, success: false, error: `Unknown command: ${type}` };
      return refusesWithoutId ? refusal : { id, ...refusal };
    },
  };
}
