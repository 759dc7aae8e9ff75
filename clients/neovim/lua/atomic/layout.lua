-- Where the chat's two windows are. Guarantees: the focus stays where it is. Must not know: what the windows show.
local M = {}

local function size(setting, whole)
  return math.max(10, math.floor(setting < 1 and whole * setting or setting))
end

local function floating(options, height, row)
  local width = math.max(20, math.min(size(math.max(options.width, 0.6), vim.o.columns), vim.o.columns - 4))
  return {
    relative = 'editor',
    width = width,
    height = math.max(1, height),
    row = row,
    col = math.floor((vim.o.columns - width) / 2),
    border = 'rounded',
  }
end

---@param options atomic.Config
---@param buffer integer
---@return integer window
function M.transcript(options, buffer)
  if options.layout == 'tab' then
    vim.cmd('tab split')
    vim.api.nvim_win_set_buf(0, buffer)
    return vim.api.nvim_get_current_win()
  elseif options.layout == 'float' then
    return vim.api.nvim_open_win(buffer, false, floating(options, vim.o.lines - options.prompt_height - 8, 1))
  elseif options.layout == 'below' then
    local height = size(options.height, vim.o.lines) + options.prompt_height
    return vim.api.nvim_open_win(buffer, false, { split = 'below', win = -1, height = height })
  end
  local width = size(options.width, vim.o.columns)
  return vim.api.nvim_open_win(buffer, false, { split = options.layout, win = -1, width = width })
end

---@param options atomic.Config
---@param buffer integer
---@param transcript integer Window.
---@return integer window
function M.prompt(options, buffer, transcript)
  if options.layout == 'float' then
    local row = vim.o.lines - options.prompt_height - 4
    return vim.api.nvim_open_win(buffer, false, floating(options, options.prompt_height, row))
  end
  local height = math.max(1, options.prompt_height)
  return vim.api.nvim_open_win(buffer, false, { split = 'below', win = transcript, height = height })
end

---Sets options for what a window shows now, and for nothing that it shows later.
---@param window integer
---@param values table<string, any>
function M.set(window, values)
  for name, value in pairs(values) do
    vim.wo[window][0][name] = value
  end
end

return M
