-- Answers that are text: a line in a float, many in a buffer. Guarantees: `done` is called once, with the text or nil and then with what
-- had been written; a buffer that is left without an answer asks what is to become of the question. Must not know: which wait.
local choose = require('atomic.choose')
local float = require('atomic.float')
local render = require('atomic.render')

local M = {}

local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

---@param dialog {title: string, placeholder?: string, prefill?: string, deadline?: number}
---@param done fun(text?: string, written?: string)
---@return fun(): string? close gives what had been written
function M.line(dialog, done)
  local give, drop = choose.once(done)
  local prefill = vim.split(render.clean(dialog.prefill or ''), '\n', { plain = true })
  -- A plugin's input has one line.
  if #prefill == 1 and not choose.by_ourselves('input') then
    local close = choose.foreign(function()
      vim.ui.input({ prompt = dialog.title .. ': ', default = dialog.prefill }, give)
    end)
    return function()
      drop()
      close()
    end
  end
  local it
  local written ---@type string?
  it = float.open(prefill, {
    title = dialog.title,
    footer = dialog.placeholder and render.one_line(dialog.placeholder),
    deadline = dialog.deadline,
    editable = true,
    closed = function()
      give(nil, written)
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = it.buffer,
    callback = function()
      written = text_of(it.buffer)
      local height =
        math.min(float.height(vim.split(written, '\n'), vim.api.nvim_win_get_width(it.window)), vim.o.lines - 6)
      vim.api.nvim_win_set_height(it.window, math.max(1, height))
    end,
  })
  vim.keymap.set({ 'n', 'i' }, '<CR>', function()
    local text = text_of(it.buffer)
    vim.cmd.stopinsert()
    it.close()
    give(text)
  end, { buffer = it.buffer })
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, function()
      it.close()
      give(nil, written)
    end, { buffer = it.buffer, nowait = true })
  end
  vim.api.nvim_win_set_cursor(it.window, { #prefill, 0 })
  vim.cmd('startinsert!')
  return function()
    drop()
    vim.cmd.stopinsert()
    it.close()
    return written
  end
end

---What is to become of a question whose buffer was left.
local function left(dialog, text, give, again)
  return choose.open(
    { 'Answer later', 'Refuse it', 'Go on writing' },
    { title = 'Still open: ' .. dialog.title },
    function(index)
      if index == 2 then
        give(nil, nil, true)
      elseif index == 3 then
        again(text)
      else
        give(nil, text)
      end
    end
  )
end

---@param dialog {id: string, title: string, prefill?: string, deadline?: number}
---@param done fun(text?: string, written?: string, refused?: boolean)
---@return fun(): string? close gives what had been written
function M.buffer(dialog, done)
  local give, drop = choose.once(done)
  local buffer ---@type integer?
  local asking ---@type fun()?
  local function finish()
    local own = buffer
    buffer = nil
    if own and vim.api.nvim_buf_is_valid(own) then
      vim.api.nvim_buf_delete(own, { force = true })
    end
  end
  local function open(text)
    local own = vim.api.nvim_create_buf(false, true)
    buffer = own
    vim.api.nvim_buf_set_name(own, 'atomic://answer/' .. dialog.id)
    vim.bo[own].buftype, vim.bo[own].bufhidden, vim.bo[own].filetype = 'acwrite', 'hide', 'markdown'
    vim.api.nvim_buf_set_lines(own, 0, -1, true, vim.split(text, '\n', { plain = true }))
    vim.bo[own].modified = false
    local window = vim.api.nvim_open_win(own, true, { split = 'below', win = 0 })
    local limit = dialog.deadline and ' until ' .. os.date('%H:%M:%S', math.floor(dialog.deadline / 1000)) or ''
    local hint = (' %s (:w answers%s, :q asks)'):format(dialog.title, limit)
    vim.wo[window][0].winbar = (hint:gsub('%%', '%%%%'))
    vim.api.nvim_create_autocmd('BufWriteCmd', {
      buffer = own,
      callback = function()
        local answer = text_of(own)
        vim.bo[own].modified = false
        give(answer)
        -- `:wq` closes the window itself.
        vim.schedule(finish)
      end,
    })
    vim.api.nvim_create_autocmd({ 'BufWinLeave' }, {
      buffer = own,
      callback = function()
        -- `:quit!` throws the text away.
        local written = text_of(own)
        vim.schedule(function()
          if buffer ~= own or vim.v.exiting ~= vim.NIL or #vim.fn.win_findbuf(own) > 0 then
            return
          end
          finish()
          asking = left(dialog, written, give, open)
        end)
      end,
    })
  end
  open(dialog.prefill or '')
  return function()
    local written = buffer and vim.api.nvim_buf_is_valid(buffer) and text_of(buffer) or nil
    drop()
    if asking then
      asking()
    end
    finish()
    return written
  end
end

return M
