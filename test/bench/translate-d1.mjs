// CPU time of the way from an agent's bytes to canonical facts, against splitting lines and JSON.parse alone on the same bytes.
// Run with `node test/bench/translate-d1.mjs` in the root of the repository. Prints ratios, judges nothing.
import { build } from 'esbuild';

const bundle = await build({
  stdin: {
    contents: `export { createLineSplitter } from './server/src/agent/lines.ts';
export { parsedLine } from './server/src/agent/records.ts';
export { createTranslator } from './server/src/agent/translate.ts';`,
    resolveDir: process.cwd(),
    loader: 'ts',
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { createLineSplitter, parsedLine, createTranslator } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].text).toString('base64')}`
);

const deltas = 2_000;
const delta = 'twenty characters..!';

/** An answer of 40,000 characters in the layout of D0, D1 or D2. */
function recording(layout) {
  const lines = [];
  let text = '';
  const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120 };
  const message = () => ({
    role: 'assistant',
    content: [{ type: 'text', text }],
    provider: 'p',
    model: 'm',
    usage,
  });
  const event = (fields) => {
    const bare = { contentIndex: 0, ...fields };
    if (layout === 'D2') lines.push({ type: 'message_update', usage, assistantMessageEvent: bare });
    else if (layout === 'D0')
      lines.push({
        type: 'message_update',
        assistantMessageEvent: { ...bare, partial: message() },
        message: message(),
      });
    else
      lines.push({
        type: 'message_update',
        message: message(),
        assistantMessageEvent: { ...bare, partial: message() },
      });
  };
  lines.push({ type: 'agent_start' }, { type: 'message_start', message: message() });
  event({ type: 'text_start' });
  for (let at = 0; at < deltas; at++) {
    text += delta;
    event({ type: 'text_delta', delta });
  }
  event({ type: 'text_end', content: text });
  lines.push({ type: 'message_end', message: message() }, { type: 'agent_end', messages: [message()] });
  return Buffer.concat(lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`)));
}

const chunks = (bytes) =>
  Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
    bytes.subarray(at * 65_536, (at + 1) * 65_536),
  );

function cpu(run) {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return times.sort((a, b) => a - b)[2];
}

for (const layout of ['D0', 'D1', 'D2']) {
  const input = chunks(recording(layout));
  const bytes = input.reduce((sum, chunk) => sum + chunk.length, 0);
  const plain = cpu(() => {
    const splitter = createLineSplitter();
    for (const chunk of input) for (const line of splitter.push(chunk)) JSON.parse(line.toString('utf8'));
  });
  let told = 0;
  const ours = cpu(() => {
    told = 0;
    const splitter = createLineSplitter();
    const translator = createTranslator(() => {});
    for (const chunk of input)
      for (const line of splitter.push(chunk)) {
        const fact = translator.fact(parsedLine(line).record);
        if (fact) told += 1;
      }
  });
  console.log(
    `${layout}: ${(bytes / 1e6).toFixed(1)} MB, ${told} facts; split + JSON.parse ${plain.toFixed(0)} ms, to facts ${ours.toFixed(0)} ms, ratio ${(ours / plain).toFixed(2)}`,
  );
}
