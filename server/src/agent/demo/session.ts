// The demo agent's session: a tree of entries in memory. Guarantees: entries keep their ids through fork, clone and moves; the
// messages are those of the branch that ends at the leaf. Nothing is saved. Must not know: runs, the wire.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Block, Message, Model } from '../../protocol/records.ts';
import type { Clock } from '../../session/ports.ts';
import { levelsOf, models } from './models.ts';

export interface Entry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  message?: Message;
  summary?: string;
  [key: string]: unknown;
}

interface Node {
  entry: Entry;
  children: Node[];
  label?: string;
}

export type DemoSession = ReturnType<typeof createSession>;

/** A message's text blocks, joined. */
export const textOf = ({ content }: Message): string =>
  typeof content === 'string'
    ? content
    : ((content ?? []) as Block[]).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');

/** A rough count of tokens. */
export const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

/** An empty session with the first model (protocol reference 4.6 "Session file", 7). */
export function createSession(clock: Clock, startName?: string) {
  let id = randomUUID() as string;
  let name = startName;
  let model: Model = models[0]!;
  let level = 'medium';
  let entries: Entry[] = [];
  let leaf: string | null = null;
  const labels = new Map<string, string>();

  const add = (type: string, fields: object): Entry => {
    const entry: Entry = {
      type,
      id: randomBytes(4).toString('hex'),
      parentId: leaf,
      timestamp: new Date(clock.now()).toISOString(),
      ...fields,
    };
    entries.push(entry);
    leaf = entry.id;
    return entry;
  };
  const begin = () => {
    add('model_change', { provider: model.provider, modelId: model.id });
    add('thinking_level_change', { thinkingLevel: level });
  };
  begin();

  const branch = (to: string | null = leaf): Entry[] => {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const path: Entry[] = [];
    for (let at = to === null ? undefined : byId.get(to); at; at = byId.get(at.parentId ?? '')) path.push(at);
    return path.reverse();
  };

  const messages = (): Message[] => {
    const list: Message[] = [];
    for (const entry of branch()) {
      if (entry.type === 'message' && entry.message) list.push(entry.message);
      if (entry.type === 'compaction')
        list.splice(0, list.length, {
          role: 'custom',
          customType: 'compaction',
          content: entry.summary ?? '',
          display: true,
        });
    }
    return list;
  };

  const replace = (kept: Entry[], newName: string | undefined) => {
    id = randomUUID();
    name = newName;
    entries = kept;
    leaf = kept.at(-1)?.id ?? null;
    if (kept.length === 0) begin();
  };

  const totals = () => {
    const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    for (const { usage } of messages()) {
      sum.input += usage?.input ?? 0;
      sum.output += usage?.output ?? 0;
      sum.total += usage?.totalTokens ?? 0;
    }
    return sum;
  };

  return {
    get id() {
      return id;
    },
    get name() {
      return name;
    },
    get model() {
      return model;
    },
    get level() {
      return level;
    },
    get leaf() {
      return leaf;
    },
    get entries(): readonly Entry[] {
      return entries;
    },
    add,
    branch,
    messages,
    rename(to: string) {
      name = to;
      add('session_info', { name: to });
    },
    setModel(to: Model) {
      model = to;
      add('model_change', { provider: to.provider, modelId: to.id });
    },
    /** Sets the level, clamped to what the model can; true when it is another one now. */
    setLevel(to: string): boolean {
      const known = levelsOf(model);
      const clamped = known.includes(to) ? to : known.at(to === 'off' || to === 'minimal' ? 0 : -1)!;
      if (clamped === level) return false;
      level = clamped;
      add('thinking_level_change', { thinkingLevel: level });
      return true;
    },
    fresh: () => replace([], undefined),
    clone: () => replace(branch(), name),
    /** Goes on before a user message; its text, or undefined when there is no such message on the branch. */
    fork(entryId: string): string | undefined {
      const path = branch();
      const at = path.findIndex((entry) => entry.id === entryId && entry.message?.role === 'user');
      if (at < 0) return undefined;
      const text = textOf(path[at]!.message!);
      replace(path.slice(0, at), at > 2 ? name : undefined);
      return text;
    },
    /** Moves the leaf; false when there is no such entry. */
    move(entryId: string): boolean {
      if (!entries.some((entry) => entry.id === entryId)) return false;
      leaf = entryId;
      return true;
    },
    label(entryId: string, text: string | undefined): boolean {
      if (!entries.some((entry) => entry.id === entryId)) return false;
      if (text) labels.set(entryId, text);
      else labels.delete(entryId);
      return true;
    },
    tree(): Node[] {
      const nodes = new Map<string | null, Node>();
      const roots: Node[] = [];
      for (const entry of entries) {
        const label = labels.get(entry.id);
        const node: Node = { entry, children: [], ...(label !== undefined && { label }) };
        nodes.set(entry.id, node);
        (nodes.get(entry.parentId)?.children ?? roots).push(node);
      }
      return roots;
    },
    stats() {
      const list = messages();
      const count = (role: string) => list.filter((message) => message.role === role).length;
      const tokens = tokensOf(list);
      return {
        sessionId: id,
        userMessages: count('user'),
        assistantMessages: count('assistant'),
        toolCalls: count('toolResult'),
        toolResults: count('toolResult'),
        totalMessages: list.length,
        tokens: totals(),
        cost: 0,
        contextUsage: {
          tokens,
          contextWindow: model.contextWindow,
          percent: (100 * tokens) / (model.contextWindow ?? 1),
        },
      };
    },
  };
}
