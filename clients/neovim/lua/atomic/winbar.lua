-- The line above the chat, and the statusline component. Guarantees: text of the agent cannot be taken for statusline code.
-- Must not know: windows.
local fold = require('atomic.fold')
local render = require('atomic.render')

local M = {}

local function sorted(map)
  local keys = vim.tbl_keys(map)
  table.sort(keys)
  return keys
end

---What there is to say, first what must be seen.
---@return (string|{[1]: string, [2]: string})[] texts, and texts with a highlight group
local function parts()
  local s = require('atomic.session').snapshot
  local state = s.state
  local found = {}
  local waiting = require('atomic.dialogs').count()
  if waiting > 0 then
    table.insert(found, { ('? %d waiting (:Atomic next)'):format(waiting), 'AtomicQueue' })
  end
  for _, tab in ipairs(require('atomic.session').tabs) do
    if not tab.current and tab.dialogs > 0 then
      table.insert(found, { ('? %d in %s'):format(tab.dialogs, render.one_line(tab.name)), 'AtomicQueue' })
    end
  end
  local model = type(state.model) == 'table' and state.model or nil
  table.insert(found, model and (model.name or model.id) or 'no model')
  if state.thinkingLevel and state.thinkingLevel ~= 'off' then
    table.insert(found, 'thinks ' .. state.thinkingLevel)
  end
  table.insert(found, s.agent.status == 'exited' and 'agent ended' or fold.phase(s))
  local used = s.usage.input + s.usage.output
  if used > 0 then
    table.insert(found, ('↑%s ↓%s'):format(render.tokens(s.usage.input), render.tokens(s.usage.output)))
  end
  local context, window = fold.context(s)
  if context and window and window > 0 then
    local text = ('%d%% of %s'):format(math.floor(context / window * 100 + 0.5), render.tokens(window))
    local group = context >= 0.95 * window and 'AtomicError' or context >= 0.8 * window and 'AtomicQueue'
    table.insert(found, group and { text, group } or text)
  end
  if s.usage.cost > 0 then
    table.insert(found, ('$%.3f'):format(s.usage.cost))
  end
  local queued = #s.queue.steering + #s.queue.followUp
  if queued > 0 then
    table.insert(found, queued .. ' queued')
  end
  local images = require('atomic.images').count()
  if images > 0 then
    table.insert(found, images == 1 and '1 image' or images .. ' images')
  end
  for _, key in ipairs(sorted(s.statuses)) do
    table.insert(found, render.one_line(s.statuses[key]))
  end
  if s.title then
    table.insert(found, render.one_line(s.title))
  end
  return found
end

---For 'winbar': where there is no room for all, the end is cut.
---@return string
function M.text()
  local texts = vim.tbl_map(function(part)
    local text = (type(part) == 'table' and part[1] or part):gsub('%%', '%%%%')
    return type(part) == 'table' and ('%%#%s#%s%%*'):format(part[2], text) or text
  end, parts())
  return ' ' .. table.concat(texts, ' · ') .. '%<'
end

---For 'winbar' of the prompt: what the session is called.
---@return string
function M.prompt()
  local session = require('atomic.session')
  local tab = session.tab()
  local name = session.snapshot.state.sessionName or (tab and #session.tabs > 1 and tab.name)
  local text = type(name) == 'string' and name ~= '' and ' Prompt · ' .. render.one_line(name) or ' Prompt'
  return (text:gsub('%%', '%%%%'))
end

---For a statusline, lualine for one: phase, attention mark, and what extensions say; empty while there is no agent.
---@return string
function M.statusline()
  if not package.loaded['atomic.session'] or not require('atomic.session').client_id() then
    return ''
  end
  local s = require('atomic.session').snapshot
  local waiting = require('atomic.dialogs').count()
  local found = { 'atomic: ' .. fold.phase(s) .. (waiting > 0 and (' ?' .. waiting) or '') }
  for _, key in ipairs(sorted(s.statuses)) do
    table.insert(found, render.one_line(s.statuses[key]))
  end
  return (table.concat(found, ' · '):gsub('%%', '%%%%'))
end

return M
