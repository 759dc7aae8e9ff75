-- The session that this Neovim watches. Guarantees: one language server, started at the first use; every fact is folded once and
-- told once; an intent's outcome reaches whoever sent it; nothing is told in a fast context. Must not know: buffers, windows.
local fold = require('atomic.fold')

local M = { snapshot = fold.empty() }

---@alias atomic.Listener fun(batch: {facts: table[], reset: boolean}, snapshot: table)

local client_id ---@type integer?
local cursor ---@type {epoch: string, seq: integer}?
local ready = false
local waiting = {} ---@type fun(err?: string)[]
local listeners = {} ---@type atomic.Listener[]
local on_dialog = {} ---@type fun(dialog: table)[]
local outcomes = {} ---@type table<string, fun(fact: table)>
local mine = {} ---@type table<string, boolean>
local count = 0

---Who we are to the hub, known after our first intent.
M.origin = nil ---@type string?
M.name = nil ---@type string?

local function tell(batch)
  for _, listener in ipairs(vim.list_slice(listeners)) do
    local ok, err = pcall(listener, batch, M.snapshot)
    if not ok then
      vim.notify('atomic: ' .. tostring(err), vim.log.levels.ERROR, { title = 'atomic' })
    end
  end
end

local function reset(result)
  cursor = { epoch = result.epoch, seq = result.seq }
  M.name = result.session
  if result.snapshot then
    M.snapshot = fold.begun(result.snapshot)
    tell({ facts = {}, reset = true })
  end
end

local function noted(fact)
  if fact.type == 'intent_accepted' and mine[fact.intent] and fact.origin then
    M.origin = fact.origin.id
  elseif fact.type == 'intent_settled' and outcomes[fact.intent] then
    local done = outcomes[fact.intent]
    outcomes[fact.intent], mine[fact.intent] = nil, nil
    done(fact)
  end
end

local function take(batch)
  if not ready and not cursor then
    return
  end
  cursor = { epoch = batch.epoch, seq = batch.to }
  for _, fact in ipairs(batch.facts) do
    fold.apply(M.snapshot, fact)
  end
  tell({ facts = batch.facts, reset = false })
  for _, fact in ipairs(batch.facts) do
    noted(fact)
  end
end

local function settle(err)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

local function ended(code)
  client_id, ready = nil, false
  local err = ('The language server ended (code %s): :Atomic starts it again.'):format(tostring(code))
  settle(err)
  local lost = outcomes
  outcomes = {}
  for id, done in pairs(lost) do
    done({ type = 'intent_settled', intent = id, outcome = 'unknown', error = err })
  end
  M.snapshot.run, M.snapshot.message = nil, nil
  tell({ facts = {}, reset = false })
end

local function client()
  return client_id and vim.lsp.get_client_by_id(client_id) or nil
end

local function request(method, params, done)
  local it = client()
  if not it then
    return done('The language server does not run: :Atomic starts it.')
  end
  local function answered(err, result)
    done(err and (err.message or tostring(err)) or nil, result)
  end
  if vim.fn.has('nvim-0.11') == 1 then
    it:request(method, params, answered)
  else
    it.request(method, params, answered)
  end
end

local function attach()
  -- An empty Lua table would be an empty JSON list, which is no parameter object.
  request('atomic/attach', cursor and { cursor = cursor } or vim.empty_dict(), function(err, result)
    if err then
      return settle(err)
    end
    ready = true
    reset(result)
    settle()
  end)
end

local function start()
  local config = require('atomic.config').get()
  if vim.fn.executable(config.cmd[1]) ~= 1 then
    return settle(('%s is not there: install it (npm install -g atomic-lsp) or set `cmd`.'):format(config.cmd[1]))
  end
  local options = {
    name = 'atomic',
    cmd = config.cmd,
    root_dir = vim.fs.root(0, '.git') or vim.uv.cwd(),
    init_options = vim.tbl_extend('force', config.settings, {
      client = {
        name = 'Neovim',
        version = tostring(vim.version()),
        events = true,
        dialogs = true,
        flushesPerSecond = 60,
      },
    }),
    handlers = {
      ['atomic/events'] = function(_, batch)
        take(batch)
      end,
      ['atomic/resync'] = function(_, result)
        reset(result)
      end,
      -- Answered at once with null, which leaves the question open: the answer is an intent of its own, so that nothing
      -- waits for a person and a question can be answered anywhere.
      ['atomic/dialog'] = function(_, params)
        for _, listener in ipairs(on_dialog) do
          listener(params.dialog)
        end
        return vim.NIL
      end,
      ['$/cancelRequest'] = function() end,
    },
    on_init = vim.schedule_wrap(attach),
    on_exit = vim.schedule_wrap(function(code, _, id)
      if id == client_id then
        ended(code)
      end
    end),
  }
  if vim.fn.has('nvim-0.11') == 1 then
    client_id = vim.lsp.start(options, { attach = false })
  else
    client_id = vim.lsp.start_client(options)
  end
  if not client_id then
    settle('The language server did not start: see :LspLog.')
  end
end

---Runs the callback when the session is there; with a sentence if it cannot be had.
---@param callback fun(err?: string)
function M.ensure(callback)
  if ready and client() then
    return callback()
  end
  table.insert(waiting, callback)
  if not client_id then
    -- A failure must not be an error of the command that asked for the session.
    vim.schedule(function()
      if not client_id and #waiting > 0 then
        start()
      end
    end)
  end
end

---Sends an intent. `accepted` when the hub took it (or not), `settled` with its outcome.
---@param command string Atomic's name or the LSP command.
---@param params? table
---@param handlers? {accepted?: fun(err?: string), settled?: fun(fact: table)}
---@return string id
function M.intent(command, params, handlers)
  handlers = handlers or {}
  count = count + 1
  local id = ('nvim-%d-%x-%d'):format(vim.uv.os_getpid(), vim.uv.hrtime(), count)
  local function accepted(err)
    if err then
      outcomes[id], mine[id] = nil, nil
    end
    if handlers.accepted then
      handlers.accepted(err)
    elseif err then
      vim.notify(err, vim.log.levels.ERROR, { title = 'atomic' })
    end
  end
  M.ensure(function(err)
    if err then
      return accepted(err)
    end
    mine[id] = true
    outcomes[id] = handlers.settled
      or function(fact)
        if fact.outcome == 'refused' or fact.outcome == 'failed' then
          vim.notify(fact.error or (command .. ' failed'), vim.log.levels.ERROR, { title = 'atomic' })
        end
      end
    local sent = params and next(params) ~= nil and params or vim.empty_dict()
    request('atomic/intent', { id = id, command = command, params = sent }, accepted)
  end)
  return id
end

---Executes a command of the server: data, `{intent}`, or `{asking}`.
---@param command string LSP command.
---@param arguments? any[]
---@param done? fun(err?: string, result?: any)
function M.execute(command, arguments, done)
  done = done
    or function(err)
      if err then
        vim.notify(err, vim.log.levels.ERROR, { title = 'atomic' })
      end
    end
  M.ensure(function(err)
    if err then
      return done(err)
    end
    request('workspace/executeCommand', { command = command, arguments = arguments or {} }, done)
  end)
end

---@param listener atomic.Listener
---@return fun() off
function M.listen(listener)
  table.insert(listeners, listener)
  return function()
    for index, other in ipairs(listeners) do
      if other == listener then
        table.remove(listeners, index)
        return
      end
    end
  end
end

---@param listener fun(dialog: table)
function M.on_question(listener)
  table.insert(on_dialog, listener)
end

---@return integer? id of the LSP client
function M.client_id()
  return client_id
end

return M
