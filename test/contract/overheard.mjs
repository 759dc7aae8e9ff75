// The scripted agent, overheard. Guarantees: each byte of its stdin is in the file OVERHEARD before the agent acts on it.
import { appendFileSync } from 'node:fs';
import '../agents/scripted.mjs';

process.stdin.prependListener('data', (chunk) => appendFileSync(process.env.OVERHEARD, chunk));
