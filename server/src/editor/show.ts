// Opens a file of ours in the editor. Guarantees: where the editor does not open it, the person is told where it lies. Must not
// know: what is in it.
import { URI } from 'vscode-uri';
import type { Log } from '../session/ports.ts';
import type { Client } from './client.ts';
import { rangeOf } from './documents.ts';

/** Shows a file; `what` is what a person calls it. Never rejects. */
export type Show = (file: string, what: string) => Promise<void>;

/** Milliseconds that an editor has to show a file. */
const showing = 2000;

export const createShow =
  (client: Client, log: Log): Show =>
  async (file, what) => {
    if (client.traits.showsDocuments) {
      const params = { uri: URI.file(file).toString(), takeFocus: true, selection: rangeOf('') };
      const shown = await client
        .request('window/showDocument', params, { limit: showing })
        .catch((error: unknown) => log.info({ error: String(error) }, 'the editor did not show a file'));
      if ((shown as { success?: unknown } | null | undefined)?.success === true) return;
    }
    client.message('info', `${what}: open ${file}`, true);
  };
