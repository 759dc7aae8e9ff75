-- What this Neovim wants of the session. Guarantees: an intent's outcome reaches whoever sent it, also when the server was started anew in
-- between: what was not acknowledged is sent again under the same id, which the hub does once. Must not know: the session.
local server = require('atomic.server')
local tell = require('atomic.tell')

local M = {}

---@class atomic.Intent
---@field id string
---@field command string
---@field params table
---@field accepted fun(err?: string)
---@field settled fun(fact: table)
---@field taken boolean

local intents = {} ---@type table<string, atomic.Intent>
local order = {} ---@type string[] Ids of what is not acknowledged.
local count = 0

---@param command string
---@param params? table
---@param handlers? {accepted?: fun(err?: string), settled?: fun(fact: table)}
---@return atomic.Intent
function M.new(command, params, handlers)
  handlers = handlers or {}
  count = count + 1
  return {
    id = ('nvim-%d-%x-%d'):format(vim.uv.os_getpid(), vim.uv.hrtime(), count),
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
end

---@param id string
---@return boolean
function M.is_ours(id)
  return intents[id] ~= nil
end

---An intent's outcome came.
---@param fact table
function M.settle(fact)
  local intent = intents[fact.intent]
  if intent then
    intents[fact.intent] = nil
    intent.settled(fact)
  end
end

---What became of our intents, as far as a snapshot says; those of a journal that is gone are unknown.
---@param snapshot table
---@param same boolean Whether the journal is the one that they went to.
function M.settle_from(snapshot, same)
  local known = {}
  for _, each in ipairs(snapshot.intents or {}) do
    known[each.intent] = each
  end
  for _, id in ipairs(vim.tbl_keys(intents)) do
    local intent = intents[id]
    local outcome = known[id] and known[id].outcome
    if outcome and outcome ~= 'pending' then
      M.settle({ intent = id, command = intent.command, outcome = outcome, error = known[id].error })
    elseif not outcome and intent.taken and not same then
      M.settle({
        intent = id,
        command = intent.command,
        outcome = 'unknown',
        error = 'Whether that was done is not known.',
      })
    end
  end
end

---@param intent atomic.Intent
function M.send(intent)
  if not intents[intent.id] then
    intents[intent.id] = intent
    table.insert(order, intent.id)
  end
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

---Sends what was not acknowledged before the server ended.
function M.send_again()
  for _, id in ipairs(order) do
    if intents[id] then
      M.send(intents[id])
    end
  end
end

---The server is gone, and nothing starts it before somebody wants it.
---@param err string
function M.lost(err)
  local held = intents
  intents, order = {}, {}
  for _, intent in pairs(held) do
    if intent.taken then
      intent.settled({ type = 'intent_settled', intent = intent.id, outcome = 'unknown', error = err })
    else
      intent.accepted(err)
    end
  end
end

return M
