// A folder on a disk that can be full. Guarantees: full means that the system refuses to write, as it would; without the right to make
// such a disk the folder merely cannot be written to. Must not know: what is written.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export interface Disk {
  /** Whether a full disk takes effect: nobody keeps the system's administrator from writing. */
  readonly fills: boolean;
  fill(): void;
  free(): void;
  close(): void;
}

/** Makes the folder, on a small disk of its own where the system lets us. */
export function createDisk(folder: string, bytes = 262_144): Disk {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mounted = mount(folder, bytes);
  const filler = path.join(folder, '.filler');
  const free = () => {
    if (mounted) fs.rmSync(filler, { force: true });
    else fs.chmodSync(folder, 0o700);
  };
  return {
    fills: mounted || process.getuid?.() !== 0,
    fill() {
      if (!mounted) return fs.chmodSync(folder, 0o500);
      const handle = fs.openSync(filler, 'a');
      try {
        for (let size = 4096; size > 0; ) {
          try {
            fs.writeSync(handle, Buffer.alloc(size));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            size = Math.floor(size / 8);
          }
        }
      } finally {
        fs.closeSync(handle);
      }
    },
    free,
    close() {
      free();
      if (mounted) execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
    },
  };
}

function mount(folder: string, bytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
