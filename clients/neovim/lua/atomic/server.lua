-- The language server's process. Guarantees: one at a time, started at the first use and again when it ended by itself, at most three
-- times a minute; every request is answered once, in the main loop, also when the server ends. Must not know: what is asked.
local M = {}

---@class atomic.ServerEvents
---@field notified table<string, fun(params: table)> By method.
---@field asked table<string, fun(params: table): any>
---@field ready fun() It has been initialized; also after each start that follows.
---@field lost fun(err: string) It has ended and is not started again before somebody wants it.

local id ---@type integer?
local initialized = false
local starts = {} ---@type number[]
local pending = {} ---@type table<table, true>
local events ---@type atomic.ServerEvents
local root ---@type string?

---@return integer? id of the LSP client
function M.id()
  return id
end

---@return vim.lsp.Client?
local function client()
  return id and vim.lsp.get_client_by_id(id) or nil
end

---@return boolean
function M.is_ready()
  return initialized and client() ~= nil
end

---The folder that the session belongs to.
---@return string
function M.root()
  root = root or vim.fs.root(0, '.git') or vim.uv.cwd() --[[@as string]]
  return root
end

---Requests something. `done` gets a sentence when there is no answer, and then whether the server ended meanwhile.
---@param method string
---@param params table
---@param done fun(err?: string, result?: any, gone?: boolean)
function M.request(method, params, done)
  local it = client()
  if not it or not initialized then
    return done('The language server does not run: :Atomic starts it.', nil, true)
  end
  local call = { done = done }
  pending[call] = true
  local function answered(err, result)
    if pending[call] then
      pending[call] = nil
      done(err and (err.message or tostring(err)) or nil, result)
    end
  end
  local sent
  if vim.fn.has('nvim-0.11') == 1 then
    sent = it:request(method, params, answered)
  else
    sent = it.request(method, params, answered)
  end
  if not sent and pending[call] then
    pending[call] = nil
    done('The language server has just ended.', nil, true)
  end
end

---@param method string
---@param params table
---@return boolean whether there is a server that gets it
function M.notify(method, params)
  local it = client()
  if not it or not initialized then
    return false
  elseif vim.fn.has('nvim-0.11') == 1 then
    return it:notify(method, params)
  end
  return it.notify(method, params)
end

local function ended(code)
  id, initialized = nil, false
  local calls = vim.tbl_keys(pending)
  pending = {}
  for _, call in ipairs(calls) do
    call.done('The language server has just ended.', nil, true)
  end
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local now = vim.uv.now()
  starts = vim.tbl_filter(function(at)
    return now - at < 60000
  end, starts)
  if #starts >= 3 then
    return events.lost(
      ('The language server ended (code %s); :Atomic starts it again, :LspLog says more.'):format(code)
    )
  end
  M.start(events)
end

local levels = { 'error', 'warn' }

local function handlers()
  local own = {
    ['$/cancelRequest'] = function() end,
    -- Neovim's own handler may want a key.
    ['window/showMessage'] = function(_, params)
      require('atomic.tell')[levels[params.type] or 'info'](params.message)
    end,
  }
  for method, take in pairs(events.notified) do
    own[method] = function(_, params)
      take(params)
    end
  end
  for method, answer in pairs(events.asked) do
    own[method] = function(_, params)
      return answer(params)
    end
  end
  return own
end

---@param with atomic.ServerEvents
function M.start(with)
  events = with
  if id then
    return
  end
  local config = require('atomic.config').get()
  if vim.fn.executable(config.cmd[1]) ~= 1 then
    local cure = 'install it (npm install -g atomic-lsp) or set `cmd`.'
    return events.lost(('%s is not there: %s'):format(config.cmd[1], cure))
  end
  table.insert(starts, vim.uv.now())
  local options = {
    name = 'atomic',
    cmd = config.cmd,
    root_dir = M.root(),
    init_options = vim.tbl_extend('force', config.settings, {
      client = {
        name = 'Neovim',
        version = tostring(vim.version()),
        events = true,
        dialogs = true,
        flushesPerSecond = 60,
      },
    }),
    handlers = handlers(),
    on_init = vim.schedule_wrap(function()
      initialized = true
      events.ready()
    end),
    on_exit = vim.schedule_wrap(function(code, _, which)
      if which == id then
        ended(code)
      end
    end),
  }
  if vim.fn.has('nvim-0.11') == 1 then
    id = vim.lsp.start(options, { attach = false })
  else
    id = vim.lsp.start_client(options)
  end
  if not id then
    events.lost('The language server did not start: see :LspLog.')
  end
end

---Says whether the server offers something.
---@param capability string Of LSP's ServerCapabilities.
---@return boolean
function M.offers(capability)
  local it = client()
  return it ~= nil and it.server_capabilities ~= nil and it.server_capabilities[capability] ~= nil
end

---Lets the server know a buffer, so that it completes in it.
---@param buffer integer
function M.serve(buffer)
  if M.is_ready() and vim.api.nvim_buf_is_loaded(buffer) then
    vim.lsp.buf_attach_client(buffer, id --[[@as integer]])
  end
end

return M
