-- `:checkhealth atomic`. Guarantees: looks only, starts no session; each fault is named with its cure.
local M = {}

local function run(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = 10000 })
  if not ok then
    return nil, tostring(process)
  end
  local result = process:wait()
  if result.code ~= 0 then
    return nil, vim.trim((result.stderr ~= '' and result.stderr or result.stdout) or '')
  end
  return vim.trim(result.stdout or '')
end

function M.check()
  local health = vim.health
  health.start('atomic')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is needed.')
  end
  local problems = require('atomic.config').problems(vim.g.atomic or {})
  for _, problem in ipairs(problems) do
    health.error(problem)
  end
  local config = require('atomic.config').get()
  local program = config.cmd[1]
  if vim.fn.executable(program) == 1 then
    local words = vim.tbl_filter(function(word)
      return word ~= '--stdio' and word ~= '--no-hub'
    end, config.cmd)
    local version, why = run(vim.list_extend(words, { '--version' }))
    if version then
      health.ok(('%s %s'):format(program, version))
    else
      health.error(('%s does not run: %s'):format(program, why))
    end
  else
    health.error(program .. ' is not on PATH.', { 'npm install -g atomic-lsp', 'or set `cmd` to where it is' })
  end
  local agent = config.settings.agent
  if agent then
    if vim.fn.executable(agent.command) == 1 then
      health.ok('The agent is ' .. agent.command .. '.')
    else
      health.error('The agent ' .. agent.command .. ' cannot be run: `settings.agent` names it.')
    end
  elseif vim.env.ATOMIC_LSP_AGENT then
    health.ok('The agent is that of ATOMIC_LSP_AGENT.')
  elseif vim.fn.executable('atomic') == 1 or vim.fn.executable('pi') == 1 then
    health.ok('The agent is ' .. vim.fn.exepath(vim.fn.executable('atomic') == 1 and 'atomic' or 'pi') .. '.')
  else
    health.warn(
      'No agent is on PATH: the built-in demo agent answers.',
      { 'Install atomic or pi, or set `settings.agent`.' }
    )
  end
  if pcall(vim.treesitter.language.add, 'markdown') then
    health.ok('Markdown is highlighted by tree-sitter.')
  else
    health.info('There is no tree-sitter parser for Markdown: Vim’s own syntax is used.')
  end
  if require('atomic.session').client_id() then
    local s = require('atomic.session').snapshot
    health.info('Attached; the agent is ' .. s.agent.status .. '.')
  end
end

return M
