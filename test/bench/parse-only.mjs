// The limit of throughput: splits its input at LF, parses each line as JSON, and does nothing else. Prints how many records there were
// and the seconds from the first delta to the end of the run. Must not know: what is compared with it.
const lineFeed = 10;
let rest = Buffer.alloc(0);
let records = 0;
let start = 0;

process.stdin.on('data', (chunk) => {
  const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
  let from = 0;
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
    const { type } = JSON.parse(bytes.toString('utf8', from, end));
    from = end + 1;
    if (type === 'message_update') {
      start ||= performance.now();
      records += 1;
    } else if (type === 'agent_settled') {
      const { user, system } = process.cpuUsage();
      const seconds = (performance.now() - start) / 1000;
      process.stdout.write(`${JSON.stringify({ records, seconds, cpu: (user + system) / 1e6 })}\n`);
    }
  }
  rest = bytes.subarray(from);
});
