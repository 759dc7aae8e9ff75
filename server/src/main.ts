// The verbs. Guarantees: this file alone reads argv and the environment; every verb loads its own code when it is asked
// for; a wrong command line is one sentence and exit code 2. Must not know: how any verb does its work.
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Command, type EditorStream, parsedCommand, UsageError, usage } from './cli/arguments.ts';
import { type Places, placesOf } from './cli/places.ts';
import type { Terminal } from './cli/terminal.ts';
import type { HubClient } from './hub/client.ts';
import { systemClock } from './hub/clock.ts';
import type { Hub } from './hub/hub.ts';
import { withLog } from './protocol/errors.ts';
import type { Clock, Log } from './session/ports.ts';

const version = process.env.ATOMIC_LSP_VERSION ?? '0.0.0';
const { env, execPath, stdin, stdout, stderr } = process;
const main = fileURLToPath(import.meta.url);
const cwd = process.cwd();
const clock: Clock = systemClock;
const demo = { command: execPath, args: [main, 'demo-agent'] };
const hubWords = [main, 'hub'];
const places: Places = placesOf({
  env,
  home: env.HOME || os.homedir(),
  user: os.userInfo().username,
  platform: process.platform,
  uid: process.getuid?.(),
});

/** What hub and private hub are made of. `log` is where agents are written about. */
async function hubParts(log: Log) {
  const [{ createStartAgent }, { sessionFiles }, { sessionWriters }, { createSession }] = await Promise.all([
    import('./agent/index.ts'),
    import('./agent/session-files.ts'),
    import('./agent/session-writers.ts'),
    import('./session/session.ts'),
  ]);
  return {
    createSession: (parts: Parameters<typeof createSession>[0]) =>
      createSession({ files: sessionFiles, writers: sessionWriters, ...parts }),
    startAgent: createStartAgent({ demo, clock, log }),
    folder: places.state,
    version,
  };
}

const helloOf = async (name: string) => {
  const { forwardedEnvironment } = await import('./agent/environment.ts');
  return { version, name, pid: process.pid, env: forwardedEnvironment(env) };
};

/** A client of the user's hub, which is started if need be and `start` allows it. */
async function sharedHub(name: string, start: boolean): Promise<HubClient> {
  const [{ openHub }, { hubEnvironment }] = await Promise.all([
    import('./hub/open.ts'),
    import('./agent/environment.ts'),
  ]);
  const program = {
    command: execPath,
    args: [...hubWords, '--ready-descriptor=3'],
    env: hubEnvironment(env),
  };
  return openHub({ address: places.address(), clock, hello: await helloOf(name), ...(start && { program }) });
}

/** A hub of this process alone; its log is `log`. */
async function ownHub(name: string, log: Log): Promise<{ client: HubClient; hub: Hub }> {
  const { privateHub } = await import('./hub/memory.ts');
  return privateHub({ ...(await hubParts(log)), clock, log }, await helloOf(name));
}

async function openTerminalHub(kind: 'running' | 'started' | 'private') {
  if (kind !== 'private') {
    const client = await sharedHub('terminal', kind === 'started');
    return { client, end: async () => client.close() };
  }
  const { openProcessLog } = await import('./cli/process-log.ts');
  const logFile = openProcessLog(places.log, 'terminal', process.pid);
  const { client, hub } = await ownHub('terminal', logFile.log);
  const end = async () => {
    client.close();
    await hub.closed;
    await logFile.close();
  };
  const leave = (signal: NodeJS.Signals) => void end().finally(() => process.exit(signalCode(signal)));
  process.once('SIGTERM', leave).once('SIGHUP', leave);
  return { client, end };
}

const signalCode = (signal: NodeJS.Signals): number => 128 + (os.constants.signals[signal] ?? 0);

const terminal: Terminal = {
  input: stdin,
  output: stdout,
  error: stderr,
  cwd,
  env,
  version,
  clock,
  places,
  demo,
  hubWords,
  open: openTerminalHub,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

async function runServer(where: EditorStream, noHub: boolean): Promise<number> {
  const [{ runLanguageServer }, { sessionOfFile }, { editorStreams }, { openProcessLog }] = await Promise.all(
    [
      import('./editor/server.ts'),
      import('./hub/folders.ts'),
      import('./cli/editor-streams.ts'),
      import('./cli/process-log.ts'),
    ],
  );
  const { input, output } = await editorStreams(where, { input: stdin, output: stdout });
  const logFile = openProcessLog(places.log, 'server', process.pid);
  const ended: Promise<void>[] = [];
  const leaving = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => leaving.abort());
  process.on('uncaughtException', (error) => {
    logFile.log.error({ error }, 'an uncaught error ends the server');
    leaving.abort();
  });
  process.on('unhandledRejection', (error) =>
    logFile.log.error({ error }, 'a promise was rejected and nobody looked'),
  );
  const code = await runLanguageServer({
    input,
    output,
    log: logFile.log,
    version,
    folder: cwd,
    sessionOf: (file) => sessionOfFile(places.state, file),
    logs: places.log,
    clock,
    signal: leaving.signal,
    ...(noHub && { settings: { hub: false } }),
    async connect(settings, name) {
      if (settings.hub) return sharedHub(name, true);
      const { client, hub } = await ownHub(name, logFile.log);
      ended.push(hub.closed);
      return client;
    },
    ended: () => Promise.all(ended),
  });
  await logFile.close();
  // An editor that does not read must not keep us.
  process.exit(code);
}

async function runHubVerb(readyDescriptor: number | undefined): Promise<number> {
  const [{ runHub }, { openLog }] = await Promise.all([import('./hub/daemon.ts'), import('./hub/log.ts')]);
  const agents = openLog({ folder: places.log, name: 'agents' });
  const { exitCode, error, running } = await runHub({
    ...(await hubParts(agents.log)),
    address: places.address(),
    logFolder: places.log,
    clock,
    ...(readyDescriptor !== undefined && { readyDescriptor }),
  });
  await agents.close();
  if (readyDescriptor === undefined && running) stderr.write('atomic-lsp: a hub is running already.\n');
  if (readyDescriptor === undefined && error) stderr.write(`atomic-lsp: ${error.message}\n`);
  return exitCode;
}

/** Carries the command out; the exit code. */
async function run(command: Command): Promise<number> {
  switch (command.verb) {
    case 'help':
      stdout.write(usage);
      return 0;
    case 'version':
      stdout.write(`${version}\n`);
      return 0;
    case 'server':
      return runServer(command.stream, command.noHub);
    case 'hub':
      return runHubVerb(command.readyDescriptor);
    case 'demo-agent': {
      const { runDemoAgent } = await import('./agent/demo/index.ts');
      return runDemoAgent({ input: stdin, output: stdout, cwd, argv: command.argv });
    }
    case 'prompt':
      return (await import('./cli/prompt.ts')).runPrompt(terminal, command);
    case 'attach':
      return (await import('./cli/attach.ts')).runAttach(terminal, command);
    case 'status':
      return (await import('./cli/status.ts')).runStatus(terminal, command);
    case 'stop':
      return (await import('./cli/stop.ts')).runStop(terminal, command);
    case 'logs':
      return (await import('./cli/logs.ts')).runLogs(terminal, command);
    case 'doctor':
      return (await import('./cli/doctor.ts')).runDoctor(terminal, command);
  }
}

/** Resolves when what was written has been handed to the system, or never can be. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) return resolve();
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });

async function begin(): Promise<number> {
  // A reader that went away is no fault of ours; verbs that care listen themselves.
  stdout.on('error', () => {});
  stderr.on('error', () => {});
  try {
    return await run(parsedCommand(process.argv.slice(2)));
  } catch (error) {
    stderr.write(`atomic-lsp: ${error instanceof UsageError ? error.message : withLog(error, places.log)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

begin().then(async (code) => {
  await Promise.all([flushed(stdout), flushed(stderr)]);
  process.exit(code);
});
