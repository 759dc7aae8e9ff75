-- A line that nobody may read. Guarantees: its characters are never in a buffer but for a paste's moment, nor in undo, registers or
-- history; `done` is called once. Must not know: what it is for.
local choose = require('atomic.choose')
local float = require('atomic.float')

local M = {}

local dot = '•'

---What an edit of a masked line makes of the characters that it stands for.
---@param hidden string[] Characters.
---@param shown string The line: dots, and what is new.
---@param column integer Characters before the cursor.
---@return string[]
function M.after(hidden, shown, column)
  local characters = vim.fn.split(shown, '\\zs')
  if vim.iter(characters):all(function(each)
    return each == dot
  end) and #characters <= #hidden then
    local gone = #hidden - #characters
    local kept = vim.list_slice(hidden, 1, column)
    return vim.list_extend(kept, hidden, column + gone + 1)
  end
  local first = 1
  while characters[first] == dot and first <= #hidden do
    first = first + 1
  end
  local last, tail = #characters, 0
  while last >= first and characters[last] == dot and tail < #hidden - first + 1 do
    last, tail = last - 1, tail + 1
  end
  local kept = vim.list_slice(hidden, 1, first - 1)
  vim.list_extend(kept, characters, first, last)
  return vim.list_extend(kept, hidden, #hidden - tail + 1)
end

---@param options {title: string, placeholder?: string, deadline?: number}
---@param done fun(text?: string)
---@return fun() close
function M.open(options, done)
  local give, drop = choose.once(done)
  local it = float.open({ '' }, {
    title = options.title,
    footer = options.placeholder,
    deadline = options.deadline,
    editable = true,
    closed = function()
      give(nil)
    end,
  })
  local buffer = it.buffer
  vim.bo[buffer].undolevels = -1
  vim.b[buffer].completion = false
  local hidden = {} ---@type string[]
  local function column()
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    return vim.fn.strchars(before)
  end
  vim.api.nvim_create_autocmd('InsertCharPre', {
    buffer = buffer,
    callback = function()
      table.insert(hidden, column() + 1, vim.v.char)
      vim.v.char = dot
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'TextChanged', 'TextChangedP' }, {
    buffer = buffer,
    callback = function()
      local shown = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '')
      local wanted = dot:rep(#hidden)
      if shown == wanted then
        return
      end
      hidden = M.after(hidden, shown, column())
      local behind = vim.fn.strchars(shown) - column()
      vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { dot:rep(#hidden) })
      vim.api.nvim_win_set_cursor(0, { 1, math.max(0, #hidden - behind) * #dot })
    end,
  })
  local function finish(value)
    vim.cmd.stopinsert()
    it.close()
    give(value)
    hidden = {}
  end
  vim.keymap.set({ 'n', 'i' }, '<CR>', function()
    local text = table.concat(hidden)
    finish(text ~= '' and text or nil)
  end, { buffer = buffer })
  vim.keymap.set({ 'n', 'i' }, '<Esc>', function()
    finish(nil)
  end, { buffer = buffer })
  vim.cmd('startinsert!')
  return function()
    drop()
    hidden = {}
    vim.cmd.stopinsert()
    it.close()
  end
end

return M
