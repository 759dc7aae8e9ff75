-- How one question is shown. Guarantees: `done` is called once, with the answer or nil for a dismissal, and never after `close`;
-- nothing is left behind. Must not know: which questions wait.
local render = require('atomic.render')

local M = {}

---Whether a function of `vim.ui` is Neovim's own, which waits for a key and lets nothing else happen.
---@param name 'select'|'input'
local function own(name)
  local setting = require('atomic.config').get().dialogs
  if setting ~= 'auto' then
    return setting == 'float'
  end
  local source = debug.getinfo(vim.ui[name], 'S').source
  return source:find('vim/ui%.lua$') ~= nil
end

local function once(done)
  local over = false
  return function(value)
    if not over then
      over = true
      done(value)
    end
  end, function()
    over = true
  end
end

local function title_of(dialog)
  local title = render.one_line(dialog.title or '')
  if dialog.message and dialog.message ~= '' then
    title = title .. ' ' .. render.one_line(dialog.message)
  end
  return title
end

local function seconds_left(dialog)
  if not dialog.deadline then
    return ''
  end
  local left = math.floor(dialog.deadline / 1000 - os.time())
  return (' (%d s)'):format(math.max(0, left))
end

---A small window in the middle, with the focus; `finish` closes it.
local function float(lines, dialog, editable, footer)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  local width = 40
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  width = math.min(width, vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 6)
  local before = vim.api.nvim_get_current_win()
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. render.cut(render.one_line(dialog.title or ''), width - 12) .. seconds_left(dialog) .. ' ',
    footer = footer and (' ' .. render.cut(footer, width - 4) .. ' ') or nil,
  })
  vim.wo[window][0].wrap = true
  vim.bo[buffer].modifiable = editable
  local function finish()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    if vim.api.nvim_win_is_valid(before) then
      vim.api.nvim_set_current_win(before)
    end
  end
  return buffer, window, finish
end

local function dismissing(buffer, give)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    once = true,
    callback = vim.schedule_wrap(function()
      give(nil)
    end),
  })
end

---@param dialog table
---@param done fun(value?: table)
---@return fun() close
function M.choose(dialog, done)
  local confirm = dialog.method == 'confirm'
  local options = confirm and { 'Yes', 'No' } or dialog.options or {}
  local give, drop = once(done)
  local function chosen(index)
    if not index then
      return give(nil)
    end
    give(confirm and { confirmed = index == 1 } or { index = index - 1 })
  end
  if not own('select') then
    local numbers = {}
    for index in ipairs(options) do
      numbers[index] = index
    end
    vim.ui.select(numbers, {
      prompt = title_of(dialog),
      kind = 'atomic',
      format_item = function(index)
        return render.one_line(options[index])
      end,
    }, chosen)
    return drop
  end
  local lines = {}
  if dialog.message and dialog.message ~= '' then
    vim.list_extend(lines, render.lines(dialog.message))
    table.insert(lines, '')
  end
  local above = #lines
  for index, option in ipairs(options) do
    table.insert(lines, ('%d  %s'):format(index, render.one_line(option)))
  end
  local buffer, window, finish = float(lines, dialog, false)
  vim.wo[window][0].cursorline = true
  vim.api.nvim_win_set_cursor(window, { math.min(above + 1, #lines), 0 })
  local function take(index)
    if options[index] then
      finish()
      chosen(index)
    end
  end
  local function map(key, action)
    vim.keymap.set('n', key, action, { buffer = buffer, nowait = true })
  end
  for index = 1, math.min(9, #options) do
    map(tostring(index), function()
      take(index)
    end)
  end
  map('<CR>', function()
    take(vim.fn.line('.') - above)
  end)
  for _, key in ipairs({ 'q', '<Esc>' }) do
    map(key, finish)
  end
  dismissing(buffer, give)
  return function()
    drop()
    finish()
  end
end

---@param dialog table
---@param done fun(value?: table)
---@return fun() close
function M.line(dialog, done)
  local give, drop = once(done)
  local function entered(text)
    give(text and { value = text } or nil)
  end
  if not own('input') then
    vim.ui.input({ prompt = title_of(dialog) .. ': ', default = dialog.prefill }, entered)
    return drop
  end
  local hint = dialog.placeholder and render.one_line(dialog.placeholder) or nil
  local buffer, _, finish = float({ (render.one_line(dialog.prefill or '')) }, dialog, true, hint)
  vim.keymap.set({ 'n', 'i' }, '<CR>', function()
    local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
    vim.cmd.stopinsert()
    finish()
    entered(text)
  end, { buffer = buffer })
  vim.keymap.set('n', '<Esc>', finish, { buffer = buffer })
  vim.cmd('startinsert!')
  dismissing(buffer, give)
  return function()
    drop()
    vim.cmd.stopinsert()
    finish()
  end
end

---@param dialog table
---@param done fun(value?: table)
function M.secret(dialog, done)
  local ok, text = pcall(vim.fn.inputsecret, title_of(dialog) .. ': ')
  done(ok and text ~= '' and { value = text } or nil)
end

---@param dialog table
---@param done fun(value?: table)
---@return fun() close
function M.edit(dialog, done)
  local give, drop = once(done)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, 'atomic://answer/' .. dialog.id)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].filetype = 'acwrite', 'wipe', 'markdown'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(dialog.prefill or '', '\n', { plain = true }))
  vim.bo[buffer].modified = false
  local window = vim.api.nvim_open_win(buffer, true, { split = 'below', win = 0 })
  local hint = render.one_line(dialog.title or '') .. ' (:w answers)'
  vim.wo[window][0].winbar = (hint:gsub('%%', '%%%%'))
  local function finish()
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_delete(buffer, { force = true })
    end
  end
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function()
      local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
      vim.bo[buffer].modified = false
      give({ value = text })
      -- `:wq` closes the window itself.
      vim.schedule(finish)
    end,
  })
  dismissing(buffer, give)
  return function()
    drop()
    finish()
  end
end

return M
