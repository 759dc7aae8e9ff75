-- The prompt buffer. Guarantees: what was written is there until the hub has taken it, and comes back when the agent refuses it; texts
-- that a stop returned come back too; a draft outlives Neovim; `:w` sends. Must not know: windows.
local config = require('atomic.config')
local history = require('atomic.history')
local images = require('atomic.images')
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local buffer ---@type integer?
local place ---@type integer?
local draft = ''

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

---Replaces the text of the prompt; what was there is the newest of the earlier prompts then.
---@param text string
function M.set(text)
  M.buffer()
  local now = text_of()
  if now ~= '' and now ~= vim.trim(text) then
    history.add(now)
  end
  place = nil
  show(text)
end

---Sends a text; gives it back when it was not taken.
---@param command 'prompt'|'steer'|'follow_up'
---@param text string
---@param accepted? fun(err?: string)
function M.deliver(command, text, accepted)
  history.add(text)
  place = nil
  local attached = images.of(text)
  local function failed(sentence)
    M.give_back(text)
    tell.error(sentence)
  end
  local take_back = text:find('@', 1, true) and require('atomic.lend').unsaved() or function() end
  session.intent(command, { message = text, images = #attached > 0 and attached or nil }, {
    accepted = function(err)
      if accepted then
        accepted(err)
      end
      if err then
        take_back()
        failed(err)
      end
    end,
    settled = function(fact)
      take_back()
      if fact.outcome == 'refused' or fact.outcome == 'failed' then
        failed(fact.error or 'The prompt was not taken.')
      elseif fact.outcome == 'done' then
        images.forget(text)
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
    return tell.warn('The prompt is empty: write something first.')
  end
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  M.deliver(command or 'prompt', text, function(err)
    -- What was written meanwhile stays.
    if not err and vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_buf_get_changedtick(buffer) == tick then
      show('')
      history.keep_draft('')
    end
  end)
  vim.bo[buffer].modified = false
end

---Goes through the prompts that were sent.
---@param step 1|-1
function M.walk(step)
  local all = history.all()
  local now = place or #all + 1
  if now > #all then
    draft = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  end
  local to = math.max(1, math.min(#all + 1, now + step))
  if #all == 0 or to == now then
    return
  end
  place = to
  show(all[place] or draft)
end

---Chooses among the prompts that were sent, newest first.
function M.search()
  local all = vim.iter(history.all()):rev():totable()
  if #all == 0 then
    return tell.info('No prompt was sent yet.')
  end
  require('atomic.choose').among(all, 'Earlier prompts', require('atomic.render').one_line, function(text)
    M.set(text)
  end)
end

---Puts an image into the prompt: a file, or without one what is in the clipboard.
---@param path? string
function M.image(path)
  local function added(mark, err)
    if not mark then
      return tell.error(err or 'There is no image.')
    end
    M.buffer()
    local now = text_of()
    show((now == '' and mark or now .. ' ' .. mark) .. ' ')
    require('atomic.chat').refresh()
  end
  if path and path ~= '' then
    return added(images.from_file(path))
  end
  images.from_clipboard(added)
end

local function keep()
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    history.keep_draft(text_of())
  end
end

local function watch()
  local group = vim.api.nvim_create_augroup('atomic-prompt', {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = callback })
  end
  on('BufWriteCmd', function()
    M.send()
  end)
  -- A draft must not keep Neovim from quitting.
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function()
    vim.bo[buffer].modified = false
  end)
  on({ 'TextChangedI', 'TextChangedP' }, function()
    require('atomic.complete').look(buffer)
  end)
  on({ 'CompleteDone', 'InsertLeave' }, function()
    require('atomic.complete').done()
  end)
  on({ 'InsertLeave', 'BufLeave', 'TextChanged', 'FocusLost' }, keep)
  vim.api.nvim_create_autocmd('VimLeavePre', { group = group, callback = keep })
end

local function keys()
  local function sender(command)
    return function()
      M.send(command)
    end
  end
  config.map(
    buffer,
    { 'chat', 'prompt' },
    vim.tbl_extend('force', require('atomic.chat').actions(), {
      send = sender('prompt'),
      send_normal = sender('prompt'),
      steer = sender('steer'),
      follow_up = sender('follow_up'),
      older = function()
        M.walk(-1)
      end,
      newer = function()
        M.walk(1)
      end,
      search = M.search,
      image = M.image,
    })
  )
end

local function make()
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, 'atomic://prompt')
  local bo = vim.bo[buffer]
  bo.buftype, bo.bufhidden, bo.swapfile, bo.filetype = 'acwrite', 'hide', false, 'atomic-prompt'
  vim.treesitter.language.register('markdown', 'atomic-prompt')
  pcall(vim.treesitter.start, buffer, 'markdown')
  watch()
  keys()
  local earlier = history.take_draft()
  if earlier then
    show(earlier)
  end
  M.serve()
end

---Lets the language server know the buffer, if there is one.
function M.serve()
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    require('atomic.server').serve(buffer)
  end
end

---@return integer buffer
function M.buffer()
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    make()
  end
  return buffer --[[@as integer]]
end

return M
