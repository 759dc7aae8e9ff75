// Imports go one way, and only main.ts reads argv and the environment. The rule itself is tested too, so that it can't fall silent.
import { expect, test } from 'vitest';
import { importProblems, projectFiles } from '../../scripts/rules.mjs';

test('no import crosses a border', () => {
  const files = projectFiles();
  expect(files.filter(({ path }) => path.startsWith('server/src/')).length).toBeGreaterThan(20);
  expect(importProblems(files)).toEqual([]);
});

const problems = (path: string, text: string) => importProblems([{ path: `server/src/${path}`, text }]);

test.each([
  ['protocol/a.ts', "import { x } from '../session/b.ts';", 'protocol may not import session'],
  ['session/a.ts', "import { x } from '../agent/b.ts';", 'session may not import agent'],
  ['agent/a.ts', "import type { X } from '../editor/b.ts';", 'agent may not import editor'],
  ['agent/demo/a.ts', "import { x } from '../../hub/b.ts';", 'agent may not import hub'],
  ['hub/a.ts', "export { x } from '../agent/b.ts';", 'hub may not import agent'],
  ['hub/a.ts', "const x = await import('../editor/b.ts');", 'hub may not import editor'],
  ['editor/a.ts', "import {\n  x,\n} from '../agent/b.ts';", 'editor may not import agent'],
  ['editor/a.ts', "import '../cli/b.ts';", 'editor may not import cli'],
  ['cli/a.ts', "import { x } from '../main.ts';", 'cli may not import main'],
  ['protocol/a.ts', "import { URI } from 'vscode-uri';", 'nothing but zod'],
  ['session/a.ts', "import { readFileSync } from 'node:fs';", 'free of input and output'],
  ['hub/a.ts', "import { Range } from 'vscode-languageserver';", 'must not know LSP'],
  ['hub/a.ts', 'const home = process.env.HOME;', 'only main.ts'],
  ['editor/a.ts', 'const { env } = process;', 'only main.ts'],
  ['cli/a.ts', "import { argv } from 'node:process';", 'only main.ts'],
  ['editor/a.ts', "import { x } from '../../../test/b.ts';", 'not part of the product'],
  ['elsewhere/a.ts', '', 'has no rule'],
])('%s with %j is a problem', (path, text, problem) => {
  expect(problems(path, text)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  ['editor/a.ts', "import { x } from '../hub/client.ts';\nimport { y } from './b.ts';"],
  ['cli/a.ts', "import { x } from '../agent/find.ts';"],
  ['agent/demo/a.ts', "import { x } from '../lines.ts';\nimport { readdir } from 'node:fs/promises';"],
  ['protocol/a.ts', "import * as z from 'zod';"],
  ['main.ts', 'const [verb] = process.argv.slice(2);\nconst { HOME } = process.env;'],
  ['hub/a.ts', '// process.env is not read here\nprocess.on("exit", () => {});'],
])('%s with %j is fine', (path, text) => {
  expect(problems(path, text)).toEqual([]);
});
