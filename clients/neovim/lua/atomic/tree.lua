-- The branches of a session. Guarantees: a tree as deep as the session is long needs no deep recursion; the active entry is marked.
-- Must not know: how a transcript is shown.
local render = require('atomic.render')
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local list ---@type atomic.List?
local rows = {} ---@type table[] Entry of each line.

local function words(entry)
  if entry.type == 'message' then
    local message = type(entry.message) == 'table' and entry.message or {}
    local text = render.cut(render.one_line(render.user_text(message.content)), 90)
    if message.role == 'user' then
      return 'You: ' .. text
    elseif message.role == 'assistant' then
      return '· ' .. (text ~= '' and text or '(tools)')
    end
  elseif entry.type == 'compaction' then
    return '— compacted —'
  elseif entry.type == 'branch_summary' then
    return '— ' .. render.cut(render.one_line(tostring(entry.summary or '')), 90)
  end
end

---The tree as lines, and the entry of each.
---@param data {tree?: table[], leafId?: string} As `get_tree` gives it.
---@return string[] lines
---@return table[] entries
function M.lines(data)
  local lines, entries = {}, {}
  local stack = {}
  for index = #(data.tree or {}), 1, -1 do
    table.insert(stack, { 0, data.tree[index] })
  end
  while #stack > 0 do
    local depth, node, above = unpack(table.remove(stack))
    local entry, children = node.entry or {}, node.children or {}
    local active = entry.id ~= nil and entry.id == data.leafId
    local said = words(entry)
    if said then
      local label = type(node.label) == 'string' and (' [%s]'):format(render.one_line(node.label)) or ''
      table.insert(lines, '  ' .. ('  '):rep(depth) .. said .. label)
      table.insert(entries, entry)
      above = #lines
    end
    if active and above then
      -- The newest entry may be none that is shown.
      lines[above] = '▶ ' .. lines[above]:sub(3)
    end
    for index = #children, 1, -1 do
      table.insert(stack, { #children > 1 and depth + 1 or depth, children[index], above })
    end
  end
  if #lines == 0 then
    lines = { 'The session has no message yet.' }
  end
  return lines, entries
end

local function refresh()
  session.execute('atomic.getTree', {}, function(err, data)
    if not tell.failed(err) and list and vim.api.nvim_buf_is_valid(list.buffer) then
      local lines
      lines, rows = M.lines(data)
      list.set(lines)
    end
  end)
end

---Sends an intent about the entry under the cursor; a text that comes back goes into the prompt.
local function about(command, params)
  return function()
    local entry = rows[vim.fn.line('.')]
    if not entry then
      return tell.warn('There is no entry here.')
    end
    session.intent(command, params(entry), {
      settled = tell.unless_done(function(data)
        local text = data.editorText or data.text
        if type(text) == 'string' and text ~= '' then
          require('atomic.prompt').give_back(text)
        end
        refresh()
      end),
    })
  end
end

local function label()
  local line = vim.fn.line('.')
  local entry = rows[line]
  if not entry then
    return tell.warn('There is no entry here.')
  end
  require('atomic.answer').line({ title = 'Label (empty for none)' }, function(text)
    if text then
      local params = { entryId = entry.id, label = text ~= '' and text or nil }
      session.intent('set_label', params, { settled = tell.unless_done(refresh) })
    end
  end)
end

---Opens the tree.
function M.open()
  session.execute('atomic.getTree', {}, function(err, data)
    if tell.failed(err) then
      return
    end
    local lines, entries = M.lines(data)
    rows = entries
    list = require('atomic.list').open('tree', {
      title = 'Tree: <CR> goes on from here, f forks, l labels',
      lines = lines,
      where = 'tree',
      actions = {
        go_entry = about('navigate_tree', function(entry)
          return { targetId = entry.id }
        end),
        fork_entry = about('fork', function(entry)
          return { entryId = entry.id }
        end),
        label_entry = label,
      },
    })
    for index, text in ipairs(lines) do
      if vim.startswith(text, '▶') then
        vim.api.nvim_win_set_cursor(list.window, { index, 0 })
      end
    end
  end)
end

return M
