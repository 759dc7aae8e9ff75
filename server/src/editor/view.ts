// The live chat: a view document of this editor's own, `views/<editor>-<pid>.md` in the session's folder, that begins with the newest
// turns and then grows. Guarantees: `chat.md` is never touched; a file that the editor has open is changed through the
// editor alone, unless the editor is of those that only see the disk; whichever server of the editor has the document open
// streams into it; files of editors that are gone go, too. Must not know: Markdown, how an edit comes to stand.
import fs from 'node:fs';
import path from 'node:path';
import { breaksAt, emptyView, headLine, headPattern, missingIn, tailStart, turnsOf } from '../chat/tail.ts';
import type { Dialog } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { folded } from '../session/fold.ts';
import type { Clock, Log } from '../session/ports.ts';
import type { Transcript } from '../session/transcript.ts';
import { stillOpen } from '../session/transcript-blocks.ts';
import { remark } from '../session/transcript-text.ts';
import { begunTranscript } from '../session/transcript-whole.ts';
import type { Client } from './client.ts';
import { type Document, type Documents, pathOf, rangeOf } from './documents.ts';
import type { Change, Mirror } from './mirror.ts';
import type { Show } from './show.ts';
import { createStream } from './stream.ts';
import { put, real, swept } from './view-files.ts';

export interface View {
  /** `atomic.open`: writes the view and shows it; one that is open is shown as it is. */
  open(): Promise<void>;
  /** `atomic.olderTurns`: puts earlier turns in front of what the view shows. */
  older(): Promise<void>;
  take(change: Change): void;
  /** A question was shown and not answered: the chat says once more how it can be, unless it is settled before the text rests. */
  stillOpen(dialog: Dialog, how: string): void;
  /** Whether a document is a view, or the transcript itself. */
  isChat(uri: string): boolean;
  close(): void;
}

export interface ViewParts {
  client: Client;
  documents: Documents;
  show: Show;
  clock: Clock;
  log: Log;
  pid: number;
  isAlive(pid: number): boolean;
  /** Attaches if need be. */
  ready(): Promise<Mirror>;
  folder(): Promise<string>;
}

/** A view that grows: in an open document, or on disk. */
interface Growing {
  transcript: Transcript;
  snapshot: Snapshot;
  add(text: string): void;
  end(): void;
}

/** Milliseconds between writes of a view that is on disk only. */
const writing = 500;
/** Milliseconds between looks at whether tools have run for so long that their output is shown. */
const looking = 1000;
/** Turns that `older` adds. */
const step = 40;

export function createView(parts: ViewParts): View {
  const { client, documents, show, clock, log } = parts;
  const growing = new Map<string, Growing>();
  let views: string | undefined;
  let cancelLook: (() => void) | undefined;
  let unanswered: { id: string; how: string }[] = [];

  const place = async (): Promise<string> => {
    views = path.join(await parts.folder(), 'views');
    return views;
  };
  const ownName = () => `${client.traits.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${parts.pid}.md`;
  const isView = (uri: string): string | undefined => {
    const file = pathOf(uri);
    if (file === undefined || views === undefined || !file.endsWith('.md')) return undefined;
    return real(path.dirname(file)) === real(views) ? file : undefined;
  };
  const openDocument = (file: string): Document | undefined =>
    documents.all().find(({ uri, languageId }) => languageId !== '' && isView(uri) === file);

  const begun = (snapshot: Snapshot) => {
    const { text, transcript } = begunTranscript(snapshot);
    const { at, left } = tailStart(text);
    const shown = text.slice(at);
    const head = left > 0 ? `${headLine(left)}\n\n` : '';
    return { text, transcript, shown: head + (shown === '' ? emptyView : shown) };
  };
  /** On disk alone: for editors that read a file again by themselves and take no edits. */
  const growOnDisk = (file: string, transcript: Transcript, snapshot: Snapshot) => {
    let pending = '';
    let cancel: (() => void) | undefined;
    const write = () => {
      cancel = undefined;
      const text = pending;
      pending = '';
      fs.appendFile(file, text, (error) => {
        if (error) log.warn({ error, file }, 'a view could not be written');
      });
    };
    growing.get(file)?.end();
    growing.set(file, {
      transcript,
      snapshot,
      add(text) {
        pending += text;
        cancel ??= clock.after(writing, write);
      },
      end: () => cancel?.(),
    });
  };
  /** A view was opened: it is brought up to date and grows from now on. */
  const adopt = (document: Document, file: string, snapshot: Snapshot) => {
    growing.get(file)?.end();
    const { text, transcript } = begunTranscript(snapshot);
    const missing = missingIn(document.text, text);
    const stream = createStream({
      uri: document.uri,
      client,
      documents,
      clock,
      breaks: missing?.breaks ?? breaksAt(document.text.replace(/\r\n?/g, '\n')),
      onGivenUp() {
        growing.delete(file);
        client.message(
          'warning',
          'The chat does not grow in this document any more: open it anew with atomic.open.',
        );
      },
    });
    growing.set(file, { transcript, snapshot, add: stream.add, end: stream.end });
    if (missing === undefined)
      stream.add(`\n---\n\n${remark('The conversation, read again.')}\n\n${begun(snapshot).shown}`);
    else stream.add(missing.text);
    lookLater();
  };
  const opened = async (document: Document) => {
    // Only files of a session's folder are worth a session.
    if (!/[\\/](views[\\/][^\\/]+|chat(\.\d+)?)\.md$/.test(pathOf(document.uri) ?? '')) return;
    const mirror = await parts.ready();
    await place();
    const file = isView(document.uri);
    const now = documents.get(document.uri);
    if (file === undefined || now === undefined || client.traits.streams !== 'edits') return;
    adopt(now, file, mirror.snapshot);
  };
  documents.onOpen((document) => {
    opened(document).catch((error: unknown) => log.warn({ error }, 'a view could not be followed'));
  });
  documents.onClose((uri) => {
    const file = isView(uri);
    if (file === undefined || client.traits.streams !== 'edits') return;
    growing.get(file)?.end();
    growing.delete(file);
  });

  /** What a tool puts out beyond its beginning is not in the transcript before its end. */
  const lookLater = () => {
    const running = [...growing.values()].some(({ snapshot: { tools } }) =>
      Object.values(tools).some(({ status }) => status === 'running'),
    );
    if (running) cancelLook ??= clock.after(looking, look);
  };
  const look = () => {
    cancelLook = undefined;
    for (const { transcript, add } of growing.values()) {
      const text = transcript.looked(clock.now());
      if (text) add(text);
    }
    lookLater();
  };

  const askAgain = () => {
    const now = [...growing.values()];
    if (unanswered.length === 0 || now.some(({ transcript }) => !transcript.atRest)) return;
    for (const { id, how } of unanswered)
      for (const { snapshot, transcript, add } of now)
        if (snapshot.dialogs.some((dialog) => dialog.id === id)) add(transcript.noted(stillOpen(how)));
    unanswered = [];
  };

  const replaced = (it: Growing, snapshot: Snapshot) => {
    const { state, messages, olderMessages } = snapshot;
    it.snapshot = snapshot;
    it.add(
      it.transcript.appended(
        { type: 'session_replaced', state, messages, olderMessages, reason: 'the hub was lost' },
        snapshot,
      ),
    );
  };

  const self: View = {
    async open() {
      const mirror = await parts.ready();
      const folder = await place();
      const file = path.join(folder, ownName());
      swept(folder, parts);
      if (!openDocument(file)) {
        const { shown, transcript } = begun(mirror.snapshot);
        put(file, shown);
        if (client.traits.streams === 'disk') growOnDisk(file, transcript, mirror.snapshot);
      }
      await show(file, 'The chat');
    },
    async older() {
      const mirror = await parts.ready();
      await place();
      const document = documents.all().find(({ uri }) => growing.has(isView(uri) ?? ''));
      if (!document) return self.open();
      const text = document.text.replace(/\r\n?/g, '\n');
      const [first] = turnsOf(text);
      const { text: whole } = begunTranscript(mirror.snapshot);
      const at = first === undefined ? -1 : whole.indexOf(text.slice(first, first + 200).split('\n## ')[0]!);
      const turns = turnsOf(whole).filter((offset) => offset < at);
      const from = turns.slice(-step)[0];
      if (from === undefined) {
        client.message(
          'info',
          'There are no earlier turns here: chat.md in the session’s folder has the whole conversation.',
        );
        return;
      }
      const left = turns.indexOf(from);
      const head = headPattern.exec(text);
      const range = head
        ? { start: rangeOf(text.slice(0, head.index)).end, end: rangeOf(text.slice(0, first)).end }
        : { start: rangeOf(text.slice(0, first)).end, end: rangeOf(text.slice(0, first)).end };
      const newText = `${left > 0 ? `${headLine(left)}\n\n` : ''}${whole.slice(from, at)}`;
      await client.request(
        'workspace/applyEdit',
        { edit: { changes: { [document.uri]: [{ range, newText }] } } },
        { limit: 5000 },
      );
    },
    take({ facts, snapshot, fresh }) {
      for (const it of growing.values()) {
        if (fresh) {
          replaced(it, snapshot);
          continue;
        }
        let text = '';
        for (const fact of facts) {
          it.snapshot = folded(it.snapshot, fact);
          text += it.transcript.appended(fact, it.snapshot);
        }
        if (text) it.add(text);
      }
      lookLater();
      askAgain();
    },
    stillOpen({ id }, how) {
      unanswered.push({ id, how });
      askAgain();
    },
    isChat(uri) {
      if (isView(uri) !== undefined) return true;
      const file = pathOf(uri);
      return (
        file !== undefined &&
        views !== undefined &&
        /^chat(\.\d+)?\.md$/.test(path.basename(file)) &&
        real(path.dirname(file)) === real(path.dirname(views))
      );
    },
    close() {
      cancelLook?.();
      for (const it of growing.values()) it.end();
      growing.clear();
    },
  };
  return self;
}
