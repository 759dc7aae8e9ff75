// Programs of the user's, looked at. Guarantees: nothing is run but the program itself with the arguments given, without a
// shell and without input, and not for longer than the limit. Must not know: why.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The absolute path of a program on PATH; relative places on it do not count. */
export function programOnPath(name: string, searched: string | undefined): string | undefined {
  for (const folder of (searched ?? '').split(path.delimiter).filter(path.isAbsolute)) {
    const file = path.join(folder, name);
    try {
      if (!statSync(file).isFile()) continue;
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/**
 * The first line that says something of what a program prints, on either stream; undefined when it fails, is silent, or takes
 * more than `limit` milliseconds.
 */
export function firstLine(
  program: string,
  args: readonly string[],
  how: { env: Record<string, string>; cwd: string; limit?: number },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    // A group of its own, so that what a launcher started ends with it.
    const child = spawn(program, [...args], {
      env: how.env,
      cwd: how.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    let text = '';
    const take = (chunk: Buffer) => {
      if (text.length < 4000) text += chunk.toString('utf8');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const stop = () => {
      try {
        if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // It has ended by itself.
      }
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(stop, how.limit ?? 5000);
    child.on('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const lines = text.split('\n').map((it) => it.trim());
      resolve(code === 0 ? lines.find((it) => it !== '') : undefined);
    });
  });
}
