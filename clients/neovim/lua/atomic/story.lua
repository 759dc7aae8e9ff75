-- From facts to entries of the transcript. Guarantees: what was streamed is corrected by the message as it stands; a tool is drawn
-- once a batch, however often it spoke. Must not know: buffers, windows.
local fold = require('atomic.fold')
local messages = require('atomic.fold_message')
local parts = require('atomic.entries')
local render = require('atomic.render')
local shells = require('atomic.shells')

local M = {}

local add, replace, append, said, written = parts.add, parts.replace, parts.append, parts.said, parts.written

local tools = {} ---@type table<string, atomic.Entry>
local blocks = {} ---@type table<integer, atomic.Entry>
local headed = false

local function head()
  if not headed then
    headed = true
    add('head', { '', '## Atomic', '' })
  end
end

local function add_text(kind, text)
  head()
  local last = parts.last()
  local prefix = kind == 'thinking' and { '*Thinking*' } or last.kind ~= 'head' and { '' } or {}
  local entry = add(kind, vim.list_extend(vim.list_slice(prefix), { '' }), { pieces = {}, prefix = prefix })
  if text ~= '' then
    append(entry, text)
  end
  return entry
end

local function tool_drawn(entry)
  local lines, first = render.tool(entry.tool)
  replace(entry, lines, first)
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
  local lines = not parts.last() and { '## You', '' } or { '', '## You', '' }
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
  if entry and messages.is_streamed(block) then
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
    if shells.was_shown(message.command) then
      return
    end
    local tool =
      { toolName = '!', args = { command = message.command }, status = 'done', output = message.output or '' }
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

local function tools_now()
  return tools
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
      if entry.tool.status == 'running' and entry.tool.toolName ~= '!' then
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
    local method = tostring(fact.method)
    if method == 'notify' then
      add(
        fact.notifyType == 'error' and 'error' or 'note',
        { '', 'ℹ ' .. render.one_line(tostring(fact.message or '')) }
      )
    elseif vim.startswith(method, 'oauth_') then
      local step = render.login(fact)
      if step ~= '' then
        add('note', { '', 'ℹ ' .. step })
      end
    end
  end,
  notice = function(fact)
    add(fact.level == 'error' and 'error' or 'note', { '', 'ℹ ' .. render.one_line(fact.message) })
  end,
}

for name, step in pairs(shells.steps(tools_now)) do
  steps[name] = step
end

---What each type of fact does; others do nothing.
M.steps = steps

---Draws what changed in a batch.
---@param snapshot table
function M.drawn(snapshot)
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

---A whole session, into an empty buffer.
---@param snapshot table
function M.whole(snapshot)
  tools, blocks, headed = {}, {}, false
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
  shells.whole(snapshot, tools)
  for id, entry in pairs(tools) do
    local live = snapshot.tools[id]
    if live then
      entry.tool = vim.tbl_extend('force', entry.tool, live)
      entry.dirty = true
    end
  end
  M.drawn(snapshot)
end

return M
