// A tiny language server to prove the editors' drivers with. Guarantees: its commands do one thing each, and it ends with its
// editor. Knows nothing of the product.
import {
  createConnection,
  MessageType,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

const connection = createConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
let options;
// Not `connection.window.showInformationMessage`, which sends a request even without choices.
const say = (message, type = MessageType.Info) =>
  void connection.sendNotification(ShowMessageNotification.type, { type, message });

const commands = {
  /** What the server was given. */
  'stub.given': (...args) => ({ args, options, env: process.env.STUB_ENV, argv: process.argv.slice(2) }),
  'stub.hello': () => say('hello from the stub'),
  'stub.ask': () => {
    const titles = ['Yes', 'No'].map((title) => ({ title }));
    // After the answer to the command: an editor may do nothing else while it asks.
    setImmediate(async () => {
      try {
        const answer = await connection.window.showInformationMessage('Is it so?', ...titles);
        say(`answered ${answer?.title ?? 'nothing'}`);
      } catch (error) {
        say(`refused ${error.code}`, MessageType.Error);
      }
    });
  },
  'stub.work': async () => {
    const progress = await connection.window.createWorkDoneProgress();
    progress.begin('Working', 0, 'begun');
    progress.report(50, 'half');
    progress.done();
  },
  'stub.fail': () => {
    throw new Error('the stub was told to fail');
  },
};

connection.onInitialize((params) => {
  options = params.initializationOptions;
  return {
    capabilities: { textDocumentSync: 1, executeCommandProvider: { commands: Object.keys(commands) } },
  };
});
connection.onExecuteCommand(({ command, arguments: args = [] }) => {
  const result = commands[command](...args);
  // What asks the editor must not hold up the answer.
  return result instanceof Promise ? null : (result ?? null);
});
connection.listen();
