-- The session that this Neovim watches. Guarantees: every fact is folded once and told once; it goes on where it was when the server was
-- started anew; facts of other sessions are not taken for this one's. Must not know: buffers, windows.
local fold = require('atomic.fold')
local intents = require('atomic.intents')
local server = require('atomic.server')
local tell = require('atomic.tell')

local M = { snapshot = fold.empty() }

---@alias atomic.Listener fun(batch: {facts: table[], reset: boolean}, snapshot: table)

local cursor ---@type {epoch: string, seq: integer}?
local place ---@type {name?: string, workspace: string}? Of the session, for a server that does not know it.
local attached = false
local waiting = {} ---@type fun(err?: string)[]
local listeners = {} ---@type atomic.Listener[]
local on_dialog = {} ---@type fun(dialog: table)[]

---@class atomic.Tab A session that our server follows.
---@field session string Its id, as long as the server lives.
---@field name string
---@field workspace string
---@field current boolean
---@field busy boolean
---@field dialogs integer

---Who we are to the hub, known after our first intent; the session's id, after attaching.
M.origin = nil ---@type string?
M.id = nil ---@type string?
M.tabs = {} ---@type atomic.Tab[]

local function told(batch)
  for _, listener in ipairs(vim.list_slice(listeners)) do
    local ok, err = pcall(listener, batch, M.snapshot)
    if not ok then
      tell.error('atomic: ' .. tostring(err))
    end
  end
end

local function reset(result)
  local same = cursor and cursor.epoch == result.epoch or M.id ~= nil and M.id ~= result.session
  cursor = { epoch = result.epoch, seq = result.seq }
  M.id = result.session
  if result.snapshot then
    M.snapshot = fold.begun(result.snapshot)
    told({ facts = {}, reset = true })
    intents.settle_from(result.snapshot, same)
  end
end

local function take(batch)
  if not attached or batch.session ~= M.id then
    return
  end
  cursor = { epoch = batch.epoch, seq = batch.to }
  for _, fact in ipairs(batch.facts) do
    fold.apply(M.snapshot, fact)
  end
  told({ facts = batch.facts, reset = false })
  for _, fact in ipairs(batch.facts) do
    if fact.type == 'intent_accepted' and intents.is_ours(fact.intent) and fact.origin then
      M.origin = fact.origin.id
    elseif fact.type == 'intent_settled' then
      intents.settle(fact)
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

---Follows the session that is current in the server now, if it is another one.
---@param tabs atomic.Tab[]
local function follow(tabs)
  M.tabs = tabs
  for _, tab in ipairs(tabs) do
    if tab.session == M.id then
      place = { name = tab.name, workspace = tab.workspace }
    end
  end
  local current = M.tab()
  if attached and current and current.session ~= M.id then
    server.request('atomic/attach', { session = current.session }, function(err, result)
      if not err then
        cursor = nil
        reset(result)
        follow(M.tabs)
      end
    end)
  end
  told({ facts = {}, reset = false })
end

local function attach()
  local params = { cursor = cursor }
  if place then
    -- Ids are the server's, which may be another one now.
    params = { session = place.name, workspace = place.workspace, cursor = cursor, current = true }
  end
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
    intents.send_again()
    over()
  end)
end

local function lost(err)
  attached = false
  over(err)
  intents.lost(err)
  -- What is in flight stays: the facts that follow may count on it.
  M.snapshot.run = nil
  told({ facts = {}, reset = false })
end

local function resync(result)
  if result.session == M.id then
    reset(result)
  end
end

local function tabs(params)
  follow(params.tabs or {})
end

local function begin()
  attached = false
  server.start({
    notified = { ['atomic/events'] = take, ['atomic/resync'] = resync, ['atomic/tabs'] = tabs },
    asked = {
      -- Answered at once with null, which leaves the question open: the answer is an intent of its own, so that nothing
      -- waits for a person and a question can be answered anywhere.
      ['atomic/dialog'] = function(params)
        if params.session == M.id or vim.startswith(params.dialog.id, 'local-') then
          for _, listener in ipairs(on_dialog) do
            listener(params.dialog)
          end
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

---Goes to the session of a folder, if that is another one.
---@param folder string
---@param done fun(err?: string)
function M.go(folder, done)
  M.ensure(function(first)
    if first or not place or place.workspace == folder then
      return done(first)
    end
    server.request('atomic/attach', { workspace = folder, current = true }, function(err, result)
      if not err then
        -- Its name comes with the list of sessions.
        cursor, place = nil, { workspace = folder }
        reset(result)
      end
      done(err)
    end)
  end)
end

---The session that is current in the server.
---@return atomic.Tab?
function M.tab()
  return vim.iter(M.tabs):find(function(tab)
    return tab.current
  end)
end

---Sends an intent. `accepted` when the hub took it (or not), `settled` with its outcome.
---@param command string Atomic's name or the LSP command.
---@param params? table
---@param handlers? {accepted?: fun(err?: string), settled?: fun(fact: table)}
---@return string id
function M.intent(command, params, handlers)
  local intent = intents.new(command, params, handlers)
  M.ensure(function(err)
    if err then
      return intent.accepted(err)
    end
    intents.send(intent)
  end)
  return intent.id
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
  return place and place.workspace or server.root()
end

---@return integer? id of the LSP client
function M.client_id()
  return server.id()
end

return M
