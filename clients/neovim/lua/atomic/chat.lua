-- The chat. Guarantees: transcript and prompt open and close together; window options are set for the chat's buffers alone; whatever is
-- opened here is gone after `close`. Must not know: facts, the language server.
local config = require('atomic.config')
local layout = require('atomic.layout')
local panel = require('atomic.panel')
local tell = require('atomic.tell')
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

---Whether the person has it before them.
---@return boolean
function M.is_seen()
  return M.is_open() and vim.api.nvim_win_get_tabpage(windows.transcript) == vim.api.nvim_get_current_tabpage()
end

local function copied(text, what)
  if text and text ~= '' then
    vim.fn.setreg('"', text)
    pcall(vim.fn.setreg, '+', text)
  else
    tell.warn('There is no ' .. what .. ' here.')
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

local function open_file()
  local entry = transcript.at(vim.fn.line('.') - 1)
  local root = require('atomic.session').root()
  local text = require('atomic.places').under(vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2])
  local found = require('atomic.places').find(text, root)
  local args = entry and entry.tool and entry.tool.args
  if not found and args then
    -- On a tool, its file, whatever its name holds.
    found = require('atomic.places').find(tostring(args.path or args.file_path or ''), root)
  end
  if not found then
    return tell.warn(('There is no file %s in %s.'):format(text, vim.fn.fnamemodify(root, ':~')))
  end
  require('atomic.places').open(found.path, found.line, found.column)
end

local function turn(step)
  return function()
    local line = transcript.turn(vim.fn.line('.'), step)
    if line then
      vim.api.nvim_win_set_cursor(0, { line, 0 })
    end
  end
end

---What the keys of both buffers do.
---@return table<string, fun()>
function M.actions()
  local function does(name, ...)
    local arguments = { ... }
    return function()
      require('atomic')[name](unpack(arguments))
    end
  end
  return {
    stop = does('stop'),
    next_question = does('next'),
    close = M.close,
    queue = function()
      require('atomic.queue').open()
    end,
    cycle_model = does('intent', 'cycle_model'),
    cycle_thinking = does('intent', 'cycle_thinking_level'),
  }
end

local function keys(buffer)
  if keyed[buffer] then
    return
  end
  keyed[buffer] = true
  config.map(
    buffer,
    { 'chat', 'transcript' },
    vim.tbl_extend('force', M.actions(), {
      next_turn = turn(1),
      previous_turn = turn(-1),
      open_file = open_file,
      to_prompt = function()
        M.open()
        vim.cmd.startinsert()
      end,
      copy_answer = function()
        copied(M.last_answer(), 'answer')
      end,
      copy_block = function()
        copied(M.block_at(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), vim.fn.line('.')), 'code block')
      end,
    })
  )
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
    windows.transcript = layout.transcript(config.get(), transcript_buffer)
    keys(transcript_buffer)
    layout.set(windows.transcript, {
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
    windows.prompt = layout.prompt(config.get(), prompt, windows.transcript)
    layout.set(windows.prompt, {
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      winfixheight = true,
      wrap = true,
      linebreak = true,
      winbar = "%{%v:lua.require'atomic.winbar'.prompt()%}",
    })
  end
  watch()
  M.refresh()
  if focus ~= false then
    vim.api.nvim_set_current_win(windows.prompt)
  end
end

function M.close()
  local both = { windows.prompt, windows.transcript }
  windows, bar = {}, nil
  panel.close()
  for _, window in pairs(both) do
    if valid(window) then
      -- The last window cannot be closed; then it shows something else.
      if not pcall(vim.api.nvim_win_close, window, true) then
        vim.api.nvim_win_call(window, vim.cmd.enew)
      end
    end
  end
end

---Draws what is around transcript and prompt, where it says something else now.
function M.refresh()
  if not M.is_open() then
    return
  end
  if valid(windows.prompt) then
    panel.update(require('atomic.session').snapshot, windows.prompt)
  end
  local text = require('atomic.winbar').text()
  if text ~= bar then
    bar = text
    vim.cmd('redrawstatus!')
  end
end

return M
