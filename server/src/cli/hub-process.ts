// The process of a hub that does not answer. Guarantees: a number is told only where the process that has it is a hub that
// listens at this address; nothing is ended here. Must not know: why it is wanted.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { HubAddress } from '../hub/address.ts';

/** The hub's process number, or undefined when it cannot be known. `words` are those that every hub is started with. */
export function hubProcess(given: {
  address: HubAddress;
  logFolder: string;
  words: readonly string[];
}): number | undefined {
  return process.platform === 'linux' ? bySocket(given.address.socket) : byLog(given);
}

/** Linux: whoever holds the listening socket of this path (proc_pid_fd(5), proc_pid_net(5)). */
function bySocket(socket: string): number | undefined {
  const inodes = fs
    .readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    // Num RefCount Protocol Flags Type St Inode Path; flag 00010000 marks those that listen.
    .map((text) => /^\S+ \S+ \S+ (\S+) \S+ \S+\s+(\d+) (.*)$/.exec(text))
    .filter((found) => found?.[3] === socket && (Number.parseInt(found[1]!, 16) & 0x10000) !== 0)
    .map((found) => `socket:[${found![2]}]`);
  if (inodes.length === 0) return undefined;
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const folder = `/proc/${pid}/fd`;
      if (fs.readdirSync(folder).some((fd) => inodes.includes(fs.readlinkSync(path.join(folder, fd)))))
        return Number(pid);
    } catch {
      // Another user's, or it ended in between.
    }
  }
  return undefined;
}

/** Elsewhere: the last one that wrote that it listens here, if it still is a hub. */
function byLog({ address, logFolder, words }: Parameters<typeof hubProcess>[0]): number | undefined {
  let pid: number | undefined;
  try {
    for (const text of fs.readFileSync(path.join(logFolder, 'hub.log'), 'utf8').split('\n')) {
      if (!text.includes('the hub listens')) continue;
      const record = JSON.parse(text) as { socket?: string; pid?: number };
      if (record.socket === address.socket) pid = record.pid;
    }
    if (pid === undefined) return undefined;
    const args = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    return args.includes(words.join(' ')) ? pid : undefined;
  } catch {
    return undefined;
  }
}
