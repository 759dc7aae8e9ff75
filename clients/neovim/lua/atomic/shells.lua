-- Shell commands of the person in the transcript. Guarantees: each is drawn as a tool, with its output as it comes, and once. Must not
-- know: how a tool looks.
local parts = require('atomic.entries')
local render = require('atomic.render')

local M = {}

local shown = {} ---@type table<string, true> Commands whose end was shown before their message came.

local function shell_id(intent)
  return 'shell ' .. tostring(intent)
end

---Whether the end of a command was shown already; asked once for each.
---@param command string
---@return boolean
function M.was_shown(command)
  local was = shown[command] == true
  shown[command] = nil
  return was
end

local function draw(tools, id, shell)
  local tool = { toolName = '!', args = { command = shell.command }, status = 'running', output = shell.output }
  tools[shell_id(id)] = parts.add('tool', render.tool(tool), { tool = tool })
end

---Draws those that run.
---@param snapshot table
---@param tools table<string, atomic.Entry>
function M.whole(snapshot, tools)
  for _, id in ipairs(vim.fn.sort(vim.tbl_keys(snapshot.bash))) do
    draw(tools, id, snapshot.bash[id])
  end
end

---What facts about shell commands do.
---@param tools fun(): table<string, atomic.Entry> The tools that are drawn.
---@return table<string, fun(fact: table, snapshot: table)>
function M.steps(tools)
  return {
    intent_accepted = function(fact, snapshot)
      if snapshot.bash[fact.intent] then
        draw(tools(), fact.intent, snapshot.bash[fact.intent])
      end
    end,
    bash_execution_update = function(fact, snapshot)
      local id = fact.id or snapshot.newest_bash
      local entry = tools()[shell_id(id)]
      if entry and snapshot.bash[id] then
        entry.tool.output, entry.dirty = snapshot.bash[id].output, true
      end
    end,
    intent_settled = function(fact)
      local entry = tools()[shell_id(fact.intent)]
      if entry and entry.tool.status == 'running' then
        local data = type(fact.data) == 'table' and fact.data or {}
        entry.tool.status = fact.outcome == 'done' and (data.exitCode or 0) == 0 and 'done' or 'failed'
        entry.tool.output = type(data.output) == 'string' and data.output or fact.error or entry.tool.output
        entry.dirty = true
        shown[entry.tool.args.command or ''] = fact.outcome == 'done' or nil
      end
    end,
  }
end

return M
