// What a driven editor told, in order. Guarantees that an event is found whether it came before or after it is asked for,
// and that a wait ends when the editor does. Must not know which editor it is.

/** Something that happened in an editor. The kind is an LSP method for what a server sent, else a word of the editor's driver. */
export interface EditorEvent {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: it is what a server sent; a test says what it expects.
  readonly data: any;
}

export interface WaitOptions {
  /** Milliseconds until the wait fails; 15 seconds if not given. */
  timeout?: number;
}

export interface EditorEvents {
  /** All so far. */
  readonly all: readonly EditorEvent[];
  /** The data of all of a kind so far. */
  of(kind: string): EditorEvent['data'][];
  /**
   * The data of the next event of a kind that satisfies `where` and that no earlier call took; waits for it if need be.
   * Fails when time is up or the editor ends, and says what came instead.
   */
  next(
    kind: string,
    where?: (data: EditorEvent['data']) => boolean,
    options?: WaitOptions,
  ): Promise<EditorEvent['data']>;
}

/** An empty list of events, and how to fill it and how to end it. */
export function editorEvents(): EditorEvents & { add(event: EditorEvent): void; end(why: string): void } {
  const all: EditorEvent[] = [];
  const taken = new Set<EditorEvent>();
  const wakers = new Set<() => void>();
  let ended: string | undefined;
  const wake = () => {
    for (const waker of [...wakers]) waker();
  };
  return {
    all,
    of: (kind) => all.filter((event) => event.kind === kind).map((event) => event.data),
    async next(kind, where = () => true, { timeout = 15_000 } = {}) {
      const deadline = AbortSignal.timeout(timeout);
      for (;;) {
        const found = all.find((event) => event.kind === kind && !taken.has(event) && where(event.data));
        if (found !== undefined) {
          taken.add(found);
          return found.data;
        }
        const why = ended ?? (deadline.aborted ? `${timeout} ms passed` : undefined);
        if (why !== undefined) {
          const seen = all.map((event) => `${event.kind} ${JSON.stringify(event.data)}`).join('\n');
          throw new Error(`No ${kind} came: ${why}. What came:\n${seen}`);
        }
        await new Promise<void>((resolve) => {
          const waker = () => {
            wakers.delete(waker);
            deadline.removeEventListener('abort', waker);
            resolve();
          };
          wakers.add(waker);
          deadline.addEventListener('abort', waker);
        });
      }
    },
    add(event) {
      all.push(event);
      wake();
    },
    end(why) {
      ended ??= why;
      wake();
    },
  };
}
