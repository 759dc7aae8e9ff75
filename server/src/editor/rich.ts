// The requests of a rich client (docs/protocol.md). Guarantees: each acts on the session that it names, or on the current one; the
// client is told when the sessions here are others than before. Must not know: how a session is followed, LSP's own methods.
import {
  type EditorTabs,
  editorAttachParams,
  editorDetachParams,
  editorIntentParams,
  editorMethods,
  editorReadParams,
} from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import { checked } from './checked.ts';
import type { Client } from './client.ts';
import type { Commands } from './commands.ts';
import type { Events } from './events.ts';
import { tabInfo } from './tab-commands.ts';
import type { Tab, Tabs } from './tabs.ts';

export interface Rich {
  attach(params: unknown): Promise<unknown>;
  detach(params: unknown): Promise<unknown>;
  intent(params: unknown): Promise<unknown>;
  read(params: unknown): Promise<unknown>;
  /** Something about the sessions may be another than before. */
  tabsChanged(): void;
}

export interface RichParts {
  client: Pick<Client, 'notify'>;
  tabs: Tabs;
  commands: Pick<Commands, 'intent' | 'read'>;
  events(tab: Tab): Events;
  /** The client opted in to events. */
  rich(): boolean;
}

export function createRich({ client, tabs, commands, events, rich }: RichParts): Rich {
  /** Whether the client has attached, so that it knows what sessions are. */
  let begun = false;
  let told = '';
  let planned = false;

  const tabsChanged = () => {
    if (!begun || planned) return;
    planned = true;
    // After the answer to whatever changed them.
    setImmediate(() => {
      planned = false;
      const params: EditorTabs = { tabs: tabs.list.map((tab) => tabInfo(tab, tab === tabs.current)) };
      const text = JSON.stringify(params);
      if (text === told) return;
      told = text;
      client.notify(editorMethods.tabs, params);
    });
  };
  /** The session that an attach names by its id or its name. */
  const wanted = (session: string | undefined, workspace: string | undefined): Tab => {
    const known = tabs.list.find(({ id }) => id === session);
    if (known && workspace === undefined) return known;
    if (session === undefined && workspace === undefined) return tabs.current;
    return tabs.open({
      workspace: workspace ?? tabs.current.workspace,
      ...(session !== undefined && { session }),
    });
  };
  const tabOf = (session: string | undefined): Tab =>
    session === undefined ? tabs.current : tabs.get(session);

  const self: Rich = {
    async attach(given) {
      const params = checked('atomic/attach', editorAttachParams, given);
      if (!rich())
        throw new AtomicError(
          'BadArguments',
          'atomic/attach is for clients that opted in: give initializationOptions.client = {"name": …, "events": true}.',
        );
      const before = new Set(tabs.list);
      const tab = wanted(params.session, params.workspace);
      // Nothing may come between this and the answer.
      events(tab).end();
      const mirror = await tab.link.ready().catch((error: unknown) => {
        if (!before.has(tab)) tabs.close(tab);
        else if (params.session === undefined && tab !== tabs.current) return undefined;
        throw error;
      });
      // Another became the current one meanwhile.
      if (!mirror) return self.attach(given);
      if (params.current) tabs.use(tab);
      begun = true;
      tabsChanged();
      return events(tab).attach(mirror, params.cursor);
    },
    async detach(given) {
      tabs.close(tabs.get(checked('atomic/detach', editorDetachParams, given).session));
      return null;
    },
    async intent(given) {
      const { id, command, session, params } = checked('atomic/intent', editorIntentParams, given);
      return commands.intent(tabOf(session), id, command, params ?? {});
    },
    async read(given) {
      const { command, session, params } = checked('atomic/read', editorReadParams, given);
      return commands.read(tabOf(session), command, params ?? {});
    },
    tabsChanged,
  };
  return self;
}
