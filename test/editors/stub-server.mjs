// A tiny language server to prove the editors' drivers with. Guarantees: its commands do one thing each, and it ends with its
// editor. Knows nothing of the product.
import { createConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node.js';

const connection = createConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
let options;

const commands = {
  /** What the server was given. */
  'stub.given': (...args) => ({ args, options, env: process.env.STUB_ENV, argv: process.argv.slice(2) }),
  'stub.hello': () => void connection.window.showInformationMessage('hello from the stub'),
  'stub.ask': () => {
    const titles = ['Yes', 'No'].map((title) => ({ title }));
    const answered = connection.window.showInformationMessage('Is it so?', ...titles);
    void answered.then(
      (answer) => connection.window.showInformationMessage(`answered ${answer?.title ?? 'nothing'}`),
      (error) => connection.window.showErrorMessage(`refused ${error.code}`),
    );
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
