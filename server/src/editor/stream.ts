// Text that grows in an open document (LSP: `workspace/applyEdit`). Guarantees: what is added stands at the document's end, once and in
// order, also where the editor says "applied" and did nothing, or the person typed meanwhile; one edit at a time, no more a
// second than the editor bears; no text of the person is ever replaced. Must not know: what the text is.
import { breaksAt } from '../chat/tail.ts';
import type { Clock } from '../session/ports.ts';
import type { Client } from './client.ts';
import { type Document, type Documents, rangeOf } from './documents.ts';

export interface Stream {
  add(text: string): void;
  /** The document is closed or the editor is gone. */
  end(): void;
}

export interface StreamParts {
  uri: string;
  client: Client;
  documents: Documents;
  clock: Clock;
  /** Line breaks at the end of our text that the document has already. */
  breaks: number;
  /** Edits did not come to stand in the document; the stream has ended. */
  onGivenUp(): void;
}

/** Milliseconds for the answer to an edit, and then for the change itself. */
const answering = 5000;
const changing = 2500;
/** Edits in a row without effect. */
const attempts = 4;
/** Milliseconds that a person's typing in the same document holds the text back at most. */
const holding = 2000;
/** UTF-16 units by which our own last text is known again. */
const tailUnits = 60;
/** UTF-16 units of one edit. */
const largest = 65_536;

interface Sent {
  piece: string;
  before: string;
  /** Where it was to go. */
  place: Place;
  answered: boolean;
  seen: boolean;
  cancel?: () => void;
}

export function createStream({ uri, client, documents, clock, breaks, onGivenUp }: StreamParts): Stream {
  let pending = '';
  let wanted = breaks;
  let sent: Sent | undefined;
  let failures = 0;
  let notBefore = 0;
  let cancelNext: (() => void) | undefined;
  let ended = false;
  /** The end of our text. */
  let tail = lastOf(documents.text(uri) ?? '');
  /** When the person last typed in this document, and when that began to hold us back. */
  let typed = Number.NEGATIVE_INFINITY;
  let heldSince: number | undefined;
  /** A piece that stands at a wrong place, because lines were added above it at that moment; its offset. */
  let misplaced: { core: string; at: number } | undefined;

  /** Before that the document may be another than we know. */
  const quiet = () => typed + 1.5 * client.traits.tellsAfter;
  const plan = () => {
    if (ended || sent || cancelNext || (pending === '' && !misplaced)) return;
    const now = clock.now();
    const held = quiet() > now;
    heldSince = held ? (heldSince ?? now) : undefined;
    // What stands at a wrong place is only moved while nobody types.
    const until = held && !misplaced ? Math.min(quiet(), heldSince! + holding) : quiet();
    const wait = Math.max(notBefore, until) - now;
    if (wait <= 0) return next();
    cancelNext = clock.after(wait, () => {
      cancelNext = undefined;
      plan();
    });
  };
  const next = () => {
    const document = documents.get(uri);
    if (ended || !document) return;
    const piece = pending.slice(0, largest);
    pending = pending.slice(piece.length);
    const edits = [appending(document, piece, wanted)];
    const place = edits[0]!.range.start;
    const now: Sent = { piece, before: document.text, place, answered: false, seen: false };
    sent = now;
    heldSince = undefined;
    const removal = misplaced && removing(document.text, misplaced);
    misplaced = undefined;
    if (removal) edits.push(removal);
    notBefore = clock.now() + 1000 / client.traits.editsPerSecond;
    client
      .request('workspace/applyEdit', { edit: editOf(document, edits) }, { limit: answering })
      .then(
        (answer) => (answer as { applied?: unknown } | null)?.applied === true,
        () => false,
      )
      .then((applied) => {
        if (sent !== now) return;
        now.answered = true;
        if (now.seen) return arrived(now);
        // The change itself is what counts, and some editors tell of it late.
        now.cancel = clock.after(applied ? changing : 0, () => missed(now));
      });
  };
  const arrived = (now: Sent) => {
    now.cancel?.();
    sent = undefined;
    failures = 0;
    const text = now.piece;
    tail = lastOf(tail + text);
    wanted = text.trimEnd() === '' && !/[^\n]/.test(text) ? wanted + text.length : breaksAt(text);
    plan();
  };
  const missed = (now: Sent) => {
    sent = undefined;
    pending = now.piece + pending;
    failures += 1;
    if (failures < attempts) {
      notBefore = clock.now() + failures * 1000;
      return plan();
    }
    ended = true;
    deaf();
    onGivenUp();
  };
  const changed = (at: string, text: string) => {
    if (at !== uri) return;
    if (!sent || sent.seen) {
      typed = clock.now();
      return;
    }
    const normal = text.replace(/\r\n?/g, '\n');
    if (normal.length !== sent.before.length + sent.piece.length) typed = clock.now();
    const core = withoutBreaks(sent.piece);
    if (core !== '' && count(normal, core) <= count(sent.before, core)) return;
    sent.seen = true;
    const where = foundAt(normal, core, sent.place);
    const without = normal.slice(0, where) + normal.slice(where + core.length);
    const own = without.lastIndexOf(tail);
    if (core !== '' && tail !== '' && own >= 0 && own + tail.length > where) {
      misplaced = { core, at: where };
      pending = sent.piece + pending;
      sent.piece = '';
    }
    if (sent.answered) arrived(sent);
  };
  const deaf = documents.onChange(changed);

  return {
    add(text) {
      pending += text;
      plan();
    },
    end() {
      ended = true;
      deaf();
      cancelNext?.();
      sent?.cancel?.();
    },
  };

  function editOf(document: Document, edits: object[]): object {
    // Where the editor checks the number, an edit for an older text is refused rather than misplaced.
    return client.traits.checksVersions
      ? { documentChanges: [{ textDocument: { uri, version: document.version }, edits }] }
      : { changes: { [uri]: edits } };
  }
}

/** The edit that adds a piece at a document's end, which has `wanted` line breaks of ours; editors add one of their own. */
function appending({ text }: Document, piece: string, wanted: number): TextEdit {
  const normal = text.replace(/\r\n?/g, '\n');
  const have = breaksAt(normal);
  const end = rangeOf(have > wanted ? normal.slice(0, wanted - have) : normal).end;
  const missing = normal === '' ? 0 : Math.max(0, wanted - have);
  return { range: { start: end, end }, newText: '\n'.repeat(missing) + piece };
}

/** The edit that takes a piece away, where it stands nearest to an offset. */
function removing(text: string, { core, at }: { core: string; at: number }): TextEdit | undefined {
  const normal = text.replace(/\r\n?/g, '\n');
  const after = normal.indexOf(core, at);
  const before = normal.lastIndexOf(core, at);
  const nearest = before < 0 || (after >= 0 && after - at < at - before) ? after : before;
  if (nearest < 0) return undefined;
  const start = rangeOf(normal.slice(0, nearest)).end;
  return { range: { start, end: rangeOf(normal.slice(0, nearest + core.length)).end }, newText: '' };
}

/** Where a piece came to stand: where it was to go, unless the document has changed since. */
function foundAt(text: string, core: string, { line, character }: Place): number {
  let at = 0;
  for (let n = 0; n < line && at >= 0; n += 1) at = text.indexOf('\n', at) + 1 || -1;
  const around = at < 0 ? -1 : text.indexOf(core, at + character);
  return around >= 0 && around - at - character <= 2 ? around : text.lastIndexOf(core);
}

interface Place {
  line: number;
  character: number;
}
interface TextEdit {
  range: { start: Place; end: Place };
  newText: string;
}

/** The end of the last line that is not empty. */
const lastOf = (text: string): string => withoutBreaks(text).split('\n').at(-1)!.slice(-tailUnits);
const withoutBreaks = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/^\n+|\n+$/g, '');

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found += 1;
  return found;
}
