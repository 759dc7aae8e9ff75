-- The prompt buffer. Guarantees: what was written is there until the hub has taken it, and comes back when the agent refuses it;
-- texts that a stop returned come back too; `:w` sends. Must not know: windows.
local session = require('atomic.session')

local M = {}

local buffer ---@type integer?
local history = {} ---@type string[]
local place = 0
local draft = ''
local kept = 200

local function text_of()
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n'))
end

local function show(text)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(text, '\n', { plain = true }))
  vim.bo[buffer].modified = false
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
  end
end

local function remember(text)
  if history[#history] ~= text then
    table.insert(history, text)
  end
  if #history > kept then
    table.remove(history, 1)
  end
  place = #history + 1
end

---Puts text into the prompt, before what is there.
---@param text string
function M.give_back(text)
  M.buffer()
  local now = text_of()
  if now == '' then
    show(text)
  elseif not now:find(text, 1, true) then
    show(text .. '\n\n' .. now)
  end
end

---Replaces the text of the prompt.
---@param text string
function M.set(text)
  M.buffer()
  show(text)
end

---Sends a text; gives it back when it was not taken.
---@param command 'prompt'|'steer'|'follow_up'
---@param text string
---@param accepted? fun(err?: string)
function M.deliver(command, text, accepted)
  remember(text)
  local function failed(sentence)
    M.give_back(text)
    vim.notify(sentence, vim.log.levels.ERROR, { title = 'atomic' })
  end
  session.intent(command, { message = text }, {
    accepted = function(err)
      if accepted then
        accepted(err)
      end
      if err then
        failed(err)
      end
    end,
    settled = function(fact)
      if fact.outcome == 'refused' or fact.outcome == 'failed' then
        failed(fact.error or 'The prompt was not taken.')
      elseif fact.outcome == 'unknown' then
        failed(fact.error or 'Whether the prompt arrived is not known.')
      end
    end,
  })
end

---Sends what the buffer holds.
---@param command? 'prompt'|'steer'|'follow_up'
function M.send(command)
  local text = text_of()
  if text == '' then
    vim.notify('The prompt is empty: write something first.', vim.log.levels.WARN, { title = 'atomic' })
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  M.deliver(command or 'prompt', text, function(err)
    -- What was written meanwhile stays.
    if not err and vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_buf_get_changedtick(buffer) == tick then
      show('')
    end
  end)
  vim.bo[buffer].modified = false
end

---Goes through the prompts that were sent.
---@param step 1|-1
function M.walk(step)
  if place > #history then
    draft = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  end
  local to = math.max(1, math.min(#history + 1, place + step))
  if #history == 0 or to == place then
    return
  end
  place = to
  show(history[place] or draft)
end

local function make()
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, 'atomic://prompt')
  local bo = vim.bo[buffer]
  bo.buftype, bo.bufhidden, bo.swapfile, bo.filetype = 'acwrite', 'hide', false, 'atomic-prompt'
  vim.treesitter.language.register('markdown', 'atomic-prompt')
  pcall(vim.treesitter.start, buffer, 'markdown')
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function()
      M.send()
    end,
  })
  -- A draft must not keep Neovim from quitting.
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buffer,
    callback = function()
      vim.bo[buffer].modified = false
    end,
  })
  local wanted = require('atomic.config').get().keys
  local function map(modes, name, action, desc)
    for _, key in ipairs(type(wanted[name]) == 'table' and wanted[name] or { wanted[name] or nil }) do
      vim.keymap.set(modes, key, action, { buffer = buffer, desc = 'Atomic: ' .. desc })
    end
  end
  local function sender(command)
    return function()
      M.send(command)
    end
  end
  map({ 'n', 'i' }, 'send', sender('prompt'), 'send')
  map('n', 'send_normal', sender('prompt'), 'send')
  map({ 'n', 'i' }, 'steer', sender('steer'), 'steer the run')
  map({ 'n', 'i' }, 'follow_up', sender('follow_up'), 'send after the run')
  map({ 'n', 'i' }, 'older', function()
    M.walk(-1)
  end, 'older prompt')
  map({ 'n', 'i' }, 'newer', function()
    M.walk(1)
  end, 'newer prompt')
  map('n', 'stop', function()
    require('atomic').stop()
  end, 'stop')
  map('n', 'close', function()
    require('atomic.chat').close()
  end, 'close the chat')
  map('n', 'next_question', function()
    require('atomic').next()
  end, 'next question')
end

---@return integer buffer
function M.buffer()
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    make()
  end
  return buffer --[[@as integer]]
end

return M
