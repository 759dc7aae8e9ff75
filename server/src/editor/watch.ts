// What this editor shows of one session it follows: progress, messages, the live chat, and the stream for a rich client. Guarantees: what comes of a
// session that is not the current one says of which. Must not know: how sessions are followed, dialogs.
import type { Clock, Log } from '../session/ports.ts';
import { chatFeature } from './chat-features.ts';
import type { Client } from './client.ts';
import type { Documents } from './documents.ts';
import { createEvents, type Events } from './events.ts';
import type { Feature } from './features.ts';
import { createNotices, type Notices } from './notices.ts';
import { createProgress, type Progress } from './progress.ts';
import type { Show } from './show.ts';
import type { Tab, Tabs } from './tabs.ts';
import type { Transport } from './transport.ts';
import { createView, type View } from './view.ts';

/** One for each session that is followed. */
export interface Watches {
  of(tab: Tab): Watch;
  /** What the editor asks about chat documents. */
  readonly feature: Feature;
  /** The session is followed no longer. */
  end(tab: Tab): void;
}

export interface Watch {
  readonly events: Events;
  readonly notices: Notices;
  readonly progress: Progress;
  readonly view: View;
  end(): void;
}

export interface WatchParts {
  client: Client;
  transport: Pick<Transport, 'full' | 'onRoom'>;
  documents: Documents;
  show: Show;
  isAlive(pid: number): boolean;
  clock: Clock;
  log: Log;
  tabs: Pick<Tabs, 'current' | 'label' | 'link' | 'list'>;
  /** The client shows facts itself. */
  rich(): boolean;
  /** Puts a text into the session's prompt file. */
  giveBack(tab: Tab, text: string): void;
}

export function createWatches(parts: WatchParts): Watches {
  const watches = new Map<Tab, Watch>();
  let tokens = 0;
  const token = () => {
    tokens += 1;
    return `atomic-${tokens}`;
  };
  const of = (tab: Tab): Watch => {
    const watch = watches.get(tab) ?? createWatch(parts, tab, token);
    watches.set(tab, watch);
    return watch;
  };
  return {
    of,
    feature: chatFeature({
      documents: parts.documents,
      chatOf: (uri) => parts.tabs.list.find((tab) => of(tab).view.isChat(uri)),
    }),
    end(tab) {
      watches.get(tab)?.end();
      watches.delete(tab);
    },
  };
}

function createWatch(parts: WatchParts, tab: Tab, token: () => string): Watch {
  const { client, clock, log, tabs, rich } = parts;
  const label = () => tabs.label(tab);
  const before = () => (tabs.current === tab || label() === '' ? '' : `[${label()}] `);
  const events = createEvents(client, parts.transport, clock);
  const progress = createProgress(client, clock, token, () =>
    label() === '' ? 'Atomic' : `Atomic (${label()})`,
  );
  const view = createView({
    client,
    documents: parts.documents,
    show: parts.show,
    clock,
    log,
    pid: process.pid,
    isAlive: parts.isAlive,
    ready: () => tab.link.ready(),
    async folder() {
      await tab.link.ready();
      return tab.link.folder!;
    },
  });
  const { sent, given, isUs } = tabs.link;
  const loggingIn = () =>
    tab.link.mirror?.snapshot.intents.some(
      ({ intent, command, outcome }) => command === 'login_provider' && outcome === 'pending' && sent(intent),
    ) === true;
  const notices = createNotices({
    client: {
      get traits() {
        return client.traits;
      },
      request: client.request,
      message: (level, text, urgent) => client.message(level, before() + text, urgent),
      record: (text) => client.record(before() + text),
    },
    sent,
    given,
    isUs,
    rich,
    loggingIn,
    giveBack: (text) => parts.giveBack(tab, text),
  });
  return {
    events,
    notices,
    progress,
    view,
    end() {
      view.close();
      events.end();
      progress.end();
    },
  };
}
