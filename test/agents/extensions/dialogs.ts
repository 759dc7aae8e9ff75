// An extension of pi 1.6.0 for tests: every kind of question and of show, as commands. Guarantees: each question is followed by a
// notification that says how it was answered, as `select="Allow"`, `confirm=false`, `input=undefined`. Loaded by pi itself, so
// it imports nothing.

interface Options {
  /** Milliseconds until pi takes the default. */
  timeout?: number;
}

interface Ui {
  select(title: string, options: string[], more?: Options): Promise<string | undefined>;
  confirm(title: string, message: string, more?: Options): Promise<boolean>;
  input(title: string, placeholder?: string, more?: Options): Promise<string | undefined>;
  editor(title: string, prefill?: string): Promise<string | undefined>;
  notify(message: string, type?: 'info' | 'warning' | 'error'): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(
    key: string,
    lines: string[] | undefined,
    more?: { placement: 'aboveEditor' | 'belowEditor' },
  ): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
}

interface Context {
  ui: Ui;
  shutdown(): void;
  newSession(options?: {
    withSession?: (context: Context) => Promise<void>;
  }): Promise<{ cancelled: boolean }>;
}

interface Pi {
  registerCommand(
    name: string,
    command: { description: string; handler: (args: string, context: Context) => Promise<void> },
  ): void;
  on(
    event: 'tool_call',
    handler: (
      event: { toolName: string; input: { command?: string } },
      context: Context,
    ) => Promise<{ block: true; reason: string } | undefined>,
  ): void;
}

export default function dialogs(pi: Pi): void {
  const asking = (
    name: string,
    kind: string,
    description: string,
    ask: (ui: Ui, more: Options) => Promise<unknown>,
  ) => {
    pi.registerCommand(name, {
      description,
      // An argument is a time limit in milliseconds.
      async handler(args, { ui }) {
        const timeout = Number(args.trim());
        const answer = await ask(ui, timeout > 0 ? { timeout } : {});
        ui.notify(`${kind}=${JSON.stringify(answer)}`);
      },
    });
  };

  asking('ask-select', 'select', 'Asks to pick one; an argument is its time limit in ms', (ui, more) =>
    ui.select('Run it?', ['Allow', 'Block', 'Always — «ünï» 😀'], more),
  );
  asking('ask-confirm', 'confirm', 'Asks yes or no; an argument is its time limit in ms', (ui, more) =>
    ui.confirm('Clear the session?', 'All messages are lost.', more),
  );
  asking('ask-input', 'input', 'Asks for a line; an argument is its time limit in ms', (ui, more) =>
    ui.input('Name of the branch', 'feature/…', more),
  );
  asking('ask-editor', 'editor', 'Asks for a text', (ui) =>
    ui.editor('Commit message', 'First line\n\nBody\n'),
  );
  asking('ask-two', 'two', 'Asks two questions at once', (ui, more) =>
    Promise.all([ui.select('First', ['1', '2'], more), ui.input('Second', undefined, more)]),
  );

  pi.registerCommand('say', {
    description: 'Shows everything that needs no answer; with the argument "clear" takes it away',
    async handler(args, { ui }) {
      const clear = args.trim() === 'clear';
      ui.setStatus('tests', clear ? undefined : '\u001b[32mgreen\u001b[0m status');
      ui.setWidget('list', clear ? undefined : ['one', 'two'], { placement: 'belowEditor' });
      ui.setTitle(clear ? '' : 'A title');
      ui.setEditorText(clear ? '' : 'text for the prompt');
      for (const type of ['info', 'warning', 'error'] as const) ui.notify(`a notification: ${type}`, type);
    },
  });

  pi.registerCommand('replace-session', {
    description: 'Goes to a new session, which no event announces',
    async handler(_args, context) {
      await context.newSession({
        async withSession(fresh) {
          fresh.ui.notify('replaced');
        },
      });
    },
  });

  pi.registerCommand('fail', {
    description: 'Throws',
    async handler() {
      throw new Error('failed as asked');
    },
  });

  pi.registerCommand('leave', {
    description: 'Ends the agent',
    async handler(_args, context) {
      context.shutdown();
    },
  });

  // A question in the middle of a run.
  pi.on('tool_call', async ({ toolName, input }, { ui }) => {
    if (toolName !== 'bash' || !input.command?.includes('ask-first')) return undefined;
    const choice = await ui.select(`Run ${input.command}?`, ['Allow', 'Block']);
    return choice === 'Allow' ? undefined : { block: true, reason: 'Blocked by the user' };
  });
}
