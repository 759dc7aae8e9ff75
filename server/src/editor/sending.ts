// The way of a prompt file to its session. Guarantees: what stands in the file of a session goes to that session and to no other;
// whoever sends hears what became of it, even when the hub died in between. Must not know: the file's document.
import path from 'node:path';
import type { Client } from './client.ts';
import { type FilesParts, same } from './files.ts';
import type { Outcomes } from './outcomes.ts';
import type { Prompting } from './prompting.ts';
import type { Tab, Tabs } from './tabs.ts';

export interface SendingParts {
  client: Pick<Client, 'message'>;
  tabs: Tabs;
  outcomes: Outcomes;
  prompting: Pick<Prompting, 'sent'>;
  /** The session that a file belongs to, when it is one of ours. */
  sessionOf(file: string): { workspace: string; session: string } | undefined;
}

export type Sending = Pick<FilesParts, 'promptOf' | 'prompt' | 'taken'>;

/** Earlier prompts that a text is compared with: all that are kept. */
const limit = 500;

export function createSending({ client, tabs, outcomes, prompting, sessionOf }: SendingParts): Sending {
  const lies = async (file: string, tab: Tab) => same(path.dirname(file), await tabs.folder(tab.id));
  return {
    async promptOf(file) {
      const owner = sessionOf(file);
      const tab = owner ? tabs.open(owner) : tabs.current;
      if (!(await lies(file, tab))) return undefined;
      tabs.use(tab);
      return tab.id;
    },
    async prompt(session, message) {
      const { link } = tabs.get(session);
      const id = link.newId();
      const outcome = await outcomes.of(
        id,
        () => link.mirror?.epoch,
        async () => link.intent(id, 'prompt', await prompting.sent(tabs.get(session), message)),
      );
      if (outcome === 'lost')
        client.message(
          'error',
          'The hub ended before it was known whether the prompt was taken. It is still in the prompt file: look into the chat before you save it again.',
        );
      return outcome === 'done';
    },
    async taken(file, text) {
      const owner = sessionOf(file);
      const tab = owner ? tabs.find(owner) : tabs.current;
      if (!tab || !(await lies(file, tab))) return false;
      const { prompts } = (await tab.link.read('list_history', { limit })) as { prompts: { text: string }[] };
      return prompts.some((prompt) => prompt.text === text);
    },
  };
}
