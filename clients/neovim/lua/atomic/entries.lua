-- The entries of the transcript: which lines of its buffer belong together. Guarantees: lines are changed through here alone, so
-- that every entry knows its place; text that grows is written once for each run of it. Must not know: facts.
local paint = require('atomic.paint')
local render = require('atomic.render')

local M = {}

---@class atomic.Entry
---@field kind 'user'|'head'|'text'|'thinking'|'tool'|'note'|'error'
---@field row integer First line, from 0.
---@field count integer How many lines.
---@field text? string What it says, without decoration.
---@field tool? table
---@field dirty? boolean
---@field cuts? table Of paint.lua.

local space = vim.api.nvim_create_namespace('atomic-transcript')
local buffer ---@type integer
local entries = {} ---@type atomic.Entry[]
local pending = nil ---@type {entry: atomic.Entry, pieces: string[]}?

local groups = {
  user = 'AtomicUser',
  head = 'AtomicAgent',
  thinking = 'AtomicThinking',
  note = 'AtomicNote',
  error = 'AtomicError',
}
local diffs = { ['+'] = 'AtomicAdded', ['-'] = 'AtomicRemoved', ['@'] = 'AtomicHunk' }

---Begins anew, in this buffer.
---@param into integer
function M.begin(into)
  buffer, entries, pending = into, {}, nil
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, {})
end

---@return atomic.Entry?
function M.last()
  return entries[#entries]
end

local function end_row()
  local last = entries[#entries]
  return last and last.row + last.count or 0
end

local function shift(entry, by)
  if by == 0 then
    return
  end
  for index = #entries, 1, -1 do
    if entries[index] == entry then
      return
    end
    entries[index].row = entries[index].row + by
  end
end

---Writes the text that waits for it.
function M.written()
  if not pending then
    return
  end
  local entry, text = pending.entry, table.concat(pending.pieces)
  pending = nil
  local lines = render.lines(text)
  local row = entry.row + entry.count - 1
  local column = #vim.api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
  -- Neovim asks for the fold levels while it changes lines, so that what is known of them goes first, here and below.
  entry.count = entry.count + #lines - 1
  shift(entry, #lines - 1)
  vim.api.nvim_buf_set_text(buffer, row, column, row, column, lines)
end

local function coloured(row, group)
  vim.api.nvim_buf_set_extmark(buffer, space, row, 0, { line_hl_group = group, priority = 90 })
end

---Colours an entry: a heading its line, notes and thinking all of theirs and what is added to them, a diff each line.
local function mark(entry, lines, diff)
  local group = groups[entry.kind]
  if entry.kind == 'user' or entry.kind == 'head' then
    for index, line in ipairs(lines) do
      if vim.startswith(line, '## ') then
        coloured(entry.row + index - 1, group)
        break
      end
    end
  elseif group then
    vim.api.nvim_buf_set_extmark(buffer, space, entry.row, 0, {
      end_row = entry.row + #lines - 1,
      end_col = #lines[#lines],
      end_right_gravity = true,
      hl_group = group,
      hl_eol = true,
      priority = 150,
    })
  end
  for index = diff or #lines + 1, #lines - 1 do
    local sign = diffs[lines[index]:sub(1, 1)]
    if sign then
      coloured(entry.row + index - 1, sign)
    end
  end
end

---@param kind string
---@param lines string[]
---@return atomic.Entry
function M.add(kind, lines, more)
  M.written()
  local row = end_row()
  local entry = vim.tbl_extend('force', more or {}, { kind = kind, row = row, count = #lines })
  table.insert(entries, entry)
  -- An empty buffer has one line, which the first entry takes.
  vim.api.nvim_buf_set_lines(buffer, row, row == 0 and -1 or row, true, lines)
  mark(entry, lines)
  return entry
end

---@param entry atomic.Entry
---@param lines string[]
---@param diff? integer Which of them is the first of a diff.
function M.replace(entry, lines, diff)
  M.written()
  local before = entry.count
  paint.forget(entry)
  vim.api.nvim_buf_clear_namespace(buffer, space, entry.row, entry.row + before)
  entry.count = #lines
  shift(entry, #lines - before)
  vim.api.nvim_buf_set_lines(buffer, entry.row, entry.row + before, true, lines)
  mark(entry, lines, diff)
end

---Text at the end of an entry, written with the next other change or by `written`.
---@param entry atomic.Entry
---@param text string
function M.append(entry, text)
  if pending and pending.entry ~= entry then
    M.written()
  end
  pending = pending or { entry = entry, pieces = {} }
  table.insert(pending.pieces, text)
  table.insert(entry.pieces, text)
end

---What has been appended to an entry.
---@param entry atomic.Entry
---@return string
function M.said(entry)
  return table.concat(entry.pieces or {})
end

---The entry at a line, by halving.
---@param row integer From 0.
---@return atomic.Entry?
function M.at(row)
  local low, high = 1, #entries
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local entry = entries[middle]
    if row < entry.row then
      high = middle - 1
    elseif row >= entry.row + entry.count then
      low = middle + 1
    else
      return entry
    end
  end
end

---The entries that are between two lines.
---@param first integer From 0.
---@param last integer
---@return atomic.Entry[]
function M.between(first, last)
  local low, high = 1, #entries + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entries[middle].row + entries[middle].count <= first then
      low = middle + 1
    else
      high = middle
    end
  end
  local found = {}
  while entries[low] and entries[low].row <= last do
    table.insert(found, entries[low])
    low = low + 1
  end
  return found
end

---For 'foldexpr': thinking and tool calls are folds.
---@return string
function M.level()
  local entry = M.at(vim.v.lnum - 1)
  if not entry or (entry.kind ~= 'thinking' and entry.kind ~= 'tool') or entry.count < 2 then
    return '0'
  end
  return entry.row == vim.v.lnum - 1 and '>1' or '1'
end

---For 'foldtext': the head, how much there is, and the last line, which is the newest.
---@return string
function M.fold_text()
  local entry = M.at(vim.v.foldstart - 1)
  if not entry then
    return vim.fn.foldtext()
  end
  local lines = vim.api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldend, false)
  return render.fold(entry.kind, lines, vim.api.nvim_win_get_width(0))
end

---The line (from 1) of the turn before or after a line; nil when there is none.
---@param line integer From 1.
---@param step 1|-1
---@return integer?
function M.turn(line, step)
  local found
  for _, entry in ipairs(entries) do
    if entry.kind == 'user' then
      local at = entry.row + (entry.row == 0 and 1 or 2)
      if step > 0 and at > line then
        return at
      elseif step < 0 and at < line then
        found = at
      end
    end
  end
  return found
end

return M
