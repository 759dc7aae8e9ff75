// The streams between an editor and its server. Guarantees: connected, or one sentence that says why not. Must not know: LSP.
import net from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AtomicError } from '../protocol/errors.ts';
import type { EditorStream } from './arguments.ts';

/** Our own streams, or a connection to where the editor listens (LSP: "Implementation Considerations"). */
export async function editorStreams(
  where: EditorStream,
  own: { input: Readable; output: Writable },
): Promise<{ input: Readable; output: Writable }> {
  if (where.kind === 'stdio') return own;
  const socket =
    where.kind === 'pipe' ? net.connect(where.path) : net.connect({ port: where.port, host: '127.0.0.1' });
  const name = where.kind === 'pipe' ? where.path : `port ${where.port}`;
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (error) =>
      reject(
        new AtomicError(
          'NotReady',
          `No editor listens at ${name} (${(error as NodeJS.ErrnoException).code}): the editor must listen before it starts the server, or use --stdio.`,
        ),
      ),
    );
  });
  return { input: socket, output: socket };
}
