-- What `:Atomic` completes arguments with: names that the session gave last. Guarantees: waits a moment at most, and only for a person
-- who asked. Must not know: what names are for.
local M = {}

local known = {} ---@type table<string, string[]>
local patience = 400

local sources = {
  models = {
    'atomic.getAvailableModels',
    function(data)
      return vim.tbl_map(function(model)
        return ('%s/%s'):format(model.provider, model.id)
      end, data.models or {})
    end,
  },
  levels = {
    'atomic.getAvailableThinkingLevels',
    function(data)
      return data.levels or {}
    end,
  },
  sessions = {
    'atomic.listTabs',
    function(data)
      return vim.tbl_map(function(session)
        return session.name
      end, data.sessions or {})
    end,
  },
}

---Names of a kind; an empty list while they are not known.
---@param kind 'models'|'levels'|'sessions'
---@return string[]
function M.names(kind)
  local session = require('atomic.session')
  -- No agent is started for the sake of a completion.
  if not session.client_id() or session.snapshot.agent.status ~= 'running' then
    return known[kind] or {}
  end
  local fresh = false
  session.execute(sources[kind][1], {}, function(err, data)
    if not err and type(data) == 'table' then
      known[kind] = sources[kind][2](data)
    end
    fresh = true
  end)
  if not known[kind] then
    vim.wait(patience, function()
      return fresh
    end, 10)
  end
  return known[kind] or {}
end

return M
