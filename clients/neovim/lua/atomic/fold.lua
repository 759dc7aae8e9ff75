-- The fold: what a session looks like after one more fact. Guarantees: no input, no output, no editor; the snapshot is the
-- argument, changed in place; the text of a message in flight is kept in pieces, so that a delta costs its own length.
-- A fact that is not known changes nothing. Follows server/src/session/fold.ts, but keeps no intents.
local messages = require('atomic.fold_message')

local M = {}

local live_tail = 65536
local shells = { bash = true, user_bash = true }

---@return table snapshot
function M.empty()
  return {
    agent = { status = 'absent', unavailable = {} },
    state = {},
    messages = {},
    olderMessages = 0,
    tools = {},
    tool_order = {},
    bash = {},
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

M.text, M.content_text, M.context = messages.text, messages.content_text, messages.context

local function cut_tools(s, at)
  for _, tool in pairs(s.tools) do
    if tool.status == 'running' then
      tool.status, tool.endedAt = 'failed', at
    end
  end
end

local function without_key(list, id)
  return vim.tbl_filter(function(item)
    return item.id ~= id
  end, list)
end

---The end of a long output.
local function tail(text)
  if #text <= 2 * live_tail then
    return text
  end
  local start = #text - live_tail + 1
  while (text:byte(start) or 0) >= 0x80 and (text:byte(start) or 0) < 0xC0 do
    start = start + 1
  end
  return text:sub(start)
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
    s.state[key] = value
  end
  for _, key in ipairs(f.removed or {}) do
    s.state[key] = nil
  end
end
function apply.session_replaced(s, f)
  local same = f.state.sessionId ~= nil and f.state.sessionId == s.state.sessionId
  s.state, s.messages, s.olderMessages = f.state, {}, f.olderMessages or 0
  s.usage = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = 0 }
  for _, message in ipairs(f.messages) do
    messages.add(s, message)
  end
  s.message, s.tools, s.tool_order, s.files = nil, {}, {}, {}
  s.statuses, s.widgets = f.statuses or {}, f.widgets or {}
  if not same then
    s.title, s.compaction, s.retry, s.summarization = f.title, nil, nil, nil
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
  messages.update(s, f.assistantMessageEvent, at)
end
function apply.message_end(s, f)
  messages.whole(f.message, s.message)
  messages.add(s, f.message)
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
    tool.output = tail((f.reset and '' or tool.output) .. f.delta)
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
    known.output = messages.content_text(f.result and f.result.content)
  end
end
function apply.file_touched(s, f)
  s.files = vim.tbl_filter(function(path)
    return path ~= f.path
  end, s.files)
  table.insert(s.files, f.path)
end
function apply.intent_accepted(s, f)
  if shells[f.command] then
    s.bash[f.intent] = { id = f.intent, command = f.text, output = '' }
    s.newest_bash = f.intent
  end
end
function apply.bash_execution_update(s, f)
  -- Older agents do not say whose output it is.
  local shell = s.bash[f.id or s.newest_bash]
  if shell then
    shell.output = tail((shell.output or '') .. f.delta)
  end
end
function apply.intent_settled(s, f)
  s.bash[f.intent] = nil
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
    messages.add(s, {
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
function apply.dialog_offered(s, f)
  for _, dialog in ipairs(s.dialogs) do
    if dialog.id == f.id then
      dialog.offered = true
    end
  end
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

M.phase = require('atomic.phase')

return M
