-- A choice among items. Guarantees: `done` is called once, with an index or nil for a dismissal, and never after `close`; Neovim waits
-- for no key meanwhile; a list that a plugin shows is closed too. Must not know: what is chosen.
local float = require('atomic.float')
local render = require('atomic.render')
local tell = require('atomic.tell')

local M = {}

-- Without those that move in a list or close it.
local letters = vim.split('123456789abcdefhimoprstuvxyz', '')

---Whether we show it ourselves; Neovim's own would wait for a key and let nothing else happen.
---@param name 'select'|'input'
---@return boolean
function M.by_ourselves(name)
  local setting = require('atomic.config').get().dialogs
  if setting ~= 'auto' then
    return setting == 'float'
  end
  return tell.own(vim.ui[name], 'vim/ui.lua')
end

---Something that is called once, and what keeps it from being called.
---@param done fun(...)
---@return fun(...) give, fun() drop
function M.once(done)
  local over = false
  return function(...)
    if not over then
      over = true
      done(...)
    end
  end, function()
    over = true
  end
end

---Opens something of a plugin's; gives what closes the windows that it opened.
---@param open fun()
---@return fun() close
function M.foreign(open)
  local before = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    before[window] = true
  end
  local own = {}
  local function look()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if not before[window] then
        own[window] = true
      end
    end
  end
  open()
  look()
  -- Some open theirs a moment later.
  vim.schedule(function()
    look()
    vim.schedule(look)
  end)
  return function()
    for window in pairs(own) do
      if vim.api.nvim_win_is_valid(window) then
        pcall(vim.api.nvim_win_close, window, true)
      end
    end
    if vim.fn.mode():find('^i') then
      vim.cmd.stopinsert()
    end
  end
end

---@class atomic.Choice
---@field title string
---@field message? string Text above the items.
---@field deadline? number Milliseconds since the epoch.

---@param items string[]
---@param options atomic.Choice
---@param done fun(index?: integer)
---@return fun() close
function M.open(items, options, done)
  local give, drop = M.once(done)
  if not M.by_ourselves('select') then
    local numbers = vim.tbl_keys(items)
    table.sort(numbers)
    local prompt = options.title .. (options.message and ' ' .. render.one_line(options.message) or '')
    local close = M.foreign(function()
      vim.ui.select(numbers, {
        prompt = prompt,
        kind = 'atomic',
        format_item = function(index)
          return render.one_line(items[index])
        end,
      }, give)
    end)
    return function()
      drop()
      close()
    end
  end
  local lines = {}
  if vim.fn.strdisplaywidth(options.title) > vim.o.columns - 20 then
    vim.list_extend(lines, { options.title, '' })
  end
  if options.message and options.message ~= '' then
    vim.list_extend(lines, render.lines(options.message))
    table.insert(lines, '')
  end
  local above = #lines
  for index, item in ipairs(items) do
    table.insert(lines, ('%s  %s'):format(letters[index] or ' ', render.one_line(item)))
  end
  local it = float.open(lines, {
    title = options.title,
    deadline = options.deadline,
    closed = function()
      give(nil)
    end,
  })
  vim.wo[it.window][0].cursorline = true
  vim.api.nvim_win_set_cursor(it.window, { math.min(above + 1, #lines), 0 })
  local function map(key, action)
    vim.keymap.set('n', key, action, { buffer = it.buffer, nowait = true })
  end
  local function take(index)
    if items[index] then
      it.close()
      give(index)
    end
  end
  for index in ipairs(items) do
    if letters[index] then
      map(letters[index], function()
        take(index)
      end)
    end
  end
  map('<CR>', function()
    take(vim.fn.line('.') - above)
  end)
  for _, key in ipairs({ 'q', '<Esc>' }) do
    map(key, function()
      it.close()
      give(nil)
    end)
  end
  return function()
    drop()
    it.close()
  end
end

---Chooses among things.
---@generic T
---@param items T[]
---@param title string
---@param label fun(item: T): string
---@param take fun(item: T)
function M.among(items, title, label, take)
  M.open(vim.tbl_map(label, items), { title = title }, function(index)
    if index then
      take(items[index])
    end
  end)
end

return M
