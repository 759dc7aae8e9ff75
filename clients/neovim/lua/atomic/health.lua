-- `:checkhealth atomic`. Guarantees: looks only, starts no session; each fault is named with its cure. Must not know: how the server
-- finds out what it says of itself.
local M = {}

local function run(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = 20000 })
  if not ok then
    return nil, tostring(process)
  end
  local result = process:wait()
  if not result.stdout or result.stdout == '' then
    return nil, vim.trim(vim.split(result.stderr or '', '\n\n')[1])
  end
  return vim.trim(result.stdout)
end

---What `atomic-lsp doctor` found, but for other editors and what the configuration decides.
local function findings(cmd)
  local words = vim.tbl_filter(function(word)
    return not vim.startswith(word, '--')
  end, cmd)
  local said, why = run(vim.list_extend(words, { 'doctor', '--json' }))
  local ok, report = pcall(vim.json.decode, said or '')
  if not ok or type(report) ~= 'table' then
    return nil, why or said
  end
  return vim.tbl_filter(function(finding)
    return not (type(finding.data) == 'table' and finding.data.program)
  end, report.findings or {})
end

local function server(health, config)
  local program = config.cmd[1]
  if vim.fn.executable(program) ~= 1 then
    return health.error(program .. ' is not on PATH.', { 'npm install -g atomic-lsp', 'or set `cmd` to where it is' })
  end
  local found, why = findings(config.cmd)
  if not found then
    return health.error(('%s does not run: %s'):format(program, why or 'it says nothing'))
  end
  for _, finding in ipairs(found) do
    if not (finding.check == 'agent' and config.settings.agent) then
      local report = health[finding.level] or health.info
      report(
        ('%s: %s'):format(finding.check, finding.text),
        finding.level ~= 'ok' and finding.cure and { finding.cure } or nil
      )
    end
  end
  local agent = config.settings.agent
  if agent and vim.fn.executable(agent.command) == 1 then
    health.ok('agent: ' .. agent.command .. ', as `settings.agent` says')
  elseif agent then
    health.error('agent: ' .. tostring(agent.command) .. ' cannot be run: `settings.agent` names it.')
  end
end

function M.check()
  local health = vim.health
  health.start('atomic')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is needed.')
  end
  for _, problem in ipairs(require('atomic.config').problems(require('atomic.config').given())) do
    health.error(problem)
  end
  server(health, require('atomic.config').get())
  if pcall(vim.treesitter.language.add, 'markdown') then
    health.ok('Markdown is highlighted by tree-sitter.')
  else
    health.info('There is no tree-sitter parser for Markdown: Vim’s own syntax is used.')
  end
  local program = require('atomic.images').program()
  if program then
    health.ok('Images in the clipboard come by ' .. program[1] .. '.')
  else
    health.info('Images in the clipboard need wl-paste, xclip or pngpaste; `:Atomic image {file}` needs nothing.')
  end
  if require('atomic.session').client_id() then
    health.info('Attached; the agent is ' .. require('atomic.session').snapshot.agent.status .. '.')
  end
end

return M
