// Writes what derives from the definitions: docs/commands.md, the tables of docs/protocol.md, the command constants of the Neovim
// and Emacs clients, and the Neovim plugin's schema and help. `--check` writes nothing and exits 1 naming the files that are not as they would be written.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { helpFile, helpTags, luaSchema } from './neovim.mjs';

const program = (path) => fileURLToPath(new URL(path, import.meta.url));
const bundle = await build({
  entryPoints: [program('../server/src/protocol/docs.ts')],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
const source = Buffer.from(bundle.outputFiles[0].contents).toString('base64');
const docs = await import(`data:text/javascript;base64,${source}`);

const page = 'docs/protocol.md';

/** The page with the text between each pair of markers replaced; a marker without a table, or the other way round, is an error. */
function filledPage(text, tables) {
  const unused = new Set(Object.keys(tables));
  const filled = text.replace(
    /(<!-- generated: (\w+) -->\n).*?(<!-- end: \2 -->)/gs,
    (_whole, begin, name, end) => {
      if (!(name in tables)) throw new Error(`${page} asks for a table "${name}" that docs.ts does not make`);
      unused.delete(name);
      return `${begin}${tables[name]}\n${end}`;
    },
  );
  if (unused.size > 0) throw new Error(`${page} lacks the markers of: ${[...unused].join(', ')}`);
  return filled;
}

/** As the project's formatter would write it, so that check and generate cannot disagree. */
const formatted = (path, text) =>
  path.endsWith('.md')
    ? execFileSync(program('../node_modules/.bin/biome'), ['format', `--stdin-file-path=${path}`], {
        input: text,
        encoding: 'utf8',
        cwd: program('..'),
        stdio: ['pipe', 'pipe', 'ignore'],
      })
    : text;
const current = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
const schema = () => JSON.parse(current('clients/neovim/schema.json'));
const help = () => helpFile(current('scripts/neovim-help.txt'), schema());
const files = {
  'docs/commands.md': () => docs.commandsPage(),
  [page]: () => filledPage(current(page) ?? '', docs.protocolTables()),
  'clients/neovim/lua/atomic/commands.lua': () => docs.luaCommands(),
  'clients/neovim/lua/atomic/schema.lua': () => luaSchema(schema()),
  'clients/neovim/doc/atomic.txt': help,
  'clients/neovim/doc/tags': () => helpTags(help()),
  'clients/emacs/atomic-lsp-commands.el': () => docs.elispCommands(),
};

const checking = process.argv.includes('--check');
let stale = 0;
for (const [path, text] of Object.entries(files)) {
  let wanted;
  try {
    wanted = formatted(path, text());
  } catch (error) {
    console.error(error.message);
    stale += 1;
    continue;
  }
  if (current(path) === wanted) continue;
  if (checking) {
    console.error(`${path} is stale: run "npm run generate"`);
    stale += 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
