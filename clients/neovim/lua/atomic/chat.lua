-- The chat's windows. Guarantees: transcript and prompt open and close together; window options are set for the chat's buffers
-- alone; whatever is opened here is gone after `close`. Must not know: facts, the language server.
local config = require('atomic.config')
local transcript = require('atomic.transcript')

local M = {}

local windows = {} ---@type {transcript?: integer, prompt?: integer}
local keyed = {} ---@type table<integer, true>
local bar ---@type string?

local function valid(window)
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

---@return boolean
function M.is_open()
  return valid(windows.transcript) and vim.api.nvim_win_get_buf(windows.transcript) == transcript.buffer()
end

local function size(setting, whole)
  return math.max(10, math.floor(setting < 1 and whole * setting or setting))
end

local function floating(height, row)
  local options = config.get()
  local width = math.min(size(math.max(options.width, 0.6), vim.o.columns), vim.o.columns - 4)
  return {
    relative = 'editor',
    width = width,
    height = height,
    row = row,
    col = math.floor((vim.o.columns - width) / 2),
    border = 'rounded',
  }
end

local function open_transcript()
  local options, buffer = config.get(), transcript.buffer()
  if options.layout == 'tab' then
    vim.cmd('tab split')
    vim.api.nvim_win_set_buf(0, buffer)
    return vim.api.nvim_get_current_win()
  elseif options.layout == 'float' then
    return vim.api.nvim_open_win(buffer, false, floating(math.max(5, vim.o.lines - options.prompt_height - 8), 1))
  elseif options.layout == 'below' then
    return vim.api.nvim_open_win(buffer, false, {
      split = 'below',
      win = -1,
      height = size(options.height, vim.o.lines) + options.prompt_height,
    })
  end
  return vim.api.nvim_open_win(buffer, false, {
    split = options.layout,
    win = -1,
    width = size(options.width, vim.o.columns),
  })
end

local function open_prompt(buffer)
  local options = config.get()
  if options.layout == 'float' then
    return vim.api.nvim_open_win(buffer, false, floating(options.prompt_height, vim.o.lines - options.prompt_height - 4))
  end
  return vim.api.nvim_open_win(buffer, false, {
    split = 'below',
    win = windows.transcript,
    height = options.prompt_height,
  })
end

local function options_of(window, values)
  for name, value in pairs(values) do
    vim.wo[window][0][name] = value
  end
end

local function copied(text, what)
  if text and text ~= '' then
    vim.fn.setreg('"', text)
    pcall(vim.fn.setreg, '+', text)
  else
    vim.notify('There is no ' .. what .. ' here.', vim.log.levels.WARN, { title = 'atomic' })
  end
end

---The fenced block around a line of a buffer.
---@param lines string[]
---@param line integer From 1.
---@return string?
function M.block_at(lines, line)
  local fence, from
  for index, text in ipairs(lines) do
    local ticks = text:match('^%s*(```+)')
    if fence and ticks and #ticks >= #fence and text:match('^%s*`+%s*$') then
      if line >= from and line <= index then
        return table.concat(vim.list_slice(lines, from + 1, index - 1), '\n')
      end
      fence = nil
    elseif ticks and not fence then
      fence, from = ticks, index
    end
  end
end

---@return string? text of the last answer
function M.last_answer()
  local messages = require('atomic.session').snapshot.messages
  for index = #messages, 1, -1 do
    if messages[index].role == 'assistant' then
      local text = require('atomic.fold').content_text(messages[index].content)
      if text ~= '' then
        return text
      end
    end
  end
end

local function keys(buffer)
  if keyed[buffer] then
    return
  end
  keyed[buffer] = true
  local wanted = config.get().keys
  local function map(name, action, desc)
    for _, key in ipairs(type(wanted[name]) == 'table' and wanted[name] or { wanted[name] or nil }) do
      vim.keymap.set('n', key, action, { buffer = buffer, desc = 'Atomic: ' .. desc, nowait = true })
    end
  end
  local function turn(step)
    return function()
      local line = transcript.turn(vim.fn.line('.'), step)
      if line then
        vim.api.nvim_win_set_cursor(0, { line, 0 })
      end
    end
  end
  map('next_turn', turn(1), 'next turn')
  map('previous_turn', turn(-1), 'previous turn')
  map('close', M.close, 'close the chat')
  map('to_prompt', function()
    M.open()
    vim.cmd.startinsert()
  end, 'write a prompt')
  map('stop', function()
    require('atomic').stop()
  end, 'stop')
  map('next_question', function()
    require('atomic').next()
  end, 'next question')
  map('copy_answer', function()
    copied(M.last_answer(), 'answer')
  end, 'copy the last answer')
  map('copy_block', function()
    copied(M.block_at(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), vim.fn.line('.')), 'code block')
  end, 'copy the code block')
  vim.keymap.set('n', 'gf', 'gF', { buffer = buffer, desc = 'Atomic: file and line under the cursor' })
end

local watching = false

---One autocommand for as long as Neovim lives: when one of the two windows is closed, so is the other.
local function watch()
  if watching then
    return
  end
  watching = true
  vim.api.nvim_create_autocmd('WinClosed', {
    group = vim.api.nvim_create_augroup('atomic-chat', {}),
    callback = function(event)
      local closed = tonumber(event.match)
      if closed == windows.transcript or closed == windows.prompt then
        vim.schedule(M.close)
      end
    end,
  })
end

---Opens the chat, or goes to it. The cursor goes to the prompt unless `focus` is false.
---@param focus? boolean
function M.open(focus)
  local prompt = require('atomic.prompt').buffer()
  local transcript_buffer = transcript.buffer()
  if not M.is_open() then
    windows.transcript = open_transcript()
    keys(transcript_buffer)
    options_of(windows.transcript, {
      winbar = "%{%v:lua.require'atomic.winbar'.text()%}",
      foldmethod = 'expr',
      foldexpr = "v:lua.require'atomic.transcript'.level()",
      foldtext = "v:lua.require'atomic.transcript'.fold_text()",
      foldlevel = 0,
      foldenable = true,
      wrap = true,
      linebreak = true,
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      conceallevel = 2,
      winfixwidth = true,
    })
    vim.api.nvim_win_set_cursor(windows.transcript, { vim.api.nvim_buf_line_count(transcript_buffer), 0 })
  end
  if not valid(windows.prompt) then
    windows.prompt = open_prompt(prompt)
    options_of(windows.prompt, {
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      winfixheight = true,
      wrap = true,
      linebreak = true,
      winbar = ' Prompt',
    })
  end
  watch()
  if focus ~= false then
    vim.api.nvim_set_current_win(windows.prompt)
  end
end

function M.close()
  local both = { windows.prompt, windows.transcript }
  windows = {}
  for _, window in pairs(both) do
    if valid(window) then
      -- The last window cannot be closed; then it shows something else.
      if not pcall(vim.api.nvim_win_close, window, true) then
        vim.api.nvim_win_call(window, vim.cmd.enew)
      end
    end
  end
end

function M.toggle()
  if M.is_open() then
    M.close()
  else
    M.open()
  end
end

---Draws the winbar again if it says something else now.
function M.refresh()
  if not M.is_open() then
    return
  end
  local text = require('atomic.winbar').text()
  if text ~= bar then
    bar = text
    vim.cmd('redrawstatus!')
  end
end

return M
