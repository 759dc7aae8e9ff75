-- A small window in the middle of the screen. Guarantees: it is as high as its wrapped lines; a countdown runs in its title; after it is
-- closed, by whomever, its timer is gone and the focus is where it was. Must not know: what is asked.
local render = require('atomic.render')

local M = {}

---@class atomic.Float
---@field buffer integer
---@field window integer
---@field close fun() Without calling `closed`.

---Lines of the screen that some lines take.
---@param lines string[]
---@param width integer
---@return integer
function M.height(lines, width)
  local sum = 0
  for _, line in ipairs(lines) do
    sum = sum + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return sum
end

local function seconds_left(deadline)
  return math.max(0, math.floor(deadline / 1000 - os.time()))
end

---@param lines string[]
---@param options {title: string, footer?: string, editable?: boolean, deadline?: number, closed?: fun()}
---@return atomic.Float
function M.open(lines, options)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  local width = math.max(40, vim.fn.strdisplaywidth(options.title) + 12)
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  width = math.max(20, math.min(width, vim.o.columns - 4))
  local height = math.max(1, math.min(M.height(lines, width), vim.o.lines - 6))
  local before = vim.api.nvim_get_current_win()
  local function title()
    local left = options.deadline and (' (%d s)'):format(seconds_left(options.deadline)) or ''
    return ' ' .. render.cut(options.title, width - 12) .. left .. ' '
  end
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    style = 'minimal',
    border = 'rounded',
    title = title(),
    footer = options.footer and (' ' .. render.cut(options.footer, width - 4) .. ' ') or nil,
  })
  vim.wo[window][0].wrap = true
  vim.wo[window][0].linebreak = false
  vim.bo[buffer].modifiable = options.editable == true

  local timer = options.deadline and vim.uv.new_timer()
  if timer then
    timer:start(
      1000,
      1000,
      vim.schedule_wrap(function()
        if vim.api.nvim_win_is_valid(window) then
          vim.api.nvim_win_set_config(window, { title = title(), border = 'rounded' })
        end
      end)
    )
  end
  local over = false
  local function ended(closed)
    if over then
      return
    end
    over = true
    if timer then
      timer:stop()
      timer:close()
    end
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    if vim.api.nvim_win_is_valid(before) and vim.api.nvim_win_get_config(0).relative == '' then
      vim.api.nvim_set_current_win(before)
    end
    if closed then
      closed()
    end
  end
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    once = true,
    callback = vim.schedule_wrap(function()
      ended(options.closed)
    end),
  })
  return {
    buffer = buffer,
    window = window,
    close = function()
      ended()
    end,
  }
end

return M
