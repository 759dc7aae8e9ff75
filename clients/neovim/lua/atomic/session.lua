-- The session that this Neovim watches. Guarantees: every fact is folded once and told once; an intent's outcome reaches whoever sent it,
-- also when the server was started anew in between: what was not acknowledged is sent again under the same id, which the hub does
-- once. Must not know: buffers, windows.
local fold = require('atomic.fold')
local server = require('atomic.server')
local tell = require('atomic.tell')

local M = { snapshot = fold.empty() }

---@alias atomic.Listener fun(batch: {facts: table[], reset: boolean}, snapshot: table)
---@class atomic.Intent
---@field id string
---@field command string
---@field params table
---@field accepted fun(err?: string)
---@field settled fun(fact: table)
---@field taken boolean

local cursor ---@type {epoch: string, seq: integer}?
local attached = false
local waiting = {} ---@type fun(err?: string)[]
local listeners = {} ---@type atomic.Listener[]
local on_dialog = {} ---@type fun(dialog: table)[]
local intents = {} ---@type table<string, atomic.Intent>
local order = {} ---@type string[]
local count = 0

---Who we are to the hub, known after our first intent; the session's name, after attaching.
M.origin = nil ---@type string?
M.name = nil ---@type string?

local function told(batch)
  for _, listener in ipairs(vim.list_slice(listeners)) do
    local ok, err = pcall(listener, batch, M.snapshot)
    if not ok then
      tell.error('atomic: ' .. tostring(err))
    end
  end
end

local function settle(fact)
  local intent = intents[fact.intent]
  if intent then
    intents[fact.intent] = nil
    intent.settled(fact)
  end
end

---What became of our intents, as far as a snapshot says; those of a journal that is gone are unknown.
local function settle_from(snapshot, same)
  local known = {}
  for _, each in ipairs(snapshot.intents or {}) do
    known[each.intent] = each
  end
  for _, id in ipairs(vim.tbl_keys(intents)) do
    local intent = intents[id]
    local outcome = known[id] and known[id].outcome
    if outcome and outcome ~= 'pending' then
      settle({ intent = id, command = intent.command, outcome = outcome, error = known[id].error })
    elseif not outcome and intent.taken and not same then
      settle({
        intent = id,
        command = intent.command,
        outcome = 'unknown',
        error = 'Whether that was done is not known.',
      })
    end
  end
end

local function reset(result)
  local same = cursor and cursor.epoch == result.epoch or M.name ~= nil and M.name ~= result.session
  cursor = { epoch = result.epoch, seq = result.seq }
  M.name = result.session
  if result.snapshot then
    M.snapshot = fold.begun(result.snapshot)
    told({ facts = {}, reset = true })
    settle_from(result.snapshot, same)
  end
end

local function take(batch)
  if not attached or batch.session ~= M.name then
    return
  end
  cursor = { epoch = batch.epoch, seq = batch.to }
  for _, fact in ipairs(batch.facts) do
    fold.apply(M.snapshot, fact)
  end
  told({ facts = batch.facts, reset = false })
  for _, fact in ipairs(batch.facts) do
    if fact.type == 'intent_accepted' and intents[fact.intent] and fact.origin then
      M.origin = fact.origin.id
    elseif fact.type == 'intent_settled' then
      settle(fact)
    end
  end
end

local function over(err)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

---@param intent atomic.Intent
local function send(intent)
  -- An empty Lua table would be an empty JSON list, which is no parameter object.
  local params = next(intent.params) ~= nil and intent.params or vim.empty_dict()
  server.request('atomic/intent', { id = intent.id, command = intent.command, params = params }, function(err, _, gone)
    if gone then
      -- Sent again when the server is there again.
      return
    end
    if err then
      intents[intent.id] = nil
    end
    intent.taken = true
    order = vim.tbl_filter(function(id)
      return id ~= intent.id
    end, order)
    intent.accepted(err)
  end)
end

local function send_again()
  for _, id in ipairs(order) do
    if intents[id] then
      send(intents[id])
    end
  end
end

local function attach()
  local params = { session = M.name, cursor = cursor }
  server.request('atomic/attach', next(params) and params or vim.empty_dict(), function(err, result, gone)
    if gone then
      return
    end
    if err then
      attached = false
      return over(err)
    end
    attached = true
    reset(result)
    send_again()
    over()
  end)
end

local function lost(err)
  attached = false
  local held = intents
  intents, order = {}, {}
  over(err)
  for _, intent in pairs(held) do
    if intent.taken then
      intent.settled({ type = 'intent_settled', intent = intent.id, outcome = 'unknown', error = err })
    else
      intent.accepted(err)
    end
  end
  M.snapshot.run, M.snapshot.message = nil, nil
  told({ facts = {}, reset = false })
end

local function begin()
  attached = false
  server.start({
    notified = { ['atomic/events'] = take, ['atomic/resync'] = reset },
    asked = {
      -- Answered at once with null, which leaves the question open: the answer is an intent of its own, so that nothing
      -- waits for a person and a question can be answered anywhere.
      ['atomic/dialog'] = function(params)
        for _, listener in ipairs(on_dialog) do
          listener(params.dialog)
        end
        return vim.NIL
      end,
    },
    ready = attach,
    lost = lost,
  })
end

---Runs the callback when the session is there; with a sentence if it cannot be had.
---@param callback fun(err?: string)
function M.ensure(callback)
  if attached and server.is_ready() then
    return callback()
  end
  table.insert(waiting, callback)
  -- A failure must not be an error of the command that asked for the session.
  vim.schedule(function()
    if #waiting > 0 and not server.id() then
      begin()
    elseif #waiting > 0 and server.is_ready() and not attached and #waiting == 1 then
      attach()
    end
  end)
end

---Joins another session of the folder.
---@param name string
---@param done fun(err?: string)
function M.attach(name, done)
  M.ensure(function(first)
    if first then
      return done(first)
    end
    server.request('atomic/attach', { session = name }, function(err, result)
      if err then
        return done(err)
      end
      cursor = nil
      reset(result)
      done()
    end)
  end)
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
  local intent = {
    id = id,
    command = command,
    params = params or {},
    taken = false,
    accepted = handlers.accepted or tell.failed,
    settled = handlers.settled or function(fact)
      if fact.outcome == 'refused' or fact.outcome == 'failed' then
        tell.error(fact.error or (command .. ' failed'))
      end
    end,
  }
  M.ensure(function(err)
    if err then
      return intent.accepted(err)
    end
    intents[id] = intent
    table.insert(order, id)
    send(intent)
  end)
  return id
end

---Executes a command of the server: data, `{intent}`, or `{asking}`.
---@param command string LSP command.
---@param arguments? any[]
---@param done? fun(err?: string, result?: any)
function M.execute(command, arguments, done)
  done = done or tell.failed
  M.ensure(function(err)
    if err then
      return done(err)
    end
    server.request('workspace/executeCommand', { command = command, arguments = arguments or {} }, done)
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

---@return string folder of the session
function M.root()
  return server.root()
end

---@return integer? id of the LSP client
function M.client_id()
  return server.id()
end

return M
