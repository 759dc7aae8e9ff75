// The least that any bridge in Node must do: reads lines, parses each, and writes it as a message with its length. Guarantees: nothing is
// kept or looked at. Must not know: what is measured.
let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  let out = '';
  for (const line of lines) {
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'atomic/events', params: JSON.parse(line) });
    out += `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  }
  process.stdout.write(out);
});
