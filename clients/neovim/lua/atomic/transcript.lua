-- The transcript buffer. Guarantees: changed by us alone; a batch of facts is written once for each run of text, at the end of what
-- grows; windows stay where they are unless their cursor is at the bottom; what was streamed is corrected by the message as it
-- stands. Must not know: windows' layout, the language server.
local fold = require('atomic.fold')
local render = require('atomic.render')

local M = {}

---@class atomic.Entry
---@field kind 'user'|'head'|'text'|'thinking'|'tool'|'note'|'error'
---@field row integer First line, from 0.
---@field count integer How many lines.
---@field text? string What it says, without decoration.
---@field tool? table
---@field dirty? boolean

local space = vim.api.nvim_create_namespace('atomic-transcript')
local buffer ---@type integer?
local entries = {} ---@type atomic.Entry[]
local tools = {} ---@type table<string, atomic.Entry>
local blocks = {} ---@type table<integer, atomic.Entry>
local pending = nil ---@type {entry: atomic.Entry, pieces: string[]}?
local headed = false

local groups = {
  user = 'AtomicUser',
  head = 'AtomicAgent',
  thinking = 'AtomicThinking',
  note = 'AtomicNote',
  error = 'AtomicError',
}

local function links()
  for name, link in pairs({
    AtomicUser = 'Title',
    AtomicAgent = 'Function',
    AtomicThinking = 'Comment',
    AtomicNote = 'Comment',
    AtomicError = 'DiagnosticError',
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
  vim.treesitter.language.register('markdown', 'atomic-chat')
  if not pcall(vim.treesitter.start, buffer, 'markdown') then
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
local function written()
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

local function mark(entry)
  local group = groups[entry.kind]
  if not group then
    return
  end
  vim.api.nvim_buf_set_extmark(buffer, space, entry.row, 0, {
    line_hl_group = group,
    invalidate = true,
    undo_restore = false,
  })
end

---@param kind string
---@param lines string[]
---@return atomic.Entry
local function add(kind, lines, more)
  written()
  local row = end_row()
  local entry = vim.tbl_extend('force', more or {}, { kind = kind, row = row, count = #lines })
  table.insert(entries, entry)
  -- An empty buffer has one line, which the first entry takes.
  vim.api.nvim_buf_set_lines(buffer, row, row == 0 and -1 or row, true, lines)
  mark(entry)
  return entry
end

local function replace(entry, lines)
  written()
  local before = entry.count
  entry.count = #lines
  shift(entry, #lines - before)
  vim.api.nvim_buf_set_lines(buffer, entry.row, entry.row + before, true, lines)
  mark(entry)
end

local function append(entry, text)
  if pending and pending.entry ~= entry then
    written()
  end
  pending = pending or { entry = entry, pieces = {} }
  table.insert(pending.pieces, text)
  table.insert(entry.pieces, text)
end

local function said(entry)
  return table.concat(entry.pieces or {})
end

local function head()
  if not headed then
    headed = true
    add('head', { '', '## Atomic', '' })
  end
end

local function add_text(kind, text)
  head()
  local last = entries[#entries]
  local prefix = kind == 'thinking' and { '*Thinking*' } or last.kind ~= 'head' and { '' } or {}
  local entry = add(kind, vim.list_extend(vim.list_slice(prefix), { '' }), { pieces = {}, prefix = prefix })
  if text ~= '' then
    append(entry, text)
  end
  return entry
end

local function tool_drawn(entry)
  replace(entry, render.tool(entry.tool))
  entry.dirty = nil
end

local function add_tool(id, name, args)
  head()
  local tool = { toolName = name or '', args = args or {}, status = 'asked', output = '' }
  local entry = add('tool', render.tool(tool), { tool = tool })
  if id then
    tools[id] = entry
  end
  return entry
end

local function add_user(text)
  headed = false
  local lines = end_row() == 0 and { '## You', '' } or { '', '## You', '' }
  vim.list_extend(lines, render.lines(text))
  local entry = add('user', lines)
  entry.text = text
end

local function finish_block(index, block)
  local entry = blocks[index]
  if block.type == 'toolCall' then
    entry = tools[block.id] or entry
    if not entry then
      entry = add_tool(block.id, block.name, block.arguments)
    end
    tools[block.id] = entry
    entry.tool.toolName, entry.tool.args = block.name, block.arguments or {}
    entry.dirty = true
    return
  end
  local kind = block.type == 'thinking' and 'thinking' or 'text'
  local text = block.type == 'thinking' and (block.thinking or '') or (block.text or '')
  if block.type == 'image' then
    text = '(an image)'
  end
  if not entry then
    if text ~= '' then
      add_text(kind, text)
    end
  elseif said(entry) ~= text then
    replace(entry, vim.list_extend(vim.list_slice(entry.prefix), render.lines(text)))
    entry.pieces = { text }
  end
end

local function message_ended(message)
  local role = message.role
  if role == 'assistant' then
    written()
    for index, block in ipairs(type(message.content) == 'table' and message.content or {}) do
      finish_block(index - 1, block)
    end
    if type(message.content) == 'string' and message.content ~= '' and not blocks[0] then
      add_text('text', message.content)
    end
    blocks = {}
    if message.stopReason == 'error' then
      head()
      add('error', { '', '✗ ' .. render.one_line(message.errorMessage or 'The model failed.') })
    elseif message.stopReason == 'aborted' then
      head()
      add('note', { '', '■ Stopped.' })
    elseif message.stopReason == 'length' then
      add('note', { '', '… The answer was cut at the model’s limit.' })
    end
  elseif role == 'user' then
    add_user(render.user_text(message.content))
  elseif role == 'toolResult' then
    local entry = tools[message.toolCallId]
    if entry and not entry.tool.result then
      entry.tool.result = { content = message.content, details = message.details }
      entry.tool.status = message.isError and 'failed' or 'done'
      entry.dirty = true
    end
  elseif role == 'compactionSummary' or role == 'branchSummary' then
    add('thinking', vim.list_extend({ '', '*Summary of what was before*' }, render.lines(message.summary or '')))
  elseif role == 'bashExecution' then
    local tool = { toolName = '!', args = { command = message.command }, status = 'done', output = message.output or '' }
    add('tool', render.tool(tool), { tool = tool })
  elseif role == 'custom' and message.display ~= false then
    add('text', vim.list_extend({ '' }, render.lines(fold.content_text(message.content))), { pieces = {} })
  end
end

local function updated(event)
  local kind, step = tostring(event.type):match('^(%a+)_(%a+)$')
  local index = event.contentIndex
  if kind == 'toolcall' then
    if step == 'start' or not blocks[index] then
      blocks[index] = add_tool(event.id, event.toolName)
    end
    if step == 'end' then
      finish_block(index, vim.tbl_extend('force', { type = 'toolCall' }, event.toolCall))
    end
  elseif kind == 'text' or kind == 'thinking' then
    if step == 'delta' then
      if not blocks[index] then
        blocks[index] = add_text(kind, '')
      end
      append(blocks[index], event.delta)
    elseif step == 'end' and event.content and blocks[index] then
      finish_block(index, { type = kind, text = event.content, thinking = event.content })
    end
  end
end

local steps = {
  message_start = function(fact)
    if fact.message.role == 'assistant' then
      blocks = {}
    end
  end,
  message_update = function(fact)
    updated(fact.assistantMessageEvent)
  end,
  message_end = function(fact)
    message_ended(fact.message)
  end,
  tool_execution_start = function(fact)
    local entry = tools[fact.toolCallId] or add_tool(fact.toolCallId, fact.toolName, fact.args)
    entry.tool.toolName, entry.tool.args, entry.tool.status = fact.toolName, fact.args, 'running'
    entry.dirty = true
  end,
  tool_execution_update = function(fact)
    local entry = tools[fact.toolCallId]
    if entry then
      entry.dirty = true
    end
  end,
  tool_execution_end = function(fact, snapshot)
    local entry = tools[fact.toolCallId] or add_tool(fact.toolCallId, fact.toolName)
    local known = snapshot.tools[fact.toolCallId]
    entry.tool.status = fact.isError and 'failed' or 'done'
    entry.tool.result, entry.tool.durationMs = fact.result, fact.durationMs
    entry.tool.output = known and known.output or ''
    entry.dirty = true
  end,
  agent_settled = function()
    headed = false
    for _, entry in pairs(tools) do
      if entry.tool.status == 'running' then
        entry.tool.status, entry.dirty = 'failed', true
      end
    end
  end,
  compaction_end = function(fact)
    if type(fact.result) == 'table' and type(fact.result.summary) == 'string' then
      message_ended({ role = 'compactionSummary', summary = fact.result.summary })
    end
  end,
  auto_retry_start = function(fact)
    local why = fact.errorMessage and ': ' .. render.one_line(fact.errorMessage) or ''
    head()
    add('note', { '', ('↻ Retry %d of %d%s'):format(fact.attempt or 1, fact.maxAttempts or 1, why) })
  end,
  agent_exited = function(fact)
    if not fact.expected then
      add('error', { '', '✗ ' .. render.one_line(fact.message or 'The agent ended.') })
    end
  end,
  extension_error = function(fact)
    add('error', { '', '✗ ' .. render.one_line('Extension: ' .. tostring(fact.error)) })
  end,
  extension_ui_request = function(fact)
    if fact.method == 'notify' then
      add('note', { '', 'ℹ ' .. render.one_line(tostring(fact.message or '')) })
    end
  end,
  notice = function(fact)
    add(fact.level == 'error' and 'error' or 'note', { '', 'ℹ ' .. render.one_line(fact.message) })
  end,
}

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

local function drawn(snapshot)
  for id, entry in pairs(tools) do
    if entry.dirty then
      local live = snapshot.tools[id]
      if live and entry.tool.status == 'running' then
        entry.tool.output = live.output
      end
      tool_drawn(entry)
    end
  end
  written()
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
    wanted = wanted or steps[fact.type] ~= nil or fact.type == 'session_replaced'
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
      local step = steps[fact.type]
      if step then
        step(fact, snapshot)
      end
    end
    drawn(snapshot)
  end)
end

---Shows a whole session.
---@param snapshot table
function M.redraw(snapshot)
  if not M.exists() then
    return
  end
  following(function()
    entries, tools, blocks, pending, headed = {}, {}, {}, nil, false
    vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, {})
    if snapshot.olderMessages > 0 then
      add('note', { ('… %d earlier messages'):format(snapshot.olderMessages) })
    end
    for _, message in ipairs(snapshot.messages) do
      if message.role == 'user' then
        headed = false
      end
      message_ended(message)
    end
    for index, block in ipairs(snapshot.message and snapshot.message.blocks or {}) do
      if block.kind == 'toolcall' then
        blocks[index - 1] = add_tool(block.id, block.toolName, block.arguments)
      else
        blocks[index - 1] = add_text(block.kind, fold.text(block))
      end
    end
    for id, entry in pairs(tools) do
      local live = snapshot.tools[id]
      if live then
        entry.tool = vim.tbl_extend('force', entry.tool, live)
        entry.dirty = true
      end
    end
    drawn(snapshot)
  end)
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
  return render.fold(entry.kind, lines)
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
