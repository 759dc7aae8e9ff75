// The log file of one process. Guarantees: no two processes write to one file; files of processes that ended long ago are
// removed. Must not know: what is logged.
import fs from 'node:fs';
import path from 'node:path';
import { type LogFile, openLog } from '../hub/log.ts';

/** Milliseconds for which the logs of ended processes are kept: a week. */
const kept = 604_800_000;
const ofProcess = /^(?:server|terminal)-\d+\.log/;

/** Opens `<kind>-<pid>.log`. Never throws. */
export function openProcessLog(folder: string, kind: 'server' | 'terminal', pid: number): LogFile {
  try {
    for (const name of fs.readdirSync(folder)) {
      const file = path.join(folder, name);
      if (ofProcess.test(name) && Date.now() - fs.statSync(file).mtimeMs > kept)
        fs.rmSync(file, { force: true });
    }
  } catch {
    // There is no folder yet, or another process tidies at the same time.
  }
  return openLog({ folder, name: `${kind}-${pid}` });
}
