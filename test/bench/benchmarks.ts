// All benchmarks, in the order of the page.
import { benchmark as latency } from './a-latency.ts';
import { benchmark as throughput } from './b-throughput.ts';
import { benchmark as bytes } from './c-bytes.ts';
import { benchmark as start } from './d-start.ts';
import { benchmark as memory } from './e-memory.ts';
import { benchmark as sideBySide } from './f-pi-acp.ts';
import type { Benchmark } from './figures.ts';
import { benchmark as editors } from './g-editors.ts';

export const benchmarks: readonly Benchmark[] = [
  latency,
  throughput,
  bytes,
  start,
  memory,
  sideBySide,
  editors,
];
