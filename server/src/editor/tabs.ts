// The sessions that this editor follows, and which of them is meant when nothing says so. Guarantees: there is always one; each
// is followed once, by whatever path its folder was named; the current one changes only because a person did something.
// Must not know: LSP, what is shown of a session.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import { defaultSession } from '../protocol/hub.ts';
import type { Log } from '../session/ports.ts';
import type { Line } from './line.ts';
import { createLink, type Link, type Target } from './link.ts';
import type { Change } from './mirror.ts';

export interface Tab {
  readonly id: string;
  /** As it was given. */
  readonly workspace: string;
  /** Its real path, by which folders are compared. */
  readonly real: string;
  readonly name: string;
  readonly link: Link;
}

export interface Tabs {
  /** Never undefined. */
  readonly current: Tab;
  /** The oldest first. */
  readonly list: readonly Tab[];
  /** Acts on the session that is current whenever it is used. */
  readonly link: Omit<Link, 'id' | 'target' | 'configure' | 'close'>;
  /** Throws `NoSuchSession`. */
  get(id: string): Tab;
  /** The folder of a session's files, of the current one without an id; attaches if need be. */
  folder(id?: string): Promise<string>;
  /** The session of this folder and name; followed from now on. */
  open(target: Target): Tab;
  /** As {@link open}, where it is followed already. */
  find(target: Target): Tab | undefined;
  use(tab: Tab): void;
  /** Throws `BadArguments` for the only one. */
  close(tab: Tab): void;
  /** The person is at work in this file. */
  touched(file: string): void;
  /** The folders that the editor has open now. */
  folders(folders: readonly string[]): void;
  /** What tells a session from the others here: its name, its folder, or both; empty when it is the only one. */
  label(tab: Tab): string;
  configure(settings: Settings): void;
  end(): void;
}

export interface TabsParts {
  line: Line;
  first: Target;
  folders: readonly string[];
  settings: Settings;
  log: Log;
  /** A file of ours, which says nothing about where the person is at work. */
  isOurs(file: string): boolean;
  change(tab: Tab, change: Change): void;
  /** The hub has a sentence for the person. */
  note(sentence: string): void;
  /** There are others now, or another one is current. */
  changed(): void;
  closed(tab: Tab): void;
}

export function createTabs(parts: TabsParts): Tabs {
  const { line, log } = parts;
  let { settings } = parts;
  let folders = parts.folders;
  let count = 0;
  let tabs: Tab[] = [];
  /** By folder: the one that was last current there. */
  const latest = new Map<string, Tab>();

  const nameIn = ({ session }: Target): string => session ?? defaultSession;
  const find = (target: Target): Tab | undefined => {
    const real = realFolder(target.workspace);
    return tabs.find((tab) => tab.name === nameIn(target) && tab.real === real);
  };
  const made = (target: Target): Tab => {
    count += 1;
    const { workspace, session } = target;
    const id = String(count);
    const link = createLink({
      id,
      line,
      target: { workspace, ...(session !== undefined && session !== defaultSession && { session }) },
      settings,
      log,
      change: (change) => parts.change(tab, change),
      note: parts.note,
    });
    const tab: Tab = { id, workspace, real: realFolder(workspace), name: nameIn(target), link };
    tabs = [...tabs, tab];
    return tab;
  };
  let current = made(parts.first);
  latest.set(current.real, current);

  const get = (id: string): Tab => {
    const tab = tabs.find((it) => it.id === id);
    if (!tab)
      throw new AtomicError(
        'NoSuchSession',
        `This server does not follow a session "${id}" now: join it with atomic/attach or atomic.attachSession first.`,
        { session: id },
      );
    return tab;
  };
  const open = (target: Target): Tab => {
    const known = find(target);
    if (known) return known;
    const tab = made(target);
    parts.changed();
    return tab;
  };
  const use = (tab: Tab) => {
    latest.set(tab.real, tab);
    if (tab === current) return;
    current = tab;
    parts.changed();
    // Nobody needs it yet, so nobody is told when it fails.
    tab.link.ready().catch((error: unknown) => log.warn({ error }, 'no session in the background'));
  };
  const close = (tab: Tab) => {
    if (tabs.length === 1)
      throw new AtomicError(
        'BadArguments',
        'This is the only session that this editor follows: open another one first, with atomic.newTab or atomic.attachSession.',
      );
    tabs = tabs.filter((it) => it !== tab);
    for (const [folder, it] of latest) if (it === tab) latest.delete(folder);
    tab.link.close();
    parts.closed(tab);
    if (tab !== current) return parts.changed();
    use(tabs.findLast((it) => it.real === tab.real) ?? tabs.at(-1)!);
  };

  return {
    get current() {
      return current;
    },
    get list() {
      return tabs;
    },
    link: {
      get mirror() {
        return current.link.mirror;
      },
      get connected() {
        return current.link.connected;
      },
      get folder() {
        return current.link.folder;
      },
      ready: () => current.link.ready(),
      intent: (id, command, params) => current.link.intent(id, command, params),
      read: (command, params) => current.link.read(command, params),
      newId: () => current.link.newId(),
      sent: (id) => tabs.some(({ link }) => link.sent(id)),
      given: (id) => tabs.find(({ link }) => link.sent(id))?.link.given(id),
      isUs: (origin) => current.link.isUs(origin),
    },
    get,
    async folder(id) {
      const { link } = id === undefined ? current : get(id);
      await link.ready();
      return link.folder!;
    },
    open,
    find,
    use,
    close,
    touched(file) {
      if (folders.length < 2) return;
      const real = realFile(file);
      const folder = folders
        .map(realFolder)
        .filter((it) => isInside(it, real))
        .sort((a, b) => b.length - a.length)[0];
      if (folder === undefined || folder === current.real || parts.isOurs(file)) return;
      const { session } = settings;
      use(latest.get(folder) ?? open({ workspace: folder, ...(session !== undefined && { session }) }));
    },
    folders(next) {
      folders = next;
    },
    label(tab) {
      if (tabs.length === 1) return '';
      const folder = path.basename(tab.workspace);
      const oneFolder = new Set(tabs.map(({ real }) => real)).size === 1;
      if (oneFolder) return tab.name;
      return tab.name === defaultSession ? folder : `${folder}: ${tab.name}`;
    },
    configure(next) {
      const named = next.session !== settings.session;
      settings = next;
      for (const { link } of tabs) link.configure(next);
      if (!named) return;
      const before = current;
      const { workspace } = before;
      const tab = open({ workspace, ...(next.session !== undefined && { session: next.session }) });
      if (tab === before) return;
      use(tab);
      close(before);
    },
    end() {
      for (const { link } of tabs) link.close();
    },
  };
}

const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
};
/** A file that is not there yet has a real folder. */
const realFile = (file: string): string => path.join(realFolder(path.dirname(file)), path.basename(file));
const isInside = (folder: string, file: string): boolean => {
  const relative = path.relative(folder, file);
  return relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
};
