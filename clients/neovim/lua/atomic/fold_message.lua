-- Messages within the fold: in flight, complete, and their text. Guarantees as in fold.lua. Must not know: other facts.
local M = {}

---@class atomic.Block
---@field kind 'text'|'thinking'|'toolcall'
---@field pieces string[]
---@field id? string
---@field toolName? string
---@field done boolean

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

local long = 65536 -- Bytes of a text that is put together only when somebody wants it: that may take longer than a person notices.

---A block of a message that says what one in flight said.
---@param block table Changed in place.
---@param flight atomic.Block
local function put_back(block, flight)
  local size = 0
  for _, piece in ipairs(flight.pieces) do
    size = size + #piece
  end
  if size < long then
    block[block.type] = M.text(flight)
    return
  end
  setmetatable(block, {
    __index = function(_, key)
      if key == block.type then
        setmetatable(block, nil)
        block[key] = M.text(flight)
        return block[key]
      end
    end,
  })
end

---Whether a block's text, which is long, is what was streamed, and has not been wanted yet.
---@param block table
---@return boolean
function M.is_streamed(block)
  return getmetatable(block) ~= nil
end

---Gives a message that has ended the text that was streamed, which its fact leaves out.
---@param message table Changed in place.
---@param flight? {blocks: atomic.Block[]} The message in flight.
function M.whole(message, flight)
  if message.role ~= 'assistant' or type(message.content) ~= 'table' then
    return
  end
  for index, block in ipairs(message.content) do
    if type(block) == 'table' and block.streamed == true then
      block.streamed = nil
      put_back(block, flight and flight.blocks[index] or { pieces = {} })
    end
  end
end

---How much of the context window is used: tokens, and of how many. Nothing where that is not known, as after a compaction.
---@param s table Snapshot.
---@return integer? used
---@return integer? window
function M.context(s)
  local model = type(s.state.model) == 'table' and s.state.model or {}
  local window = tonumber(s.state.contextWindow) or tonumber(model.contextWindow)
  for index = #s.messages, 1, -1 do
    local message = s.messages[index]
    if message.role == 'compactionSummary' then
      return nil
    end
    local usage = message.role == 'assistant' and type(message.usage) == 'table' and message.usage
    if usage and message.stopReason ~= 'aborted' and message.stopReason ~= 'error' then
      local used = 0
      for _, key in ipairs({ 'input', 'output', 'cacheRead', 'cacheWrite' }) do
        used = used + (tonumber(usage[key]) or 0)
      end
      return used > 0 and used or nil, window
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

M.add, M.update = add_message, update_message

return M
