// The fold of what the agent asks and of what its extensions show. Guarantees: pure, shares structure; a question is there until it
// is settled, of the settled the newest are kept. Must not know: runs, messages.
import type { FactOf } from '../protocol/facts.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { without } from './fold-tools.ts';

/** How many settled dialogs a snapshot keeps. */
const settledDialogsKept = 50;

/** The questions after one more fact about one of them. */
export function dialogsAfter(
  { dialogs, settledDialogs }: Snapshot,
  fact: FactOf<'dialog_opened' | 'dialog_offered' | 'dialog_settled'>,
): Pick<Snapshot, 'dialogs' | 'settledDialogs'> {
  switch (fact.type) {
    case 'dialog_opened':
      return {
        dialogs: [...dialogs.filter(({ id }) => id !== fact.dialog.id), fact.dialog],
        settledDialogs,
      };
    case 'dialog_offered': {
      const offered = dialogs.map((dialog) =>
        dialog.id === fact.id ? { ...dialog, offered: true as const } : dialog,
      );
      return { dialogs: offered, settledDialogs };
    }
    case 'dialog_settled': {
      const settled = { id: fact.id, outcome: fact.outcome, ...(fact.by && { by: fact.by }) };
      return {
        dialogs: dialogs.filter(({ id }) => id !== fact.id),
        settledDialogs: [...settledDialogs, settled].slice(-settledDialogsKept),
      };
    }
  }
}

/** Extension UI protocol, "Fire-and-forget methods". */
export function announced(snapshot: Snapshot, fact: FactOf<'extension_ui_request'>): Snapshot {
  switch (fact.method) {
    case 'setStatus': {
      const key = String(fact.statusKey);
      const statuses =
        typeof fact.statusText === 'string' && fact.statusText !== ''
          ? { ...snapshot.statuses, [key]: fact.statusText }
          : without(snapshot.statuses, key);
      return statuses === snapshot.statuses ? snapshot : { ...snapshot, statuses };
    }
    case 'setWidget': {
      const key = String(fact.widgetKey);
      const placement = typeof fact.widgetPlacement === 'string' ? fact.widgetPlacement : 'aboveEditor';
      const widgets = Array.isArray(fact.widgetLines)
        ? { ...snapshot.widgets, [key]: { lines: fact.widgetLines.map(String), placement } }
        : without(snapshot.widgets, key);
      return widgets === snapshot.widgets ? snapshot : { ...snapshot, widgets };
    }
    case 'setTitle':
      return { ...snapshot, title: typeof fact.title === 'string' && fact.title !== '' ? fact.title : null };
    default:
      return snapshot;
  }
}
