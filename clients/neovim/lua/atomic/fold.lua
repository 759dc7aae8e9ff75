-- The fold: what a session looks like after one more fact. Guarantees: no input, no output, no editor; the snapshot is the
-- argument, changed in place; the text of a message in flight is kept in pieces, so that a delta costs its own length.
-- A fact that is not known changes nothing. Follows server/src/session/fold.ts, but keeps no intents and no shell commands.
local M = {}

---@class atomic.Block
---@field kind 'text'|'thinking'|'toolcall'
---@field pieces string[]
---@field id? string
---@field toolName? string
---@field done boolean

local live_tail = 65536

---@return table snapshot
function M.empty()
  return {
    agent = { status = 'absent', unavailable = {} },
    state = {},
    messages = {},
    olderMessages = 0,
    tools = {},
    tool_order = {},
    queue = { steering = {}, followUp = {} },
    statuses = {},
    widgets = {},
    dialogs = {},
    files = {},
    usage = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = 0 },
  }
end

---A snapshot of the server, made ready for `apply`.
---@param snapshot table
---@return table
function M.begun(snapshot)
  local own = vim.tbl_extend('force', M.empty(), snapshot)
  own.tool_order = vim.tbl_keys(own.tools)
  table.sort(own.tool_order, function(a, b)
    local one, other = own.tools[a], own.tools[b]
    return (one.startedAt or 0) < (other.startedAt or 0)
  end)
  if own.message then
    for _, block in ipairs(own.message.blocks or {}) do
      block.pieces, block.text = { block.text or '' }, nil
    end
  end
  return own
end

---The text of a block in flight.
---@param block atomic.Block
---@return string
function M.text(block)
  if #block.pieces > 1 then
    block.pieces = { table.concat(block.pieces) }
  end
  return block.pieces[1] or ''
end

local function add_usage(sum, usage)
  if type(usage) ~= 'table' then
    return
  end
  for _, key in ipairs({ 'input', 'output', 'cacheRead', 'cacheWrite' }) do
    sum[key] = sum[key] + (tonumber(usage[key]) or 0)
  end
  local cost = type(usage.cost) == 'table' and tonumber(usage.cost.total) or 0
  sum.cost = sum.cost + cost
end

local function add_message(s, message)
  table.insert(s.messages, message)
  add_usage(s.usage, message.usage)
  if #s.messages > 400 then
    table.remove(s.messages, 1)
    s.olderMessages = s.olderMessages + 1
  end
end

local function cut_tools(s, at)
  for _, tool in pairs(s.tools) do
    if tool.status == 'running' then
      tool.status, tool.endedAt = 'failed', at
    end
  end
end

local function update_message(s, event, at)
  local index = event.contentIndex
  if type(index) ~= 'number' or index < 0 or index >= 4096 then
    return
  end
  local kind, step = tostring(event.type):match('^(%a+)_(%a+)$')
  if kind ~= 'text' and kind ~= 'thinking' and kind ~= 'toolcall' then
    return
  end
  s.message = s.message or { role = 'assistant', startedAt = at, blocks = {} }
  local blocks = s.message.blocks
  while #blocks < index do
    table.insert(blocks, { kind = 'text', pieces = {}, done = true })
  end
  local block = blocks[index + 1]
  if step == 'start' or not block then
    block = { kind = kind, pieces = {}, id = event.id, toolName = event.toolName, done = false }
    blocks[index + 1] = block
  end
  block.kind = kind
  if step == 'delta' then
    block.done = false
    table.insert(block.pieces, event.delta)
  elseif step == 'end' then
    block.done = true
    if event.content then
      block.pieces = { event.content }
    elseif event.toolCall then
      block.id, block.toolName = event.toolCall.id, event.toolCall.name
      block.arguments = event.toolCall.arguments or {}
      block.pieces = { vim.json.encode(block.arguments) }
    end
  end
end

---The text of a message's or result's content.
---@param content string|table[]|nil
---@return string
function M.content_text(content)
  if type(content) == 'string' then
    return content
  end
  local texts = {}
  for _, block in ipairs(type(content) == 'table' and content or {}) do
    if type(block) == 'table' and type(block.text) == 'string' then
      table.insert(texts, block.text)
    end
  end
  return table.concat(texts, '\n')
end

local function without_key(list, id)
  return vim.tbl_filter(function(item)
    return item.id ~= id
  end, list)
end

local apply = {}

function apply.agent_started(s, f)
  s.agent = { status = 'running', identity = f.agent, pid = f.pid, unavailable = s.agent.unavailable or {} }
end
function apply.agent_exited(s, f, at)
  s.agent.status, s.agent.pid = 'exited', nil
  s.agent.exit = { code = f.code, signal = f.signal, expected = f.expected, message = f.message }
  s.run, s.message, s.compaction, s.retry, s.summarization, s.title = nil, nil, nil, nil, nil, nil
  s.queue, s.statuses, s.widgets = { steering = {}, followUp = {} }, {}, {}
  cut_tools(s, at)
end
function apply.command_unavailable(s, f)
  if not vim.tbl_contains(s.agent.unavailable, f.command) then
    table.insert(s.agent.unavailable, f.command)
  end
end
function apply.state_changed(s, f)
  for key, value in pairs(f.state) do
    s.state[key] = value ~= vim.NIL and value or nil
  end
end
function apply.session_replaced(s, f)
  local same = f.state.sessionId ~= nil and f.state.sessionId == s.state.sessionId
  s.state, s.messages, s.olderMessages = f.state, {}, f.olderMessages or 0
  s.usage = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = 0 }
  for _, message in ipairs(f.messages) do
    add_message(s, message)
  end
  s.message, s.tools, s.tool_order, s.files = nil, {}, {}, {}
  s.statuses, s.widgets = f.statuses or {}, f.widgets or {}
  if not same then
    s.title, s.compaction, s.retry, s.summarization = nil, nil, nil, nil
    s.queue = { steering = {}, followUp = {} }
  end
end
function apply.session_info_changed(s, f)
  s.state.sessionName = f.name
end
function apply.thinking_level_changed(s, f)
  s.state.thinkingLevel = f.level
end
function apply.model_changed(s, f)
  s.state.model = f.model
end
function apply.context_window_changed(s, f)
  s.state.contextWindow = f.contextWindow
end
function apply.agent_start(s, _, at)
  if not s.run then
    s.run, s.tools, s.tool_order = { startedAt = at, turns = 0 }, {}, {}
  end
end
function apply.turn_start(s)
  if s.run then
    s.run.turns = s.run.turns + 1
  end
end
function apply.agent_settled(s, f, at)
  s.lastRun = vim.tbl_extend('force', f.outcome or {}, { endedAt = at })
  s.run, s.message, s.retry = nil, nil, nil
  cut_tools(s, at)
end
function apply.message_start(s, f, at)
  if f.message.role == 'assistant' then
    s.message = { role = 'assistant', startedAt = at, blocks = {} }
  end
end
function apply.message_update(s, f, at)
  update_message(s, f.assistantMessageEvent, at)
end
function apply.message_end(s, f)
  add_message(s, f.message)
  if f.message.role == 'assistant' then
    s.message = nil
  end
end
function apply.tool_execution_start(s, f, at)
  if not s.tools[f.toolCallId] then
    table.insert(s.tool_order, f.toolCallId)
  end
  s.tools[f.toolCallId] = {
    toolCallId = f.toolCallId,
    toolName = f.toolName,
    args = f.args,
    status = 'running',
    output = '',
    startedAt = at,
  }
end
function apply.tool_execution_update(s, f)
  local tool = s.tools[f.toolCallId]
  if tool then
    tool.output = ((f.reset and '' or tool.output) .. f.delta)
    if #tool.output > 2 * live_tail then
      local start = #tool.output - live_tail + 1
      while (tool.output:byte(start) or 0) >= 0x80 and (tool.output:byte(start) or 0) < 0xC0 do
        start = start + 1
      end
      tool.output = tool.output:sub(start)
    end
  end
end
function apply.tool_execution_end(s, f, at)
  local known = s.tools[f.toolCallId]
  if not known then
    table.insert(s.tool_order, f.toolCallId)
    known = { toolCallId = f.toolCallId, args = {}, output = '', startedAt = at }
    s.tools[f.toolCallId] = known
  end
  known.toolName = f.toolName ~= '' and f.toolName or known.toolName
  known.status = f.isError and 'failed' or 'done'
  known.endedAt, known.result = at, f.result
  if known.output == '' then
    known.output = M.content_text(f.result and f.result.content)
  end
end
function apply.file_touched(s, f)
  s.files = vim.tbl_filter(function(path)
    return path ~= f.path
  end, s.files)
  table.insert(s.files, f.path)
end
function apply.queue_update(s, f)
  s.queue = { steering = f.steering or {}, followUp = f.followUp or {} }
end
function apply.compaction_start(s, f, at)
  s.compaction = { reason = f.reason, since = at }
end
function apply.compaction_end(s, f, at)
  s.compaction = nil
  local result = f.result
  if type(result) == 'table' and type(result.summary) == 'string' then
    add_message(s, {
      role = 'compactionSummary',
      summary = result.summary,
      tokensBefore = result.tokensBefore,
      timestamp = at,
    })
  end
end
function apply.auto_retry_start(s, f, at)
  s.retry = {
    attempt = f.attempt,
    maxAttempts = f.maxAttempts,
    delayMs = f.delayMs,
    errorMessage = f.errorMessage,
    since = at,
  }
end
function apply.auto_retry_end(s)
  s.retry = nil
end
function apply.extension_ui_request(s, f)
  if f.method == 'setStatus' then
    local text = f.statusText
    s.statuses[tostring(f.statusKey)] = type(text) == 'string' and text ~= '' and text or nil
  elseif f.method == 'setWidget' then
    local lines = type(f.widgetLines) == 'table' and f.widgetLines or nil
    s.widgets[tostring(f.widgetKey)] = lines
        and { lines = vim.tbl_map(tostring, lines), placement = f.widgetPlacement or 'aboveEditor' }
      or nil
  elseif f.method == 'setTitle' then
    s.title = type(f.title) == 'string' and f.title ~= '' and f.title or nil
  end
end
function apply.dialog_opened(s, f)
  s.dialogs = without_key(s.dialogs, f.dialog.id)
  table.insert(s.dialogs, f.dialog)
end
function apply.dialog_settled(s, f)
  s.dialogs = without_key(s.dialogs, f.id)
end

---Changes the snapshot by one fact.
---@param snapshot table
---@param fact table
function M.apply(snapshot, fact)
  local step = apply[fact.type]
  if step then
    step(snapshot, fact, fact.at or 0)
  end
end

---What the session is doing, in one word for a person.
---@param s table
---@return 'idle'|'waiting'|'thinking'|'writing'|'tool'|'compacting'|'retrying'
function M.phase(s)
  if s.compaction then
    return 'compacting'
  elseif s.retry and not s.message then
    return 'retrying'
  elseif not s.run then
    return 'idle'
  end
  for _, tool in pairs(s.tools) do
    if tool.status == 'running' then
      return 'tool'
    end
  end
  if not s.message then
    return 'waiting'
  end
  local last = s.message.blocks[#s.message.blocks]
  return last and last.kind == 'thinking' and 'thinking' or 'writing'
end

return M
