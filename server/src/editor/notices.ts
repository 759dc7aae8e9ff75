// What a person is told in one line. Guarantees: everything that went wrong with what this editor asked for is told once; a
// rich client, which has the facts, is not told twice. Must not know: the hub, dialogs, progress.
import { commandRow, type Params } from '../protocol/commands.ts';
import type { Fact, FactOf } from '../protocol/facts.ts';
import type { Client, Level } from './client.ts';

export interface Notices {
  take(facts: readonly Fact[]): void;
}

export interface NoticeParts {
  client: Pick<Client, 'traits' | 'request' | 'message' | 'record'>;
  /** Whether this editor sent the intent. */
  sent(intent: string): boolean;
  /** The parameters of an intent that this editor sent. */
  given(intent: string): object | undefined;
  isUs(origin: { id: string } | undefined): boolean;
  /** The client shows facts itself. */
  rich(): boolean;
  /** A login is going on that this editor asked for. */
  loggingIn(): boolean;
  /** Puts a text into the prompt file for the person to go on with. */
  giveBack(text: string): void;
}

export function createNotices({
  client,
  sent,
  given,
  isUs,
  rich,
  loggingIn,
  giveBack,
}: NoticeParts): Notices {
  const take = (fact: Fact) => {
    switch (fact.type) {
      case 'notice':
        return client.message(fact.level, fact.message);
      case 'intent_settled':
        if (!sent(fact.intent)) return;
        if (fact.outcome === 'done')
          return done(fact.command, (fact.data ?? {}) as Params, (given(fact.intent) ?? {}) as Params);
        return client.message('error', fact.error ?? `${fact.command}: ${outcomes[fact.outcome]}.`);
      case 'agent_exited':
        if (!fact.expected) client.message('error', fact.message);
        return;
      case 'agent_started':
        if (fact.agent.demo)
          client.message(
            'warning',
            'This is the built-in demo agent: install atomic or pi, or set "agent", to work with a real one.',
          );
        return client.record(`Agent started: ${fact.agent.command}`);
      case 'agent_settled':
        if (fact.outcome.stopReason === 'error')
          client.message('error', fact.outcome.errorMessage ?? 'The run ended with an error of the model.');
        return;
      case 'compaction_end':
        if (fact.errorMessage) client.message('warning', `Compaction failed: ${fact.errorMessage}`);
        return;
      case 'queue_returned':
        if (!isUs(fact.origin) || fact.texts.length === 0) return;
        giveBack(fact.texts.join('\n\n'));
        return client.message(
          'info',
          `Taken back from the queue, and now in the prompt file: ${fact.texts.join(' | ')}`,
        );
      case 'extension_error':
        return client.message('warning', `An extension of the agent failed: ${fact.error}`);
      case 'extension_ui_request':
        return announced(fact);
    }
  };
  const done = (command: string, data: Params, params: Params) => {
    const row = commandRow(command);
    const text = row?.back?.(data);
    if (text) giveBack(text);
    const sentence = row?.told?.(data, params);
    if (sentence) client.message('info', text ? `${sentence} Its text is in the prompt file.` : sentence);
  };
  /** Extension UI protocol, "Fire-and-forget methods"; login steps alike. */
  const announced = (fact: FactOf<'extension_ui_request'>) => {
    const text = (key: string) => (typeof fact[key] === 'string' ? (fact[key] as string) : '');
    switch (fact.method) {
      case 'notify':
        return client.message(levels[text('notifyType')] ?? 'info', text('message'));
      case 'setStatus':
        return text('statusText') && client.record(`${text('statusKey')}: ${text('statusText')}`);
      case 'setTitle':
        return text('title') && client.record(`Title: ${text('title')}`);
      case 'oauth_auth':
      case 'oauth_device_code':
      case 'oauth_info':
      case 'oauth_progress': {
        const said = ['message', 'instructions', 'userCode', 'verificationUri', 'url']
          .map(text)
          .filter((it) => it !== '');
        return said.length > 0 && client.message('info', `Login: ${said.join(' ')}`, true);
      }
    }
  };
  /** Opens the page of a login in a browser (LSP: `window/showDocument` with `external`), in the editor that wanted it only. */
  const openedPage = (fact: Fact) => {
    if (fact.type !== 'extension_ui_request' || !fact.method.startsWith('oauth_')) return;
    const page = [fact.url, fact.verificationUri].find(isPage);
    if (page === undefined || !client.traits.showsDocuments || !loggingIn()) return;
    // The address is in the message as well, for an editor that cannot.
    client
      .request('window/showDocument', { uri: page, external: true }, { limit: opening })
      .catch(() => client.message('info', `Login: open ${page}`, true));
  };
  return {
    take(facts) {
      for (const fact of facts) {
        openedPage(fact);
        if (!rich()) take(fact);
      }
    },
  };
}

/** Milliseconds that an editor has to open a browser. */
const opening = 5000;
const isPage = (value: unknown): value is string => typeof value === 'string' && /^https?:\/\//i.test(value);

const levels: Record<string, Level> = { info: 'info', warning: 'warning', error: 'error' };
const outcomes = {
  refused: 'the agent refused it',
  failed: 'it failed',
  unknown: 'nobody knows whether it was done, because the agent ended',
};
