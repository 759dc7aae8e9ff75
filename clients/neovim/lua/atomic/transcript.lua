-- The transcript buffer. Guarantees: changed by us alone; a batch of facts is written once for each run of text, at the end of what
-- grows; windows stay where they are unless their cursor is at the bottom; what was streamed is corrected by the message as it
-- stands. Must not know: windows' layout, the language server.
local paint = require('atomic.paint')
local parts = require('atomic.entries')
local story = require('atomic.story')

local M = {}

local buffer ---@type integer?

---Highlight groups, which a colour scheme may change.
local function links()
  for name, link in pairs({
    AtomicUser = 'Title',
    AtomicAgent = 'Function',
    AtomicThinking = 'Comment',
    AtomicNote = 'Comment',
    AtomicError = 'DiagnosticError',
    AtomicAdded = 'DiffAdd',
    AtomicRemoved = 'DiffDelete',
    AtomicHunk = 'Special',
    AtomicFile = 'Directory',
    AtomicQueue = 'WarningMsg',
    AtomicWidget = 'Normal',
  }) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

local function make()
  links()
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, 'atomic://chat')
  local bo = vim.bo[buffer]
  bo.buftype, bo.bufhidden, bo.swapfile, bo.undolevels = 'nofile', 'hide', false, -1
  bo.filetype = 'atomic-chat'
  if not paint.begin(buffer, parts.between) then
    bo.syntax = 'markdown'
  end
  bo.modifiable = false
end

---@return integer buffer
function M.buffer()
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    make()
    M.redraw(require('atomic.session').snapshot)
  end
  return buffer --[[@as integer]]
end

---@return boolean
function M.exists()
  return buffer ~= nil and vim.api.nvim_buf_is_valid(buffer)
end

---Windows whose cursor is at the bottom, and what keeps them there.
local function following(change)
  local windows = vim.fn.win_findbuf(buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  local stuck = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] >= last
  end, windows)
  vim.bo[buffer].modifiable = true
  local ok, err = pcall(change)
  vim.bo[buffer].modifiable = false
  paint.later()
  local now = vim.api.nvim_buf_line_count(buffer)
  for _, window in ipairs(stuck) do
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_set_cursor(window, { now, 0 })
    end
  end
  if not ok then
    error(err, 0)
  end
end

---Shows what a batch of facts says.
---@param facts table[]
---@param snapshot table The session after them.
function M.show(facts, snapshot)
  if not M.exists() then
    return
  end
  local wanted = false
  for _, fact in ipairs(facts) do
    wanted = wanted or story.steps[fact.type] ~= nil or fact.type == 'session_replaced'
  end
  if not wanted then
    return
  end
  for index = #facts, 1, -1 do
    if facts[index].type == 'session_replaced' then
      -- The snapshot holds all that came after it, too.
      return M.redraw(snapshot)
    end
  end
  following(function()
    for _, fact in ipairs(facts) do
      local step = story.steps[fact.type]
      if step then
        step(fact, snapshot)
      end
    end
    story.drawn(snapshot)
  end)
end

---Shows a whole session.
---@param snapshot table
function M.redraw(snapshot)
  if not M.exists() then
    return
  end
  following(function()
    parts.begin(buffer)
    story.whole(snapshot)
  end)
end

M.links = links
M.at, M.level, M.fold_text, M.turn = parts.at, parts.level, parts.fold_text, parts.turn

return M
