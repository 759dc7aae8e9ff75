// The commands about several sessions: listing them, going to one, leaving one. Guarantees: a session that cannot be had leaves
// everything as it was; a name that nobody knows is not taken for a new session. Must not know: what is shown of a session.
import path from 'node:path';
import type { Params } from '../protocol/commands.ts';
import type { TabInfo } from '../protocol/editor.ts';
import { AtomicError } from '../protocol/errors.ts';
import { defaultSession, type KnownSession } from '../protocol/hub.ts';
import { phaseOf } from '../session/fold.ts';
import type { Log } from '../session/ports.ts';
import type { Local } from './commands.ts';
import type { Tab, Tabs } from './tabs.ts';

export interface TabCommandParts {
  tabs: Tabs;
  /** The folders that the editor has open. */
  folders(): readonly string[];
  /** The sessions of a folder that the hub knows. Rejects at a hub that cannot list them. */
  known(workspace: string): Promise<{ sessions: KnownSession[] }>;
  tell(sentence: string): void;
  log: Log;
}

/** What the server does for the rows of the command table, by their names. */
export function tabCommands(parts: TabCommandParts): Record<string, Local> {
  const { tabs, folders, tell, log } = parts;

  /** Undefined where the hub cannot say. */
  const known = async (workspace: string): Promise<KnownSession[] | undefined> => {
    try {
      return (await parts.known(workspace)).sessions;
    } catch (error) {
      log.info({ error, workspace }, 'the hub did not list its sessions');
      return undefined;
    }
  };
  const here = ({ id, name, workspace }: Tab) => ({ session: id, name, workspace });
  /** By its name in the folder, or by its id in this editor. */
  const followed = (session: string, workspace: string | undefined): Tab | undefined =>
    tabs.find({ workspace: workspace ?? tabs.current.workspace, session }) ??
    (workspace === undefined ? tabs.list.find(({ id }) => id === session) : undefined);
  const goTo = async (workspace: string, session: string): Promise<object> => {
    const before = tabs.find({ workspace, session });
    const tab = before ?? tabs.open({ workspace, session });
    await tab.link.ready().catch((error: unknown) => {
      if (!before) tabs.close(tab);
      throw error;
    });
    tabs.use(tab);
    tell(`Now in the session "${tab.name}" of ${path.basename(tab.workspace)}.`);
    return here(tab);
  };
  const freeName = async (workspace: string): Promise<string> => {
    const taken = new Set(tabs.list.map(({ name }) => name));
    for (const { name } of (await known(workspace)) ?? []) taken.add(name);
    for (let n = 2; ; n += 1) if (!taken.has(`tab-${n}`)) return `tab-${n}`;
  };

  return {
    list_tabs: {
      async data() {
        const ours = tabs.list.map((tab) => ({
          real: tab.real,
          info: tabInfo(tab, tab === tabs.current),
        }));
        const places = new Set([...ours.map(({ real }) => real), ...folders()]);
        const lists = await Promise.all([...places].map(known));
        const listed = new Map(
          lists.flatMap((list) => list ?? []).map((it) => [JSON.stringify([it.workspace, it.name]), it]),
        );
        const sessions = [
          ...ours.map(({ real, info }) => {
            const key = JSON.stringify([real, info.name]);
            const { editors = [], sessionName } = listed.get(key) ?? {};
            listed.delete(key);
            const { session, name, workspace, current, busy, dialogs } = info;
            const title = info.sessionName ?? sessionName;
            return {
              ...{ name, workspace, current, session, running: true, busy, dialogs, editors },
              ...(title !== undefined && { sessionName: title }),
            };
          }),
          ...[...listed.values()].map((it) => ({ ...it, current: false })),
        ];
        return { tabs: ours.map(({ info }) => info), sessions };
      },
    },
    new_tab: {
      async data({ name, workspace = tabs.current.workspace }: Params) {
        return goTo(workspace, name ?? (await freeName(workspace)));
      },
    },
    attach_session: {
      async data({ session, workspace }: Params) {
        const tab = followed(session, workspace);
        if (tab) return goTo(tab.workspace, tab.name);
        const place = workspace ?? tabs.current.workspace;
        const list = await known(place);
        if (session !== defaultSession && list && !list.some(({ name }) => name === session))
          throw new AtomicError(
            'NoSuchSession',
            `There is no session "${session}" in ${place}: atomic.newTab begins it, atomic.sessions shows those that are there.`,
            { session },
          );
        return goTo(place, session);
      },
    },
    close_tab: {
      async data({ session, workspace }: Params) {
        const tab = session === undefined ? tabs.current : followed(session, workspace);
        if (!tab)
          throw new AtomicError(
            'NoSuchSession',
            `This editor does not follow a session "${session}": atomic.listTabs lists those that it follows.`,
            { session },
          );
        tabs.close(tab);
        const { current } = tabs;
        tell(`Now in the session "${current.name}" of ${path.basename(current.workspace)}.`);
        return here(current);
      },
    },
  };
}

/** What a rich client is told of a session that this editor follows. */
export function tabInfo({ id, name, workspace, link }: Tab, current: boolean): TabInfo {
  const snapshot = link.mirror?.snapshot;
  const { title } = snapshot ?? {};
  const sessionName = snapshot?.state.sessionName;
  return {
    session: id,
    name,
    workspace,
    current,
    connected: link.connected,
    busy: snapshot !== undefined && (phaseOf(snapshot) !== 'idle' || Object.keys(snapshot.bash).length > 0),
    dialogs: snapshot?.dialogs.length ?? 0,
    ...(title && { title }),
    ...(typeof sessionName === 'string' && sessionName !== '' && { sessionName }),
  };
}
