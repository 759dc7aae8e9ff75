// Why an aim is not reached, as profiling showed: shown beneath the table of a figure that misses its aim, and only then.

export const reasons: readonly { of: RegExp; why: string }[] = [
  {
    of: /^a\.(first|steady)/,
    why: 'A Node program that only parses and frames each line, the row beside, is the least that a bridge costs. What remains is work in a process that has slept since the delta before: reading the record, folding it, encoding it for the journal and again for the editor, and with the hub one more process and socket. Taking facts in the turn of the event loop in which they come, encoding them once and keeping the transcript off this way is what helped; the aims are below what was reached by it.',
  },
  {
    of: /^a\.dense/,
    why: 'The limit has one way through `cat` in it; a delta that just missed a flush waits for the next and then goes our way, which is longer by the difference that the rows above show.',
  },
  {
    of: /^c\.doubled\.tool/,
    why: 'An agent shows no more than the last 50,000 bytes of a tool’s output and the editor gets what is new of it, many updates as one: twice the output costs less than twice the bytes, so that the rule, which asks for a line, does not fit it.',
  },
  {
    of: /^d\./,
    why: 'Node reads and links the program from the code that an earlier start has compiled; more than half of the time above `node -e 0` is spent before the first line of a verb runs, the rest loads what the language server needs.',
  },
  {
    of: /^f\./,
    why: 'With the hub there are two Node processes where the other bridge is one, and the hub outlives the editor: their memory and processor time are added here. Without the hub every figure is ahead.',
  },
];
