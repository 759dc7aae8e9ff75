// The Neovim plugin as a user has it, in the real Neovim on the real pi. Guarantees: nothing is started before the test does it, and
// all is gone after each test. Must not know: what is tested.
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { EditorHome } from '../editors/home.ts';
import { program } from './language-server.ts';
import { type ModelScript, type ModelServer, startModelServer } from './model-server.ts';
import { type Neovim, type NeovimOptions, startNeovim } from './neovim.ts';
import { piAgent } from './pi.ts';

export const plugin = join(import.meta.dirname, '../../clients/neovim');

export interface PluginOptions {
  /** Of the plugin. */
  settings?: object;
  /** Settings of the server, besides the agent. */
  server?: object;
  /** pi's own home, to find its sessions again. */
  agentHome?: string;
  /** Lua after the configuration. */
  init?: string;
  home?: EditorHome;
  terminal?: NeovimOptions['terminal'];
  dialogs?: NeovimOptions['dialogs'];
  env?: Record<string, string>;
  files?: string[];
}

export interface WithPlugin extends Neovim {
  readonly model: ModelServer;
  /** An Ex command. */
  command(text: string): Promise<void>;
  chat(): Promise<string>;
  prompt(): Promise<string>;
  /** Waits until the transcript has the text. */
  shows(text: string): Promise<void>;
  phase(name: string): Promise<void>;
  /** How many questions wait, when they do. */
  waiting(count: number): Promise<void>;
  messages(): Promise<string>;
  /** A Lua expression. */
  value<T = unknown>(expression: string): Promise<T>;
}

const buffer = (name: string) =>
  `table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('atomic://${name}'), 0, -1, false), '\\n')`;

/** For a test file: starts Neovim with the plugin, and ends it after the test. */
export function pluginStarter(): (script: ModelScript, options?: PluginOptions) => Promise<WithPlugin> {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return async (script, options = {}) => {
    const model = await startModelServer(script);
    closing.push(() => model.close());
    const agent = await piAgent({
      model,
      extensions: ['dialogs'],
      ...(options.agentHome !== undefined && { home: options.agentHome }),
    });
    closing.push(() => agent.dispose());
    const settings = {
      agent: { command: agent.command, args: agent.args, env: agent.env },
      ...options.server,
    };
    const config = { cmd: [process.execPath, program, '--stdio'], settings, ...options.settings };
    const neovim = await startNeovim({
      files: options.files ?? ['a.txt'],
      ...(options.home && { home: options.home }),
      ...(options.terminal && { terminal: options.terminal }),
      ...(options.dialogs && { dialogs: options.dialogs }),
      ...(options.env && { env: options.env }),
      init: [
        ...(options.terminal ? [] : ['vim.o.columns, vim.o.lines = 140, 40']),
        `vim.opt.runtimepath:prepend(${JSON.stringify(plugin)})`,
        `vim.g.atomic = vim.json.decode(${JSON.stringify(JSON.stringify(config))})`,
        options.init ?? '',
      ].join('\n'),
    });
    closing.push(() => neovim.close());
    return Object.assign(neovim, {
      model,
      command: async (text: string) => void (await neovim.lua('vim.cmd(...)', text)),
      chat: () => neovim.lua<string>(`return ${buffer('chat')}`),
      prompt: () => neovim.lua<string>(`return ${buffer('prompt')}`),
      shows: async (text: string) =>
        void (await neovim.waitFor(
          `vim.fn.bufnr('atomic://chat') > 0 and ${buffer('chat')}:find(${JSON.stringify(text)}, 1, true)`,
        )),
      phase: async (name: string) =>
        void (await neovim.waitFor(`require('atomic').state().phase == '${name}'`)),
      waiting: async (count: number) =>
        void (await neovim.waitFor(`require('atomic').state().waiting == ${count}`)),
      messages: () => neovim.lua<string>("return vim.api.nvim_exec2('messages', { output = true }).output"),
      value: <T>(expression: string) => neovim.lua<T>(`return ${expression}`),
    });
  };
}

/** Lua: the window of one of the plugin's buffers. */
export const windowOf = (name: string) => `vim.fn.win_findbuf(vim.fn.bufnr('atomic://${name}'))[1]`;
/** Lua: how many floating windows there are. */
export const floats =
  "#vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins())";
/** Lua: the lines of the buffer where the cursor is. */
export const here = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
